// local_level: a level that is a random walk, and noise around it
// used for: series whose level drifts, such as a river's flow or a party's share in polls
// y: vector, series; nan is missing    sigma: nonnegative, standard deviation of the noise
// sigma_level: nonnegative, standard deviation of the level's steps    level: real, expectation of the first level
// level_sd: nonnegative, standard deviation of the first level; infinite: it may be anywhere
// forecast: vector, expectation of y[t] given the numbers before    forecast_sd: vector, its standard deviation then
// filtered_level: vector, expectation of l[t] given the numbers up to y[t]    filtered_level_sd: vector, its standard deviation then
// smoothed_level: vector, expectation of l[t] given all numbers    smoothed_level_sd: vector, its standard deviation then
// drawn_level: vector, draw of l[t] given all numbers    simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(l[t], sigma)    l[t] ~ Normal(l[t - 1], sigma_level)    l[0] ~ Normal(level, level_sd)
// source: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, ch. 2, and sec. 5.2 and 7.2.2 of diffuse levels
//
// A level that may be anywhere is one of diffuse prior: the first number tells it, and its term is -log(2 pi) / 2.
__device__ real local_level_loglik(
    const real *y, int n, real sigma, real sigma_level, real level, real level_sd, real *forecast, real *forecast_sd,
    real *filtered_level, real *filtered_level_sd, real *smoothed_level, real *smoothed_level_sd, rng_t *rng, real *drawn_level,
    real *simulated)
{
    int diffuse = isinf(level_sd);
    real mean = level, variance = 0, sum = 0, seen = 0;
    if (!diffuse) variance = level_sd * level_sd;
    for (int t = 0; t < n; t++) {
        forecast[t] = diffuse ? NAN : mean;
        forecast_sd[t] = diffuse ? INFINITY : sqrt(variance + sigma * sigma);
        if (!isnan(y[t])) {
            seen += 1;
            if (diffuse) {
                mean = y[t];
                variance = sigma * sigma;
                diffuse = 0;
            } else {
                real d = y[t] - mean, f = variance + sigma * sigma, gain = variance / f;
                sum += log(f) + d * d / f;
                mean += gain * d;
                variance = gain * (sigma * sigma);
            }
        }
        filtered_level[t] = diffuse ? NAN : mean;
        filtered_level_sd[t] = diffuse ? INFINITY : sqrt(variance);
        variance += sigma_level * sigma_level;
    }
    // Backwards: given the next level, this one has the gain k, and the variance k sigma_level^2
    real smoothed = filtered_level[n - 1], spread = filtered_level_sd[n - 1] * filtered_level_sd[n - 1];
    for (int t = n - 1; t >= 0; t--) {
        if (t < n - 1) {
            real p = filtered_level_sd[t] * filtered_level_sd[t], q = sigma_level * sigma_level, k = p > 0 ? p / (p + q) : 0;
            if (isinf(p)) k = 1;
            smoothed = isinf(p) ? smoothed : filtered_level[t] + k * (smoothed - filtered_level[t]);
            spread = k * (q + k * spread);
        }
        smoothed_level[t] = smoothed;
        smoothed_level_sd[t] = sqrt(spread);
    }
    real drawn = filtered_level[n - 1] + filtered_level_sd[n - 1] * normal(rng), now = level + level_sd * normal(rng);
    drawn_level[n - 1] = drawn;
    for (int t = n - 2; t >= 0; t--) {
        real p = filtered_level_sd[t] * filtered_level_sd[t], q = sigma_level * sigma_level, k = p > 0 ? p / (p + q) : 0;
        drawn = isinf(p) ? drawn : filtered_level[t] + k * (drawn - filtered_level[t]);
        drawn += sqrt(isinf(p) ? q : k * q) * normal(rng);
        drawn_level[t] = drawn;
    }
    for (int t = 0; t < n; t++) {
        real e = sigma * normal(rng);
        simulated[t] = isinf(level_sd) ? NAN : now + e;
        now += sigma_level * normal(rng);
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
