// levy: the Lévy distribution, of the time at which a Brownian motion first reaches a level
// used for: first passage times of a Brownian motion, and jumps with an extremely heavy tail
// x: real    mu: real, location    sigma: positive, scale
// density: sqrt(sigma / (2 * pi)) * exp(-sigma / (2 * (x - mu))) / (x - mu)**(3 / 2) if x > mu else 0
// source: Feller (1971), An Introduction to Probability Theory and Its Applications, vol. 2, ch. 6
__device__ real levy_logpdf(real x, real mu, real sigma)
{
    real d = x - mu;
    return x <= mu || isinf(x) ? -INFINITY : 0.5 * log(sigma) - HALF_LOG_2PI - 1.5 * log(d) - 0.5 * (sigma / d);
}

// sqrt(sigma / (x - mu)) is the absolute value of a standard normal variable.
__device__ real levy_logcdf(real x, real mu, real sigma)
{
    return x <= mu ? -INFINITY : half_normal_logsf(sqrt(sigma) / sqrt(x - mu), 1);
}

__device__ real levy_logsf(real x, real mu, real sigma)
{
    return x <= mu ? 0 : half_normal_logcdf(sqrt(sigma) / sqrt(x - mu), 1);
}

__device__ real levy_ppf(real q, real mu, real sigma)
{
    return mu + gamma_quantile_power((real)0.5, 1 - q, q, -1, 0.5 * sigma);
}

__device__ real levy_isf(real q, real mu, real sigma)
{
    return mu + gamma_quantile_power((real)0.5, q, 1 - q, -1, 0.5 * sigma);
}

__device__ real levy_sample(rng_t *rng, real mu, real sigma)
{
    real z = normal(rng);
    return mu + sigma / (z * z);
}

__device__ real levy_mean(real mu, real sigma) { return INFINITY; }
__device__ real levy_var(real mu, real sigma) { return INFINITY; }
__device__ real levy_skewness(real mu, real sigma) { return NAN; }
__device__ real levy_kurtosis(real mu, real sigma) { return NAN; }
__device__ real levy_entropy(real mu, real sigma) { return log(sigma) + (0.5 + 1.5 * EULER_GAMMA + 2 * LOG_2 + 0.5 * LOG_PI); }
__device__ real levy_mode(real mu, real sigma) { return mu + sigma / 3; }
__device__ real levy_lower(real mu, real sigma) { return mu; }
