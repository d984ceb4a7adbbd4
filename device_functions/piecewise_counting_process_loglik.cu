// piecewise_counting_process: recurrent events of a hazard that is constant before, between and behind two times, by intervals
// used for: repeated failures or relapses whose risk changes at known times
// start: nonnegative vector, of the intervals    stop: positive vector, of the intervals    event: unit integer vector, 1 at its stop
// x: vector, covariate in the interval    first: nonnegative, time of the first change    second: nonnegative, of the second one
// rate_0: nonnegative, hazard up to the first    rate_1: nonnegative, up to the second    rate_2: nonnegative, behind it
// coef: real, coefficient of the covariate
// expected: vector, expected number of events in the interval, so that event[i] - expected[i] is the martingale residual
// model: loglik = Sum(event[i] * log(h[i] * exp(coef * x[i])) - exp(coef * x[i]) * (H(stop[i]) - H(start[i])), i)
// h[i] = rate_0 if stop[i] <= first else rate_1 if stop[i] <= second else rate_2
// H(t) = rate_0 * min(t, first) + rate_1 * max(min(t, second) - first, 0) + rate_2 * max(t - second, 0)
// source: Friedman (1982), Piecewise exponential models for survival data with covariates; Andersen & Gill (1982)

// Length of the part of an interval that lies in another
__device__ real overlap(real start, real stop, real from, real to)
{
    return fmax(fmin(stop, to) - fmax(start, from), 0);
}

__device__ real piecewise_counting_process_loglik(
    const real *start, const real *stop, const real *event, const real *x, int n, real first, real second, real rate_0,
    real rate_1, real rate_2, real coef, real *expected)
{
    if (!(first <= second)) return NAN;
    real sum = 0;
    for (int i = 0; i < n; i++) {
        if (!(start[i] < stop[i])) sum += NAN;
        real risk = rate_0 * overlap(start[i], stop[i], 0, first) + rate_1 * overlap(start[i], stop[i], first, second)
                  + rate_2 * overlap(start[i], stop[i], second, stop[i]);
        expected[i] = exp(coef * x[i]) * risk;
        sum -= exp(coef * x[i]) * risk;
        if (event[i] == 1) sum += log(stop[i] <= first ? rate_0 : stop[i] <= second ? rate_1 : rate_2) + coef * x[i];
    }
    return sum;
}
