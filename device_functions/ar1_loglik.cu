// ar1: autoregression of order 1, Gaussian, stationary from its first number on
// used for: series that return to their mean: temperatures, rates, residuals
// y: vector, series; nan is missing    mu: real, mean    phi: real, autocorrelation, between -1 and 1
// sigma: positive, standard deviation of the errors
// forecast: vector, expectation of y[t] given the numbers before    forecast_sd: vector, its standard deviation then
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(mu + phi * (y[t - 1] - mu), sigma)    y[0] ~ Normal(mu, sigma / sqrt(1 - phi**2))
// source: Hamilton (1994), Time Series Analysis, sec. 5.2; missing numbers: Jones (1980)
__device__ real ar1_loglik(
    const real *y, int n, real mu, real phi, real sigma, real *forecast, real *forecast_sd,
    rng_t *rng, real *simulated)
{
    if (!(fabs(phi) < 1)) return NAN;
    // Of what is expected of y[t], less mu, and of its variance, relative to sigma^2 and less 1
    real mean = 0, more = phi * phi / ((1 - phi) * (1 + phi)), sum = 0, seen = 0;
    int known = 0;  // whether the number before is, so that there is no more
    for (int t = 0; t < n; t++) {
        forecast[t] = mu + mean;
        forecast_sd[t] = sigma * sqrt(1 + more);
        if (isnan(y[t])) {
            mean = phi * mean;
            more = phi * phi * (more + 1);
            known = 0;
        } else {
            real z = (y[t] - mu - mean) * (1 / sigma);
            sum += known ? z * z : z * z / (1 + more) + log1p(more);
            mean = phi * (y[t] - mu);
            more = 0;
            known = 1;
            seen += 1;
        }
    }
    mean = 0;
    more = phi * phi / ((1 - phi) * (1 + phi));
    for (int t = 0; t < n; t++) {
        real d = sigma * sqrt(1 + more) * normal(rng);
        simulated[t] = mu + mean + d;
        mean = phi * (mean + d);
        more = 0;
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
