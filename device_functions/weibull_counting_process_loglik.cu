// weibull_counting_process: recurrent events of a hazard that grows or falls with time as a power, by intervals of observation
// used for: repeated failures of machines that age or improve
// start: nonnegative vector, of the intervals    stop: positive vector, of the intervals    event: unit integer vector, 1 at its stop
// x: vector, covariate in the interval    shape: positive    scale: positive    coef: real, coefficient of the covariate
// expected: vector, expected number of events in the interval, so that event[i] - expected[i] is the martingale residual
// model: loglik = Sum(event[i] * log(hazard[i]) - exp(coef * x[i]) * ((stop[i] / scale)**shape - (start[i] / scale)**shape), i)
// hazard[i] = shape / scale * (stop[i] / scale)**(shape - 1) * exp(coef * x[i])
// source: Andersen & Gill (1982), Cox's regression model for counting processes; Kalbfleisch & Prentice (2002), ch. 9
__device__ real weibull_counting_process_loglik(
    const real *start, const real *stop, const real *event, const real *x, int n, real shape, real scale, real coef,
    real *expected)
{
    real sum = 0, log_shape = log(shape), log_scale = log(scale);
    for (int i = 0; i < n; i++) {
        if (!(start[i] < stop[i])) sum += NAN;
        real log_ratio = log(stop[i]) - log_scale, end = exp(shape * log_ratio);
        real length = start[i] == 0 ? end : -end * expm1(shape * (log(start[i]) - log(stop[i])));
        expected[i] = exp(coef * x[i]) * length;
        sum -= exp(coef * x[i]) * length;
        if (event[i] == 1) sum += log_shape - log_scale + (shape - 1) * log_ratio + coef * x[i];
    }
    return sum;
}
