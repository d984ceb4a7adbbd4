// exponential_smoothing_trend: Holt's exponential smoothing with a linear trend, ETS(A,A,N), by the likelihood of its innovations
// used for: forecasts of series that grow or fall
// y: vector, series; nan is missing    alpha: real, smoothing of the level    beta: real, smoothing of the trend
// level: real, level before the first number    trend: real, trend before the first number
// sigma: positive, standard deviation of the errors
// forecast: vector, l[t - 1] + b[t - 1]    filtered_level: vector, l[t]    filtered_trend: vector, b[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] = l[t - 1] + b[t - 1] + e[t]    e[t] ~ Normal(0, sigma)    l[-1] = level    b[-1] = trend
// l[t] = l[t - 1] + b[t - 1] + alpha * e[t]    b[t] = b[t - 1] + beta * e[t]
// source: Hyndman, Koehler, Ord & Snyder (2008), Forecasting with Exponential Smoothing, ch. 5
__device__ real exponential_smoothing_trend_loglik(
    const real *y, int n, real alpha, real beta, real level, real trend, real sigma, real *forecast,
    real *filtered_level, real *filtered_trend, rng_t *rng, real *simulated)
{
    real l = level, b = trend, sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        l += b;
        forecast[t] = l;
        if (!isnan(y[t])) {
            real e = y[t] - l, z = e * (1 / sigma);
            l += alpha * e;
            b += beta * e;
            sum += z * z;
            seen += 1;
        }
        filtered_level[t] = l;
        filtered_trend[t] = b;
    }
    l = level;
    b = trend;
    for (int t = 0; t < n; t++) {
        real e = sigma * normal(rng);
        simulated[t] = l + b + e;
        l += b + alpha * e;
        b += beta * e;
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
