// arma11: autoregression and moving average of order 1, Gaussian, stationary from its first number on
// used for: series that return to their mean, and are measured with noise
// y: vector, series; nan is missing    mu: real, mean    phi: real, weight of the last number, between -1 and 1
// theta: real, weight of the last error    sigma: positive, standard deviation of the errors
// forecast: vector, expectation of y[t] given the numbers before    forecast_sd: vector, its standard deviation then
// simulated: vector, draw of y[t] from the model
// model: y[t] = mu + phi * (y[t - 1] - mu) + e[t] + theta * e[t - 1]    e[t] ~ Normal(0, sigma)
// source: Harvey (1993), Time Series Models, sec. 4.4; missing numbers: Jones (1980)
__device__ real arma11_loglik(
    const real *y, int n, real mu, real phi, real theta, real sigma, real *forecast, real *forecast_sd,
    rng_t *rng, real *simulated)
{
    if (!(fabs(phi) < 1)) return NAN;
    // Of what is expected of y[t], less mu, and of its variance, relative to sigma^2 and less 1: that of e[t]
    real mean = 0, more = (phi + theta) * (phi + theta) / ((1 - phi) * (1 + phi)), sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        forecast[t] = mu + mean;
        forecast_sd[t] = sigma * sqrt(1 + more);
        if (isnan(y[t])) {
            mean = phi * mean;
            more = phi * phi * more + (phi + theta) * (phi + theta);
        } else {
            real d = y[t] - mu - mean, z = d * (1 / sigma);
            sum += z * z / (1 + more) + log1p(more);
            mean = phi * (y[t] - mu) + theta * d / (1 + more);
            more = theta * theta * (more / (1 + more));
            seen += 1;
        }
    }
    mean = 0;
    more = (phi + theta) * (phi + theta) / ((1 - phi) * (1 + phi));
    for (int t = 0; t < n; t++) {
        real d = sigma * sqrt(1 + more) * normal(rng);
        simulated[t] = mu + mean + d;
        mean = phi * (mean + d) + theta * d / (1 + more);
        more = theta * theta * (more / (1 + more));
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
