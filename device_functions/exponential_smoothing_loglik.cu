// exponential_smoothing: simple exponential smoothing, ETS(A,N,N), by the likelihood of its innovations
// used for: forecasts of sales and other series without trend or season
// y: vector, series; nan is missing    alpha: real, smoothing of the level    level: real, level before the first number
// sigma: positive, standard deviation of the errors
// forecast: vector, l[t - 1]    filtered_level: vector, l[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] = l[t - 1] + e[t]    l[t] = l[t - 1] + alpha * e[t]    e[t] ~ Normal(0, sigma)    l[-1] = level
// source: Hyndman, Koehler, Ord & Snyder (2008), Forecasting with Exponential Smoothing, ch. 5
__device__ real exponential_smoothing_loglik(
    const real *y, int n, real alpha, real level, real sigma, real *forecast, real *filtered_level,
    rng_t *rng, real *simulated)
{
    real l = level, sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        forecast[t] = l;
        if (!isnan(y[t])) {
            real e = y[t] - l, z = e * (1 / sigma);
            l += alpha * e;
            sum += z * z;
            seen += 1;
        }
        filtered_level[t] = l;
    }
    l = level;
    for (int t = 0; t < n; t++) {
        real e = sigma * normal(rng);
        simulated[t] = l + e;
        l += alpha * e;
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
