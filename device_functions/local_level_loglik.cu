// local_level: a level that is a random walk, and noise around it
// y: vector, series; nan is missing    sigma: nonnegative, standard deviation of the noise
// sigma_level: nonnegative, standard deviation of the level's steps    level: real, expectation of the first level
// level_sd: nonnegative, standard deviation of the first level; infinite: it may be anywhere
// model: y[t] ~ Normal(l[t], sigma)    l[t] ~ Normal(l[t - 1], sigma_level)    l[0] ~ Normal(level, level_sd)
// source: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, ch. 2, and sec. 5.2 and 7.2.2 of diffuse levels
//
// A level that may be anywhere is one of diffuse prior: the first number tells it, and its term is -log(2 pi) / 2.
__device__ real local_level_loglik(const real *y, int n, real sigma, real sigma_level, real level, real level_sd)
{
    int diffuse = isinf(level_sd);
    real mean = level, variance = 0, sum = 0, seen = 0;
    if (!diffuse) variance = level_sd * level_sd;
    for (int t = 0; t < n; t++) {
        if (!isnan(y[t])) {
            seen += 1;
            if (diffuse) {
                mean = y[t];
                variance = sigma * sigma;
                diffuse = 0;
            } else {
                real d = y[t] - mean, f = variance + sigma * sigma;
                sum += log(f) + d * d / f;
                mean += d * (variance / f);
                variance *= sigma * sigma / f;
            }
        }
        variance += sigma_level * sigma_level;
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
