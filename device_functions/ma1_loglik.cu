// ma1: moving average of order 1, Gaussian
// used for: series in which a shock echoes once
// y: vector, series; nan is missing    mu: real, mean    theta: real, weight of the last error
// sigma: positive, standard deviation of the errors
// forecast: vector, expectation of y[t] given the numbers before    forecast_sd: vector, its standard deviation then
// simulated: vector, draw of y[t] from the model
// model: y[t] = mu + e[t] + theta * e[t - 1]    e[t] ~ Normal(0, sigma)
// source: Hamilton (1994), Time Series Analysis, sec. 5.4, in the form of the Kalman filter
__device__ real ma1_loglik(
    const real *y, int n, real mu, real theta, real sigma, real *forecast, real *forecast_sd,
    rng_t *rng, real *simulated)
{
    // Of what is expected of y[t], less mu, and of its variance, relative to sigma^2 and less 1
    real mean = 0, more = theta * theta, sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        forecast[t] = mu + mean;
        forecast_sd[t] = sigma * sqrt(1 + more);
        if (isnan(y[t])) {
            mean = 0;
            more = theta * theta;
        } else {
            real d = y[t] - mu - mean, z = d * (1 / sigma);
            sum += z * z / (1 + more) + log1p(more);
            mean = theta * d / (1 + more);
            more = theta * theta * (more / (1 + more));
            seen += 1;
        }
    }
    mean = 0;
    more = theta * theta;
    for (int t = 0; t < n; t++) {
        real d = sigma * sqrt(1 + more) * normal(rng);
        simulated[t] = mu + mean + d;
        mean = theta * d / (1 + more);
        more = theta * theta * (more / (1 + more));
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
