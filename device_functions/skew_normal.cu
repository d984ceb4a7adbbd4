// skew_normal: normal distribution with an asymmetry
// used for: nearly normal data that lean to one side, and stochastic frontiers
// x: real    alpha: real, skewness    mu: real, location    sigma: positive, scale
// density: 2 / sigma * phi(z) * Phi(alpha * z)    z = (x - mu) / sigma
// source: Azzalini (1985)
__device__ real skew_normal_logpdf(real x, real alpha, real mu, real sigma)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - mu) * (1 / sigma);
    return (LOG_2 - HALF_LOG_2PI - log(sigma)) - 0.5 * z * z + log_ndtr(alpha * z);
}

__device__ real skew_normal_logcdf(real x, real alpha, real mu, real sigma)
{
    return log_skew_ndtr((x - mu) * (1 / sigma), alpha);
}

__device__ real skew_normal_logsf(real x, real alpha, real mu, real sigma)
{
    return log_skew_ndtr((mu - x) * (1 / sigma), -alpha);
}

// Source: Azzalini (1986), Further results on a class of distributions which includes the normal ones.
__device__ real skew_normal_sample(rng_t *rng, real alpha, real mu, real sigma)
{
    real delta = copysign(1 / hypot((real)1, 1 / alpha), alpha), rest = 1 / hypot((real)1, alpha);
    real half = fabs(normal(rng)), z = normal(rng);
    return mu + sigma * (delta * half + rest * z);
}

// The mean where mu = 0 and sigma = 1
__device__ real shift(real alpha)
{
    return SQRT_2_OVER_PI * (alpha / hypot((real)1, alpha));
}

__device__ real skew_normal_mean(real alpha, real mu, real sigma) { return mu + sigma * shift(alpha); }

__device__ real skew_normal_var(real alpha, real mu, real sigma)
{
    real m = shift(alpha);
    return sigma * sigma * (1 - m * m);
}

__device__ real skew_normal_skewness(real alpha, real mu, real sigma)
{
    real m = shift(alpha), v = 1 - m * m;
    return (2 - 0.5 * PI) * (m * m * m) / (v * sqrt(v));
}

__device__ real skew_normal_kurtosis(real alpha, real mu, real sigma)
{
    real m = shift(alpha), ratio = m * m / (1 - m * m);
    return 2 * (PI - 3) * (ratio * ratio);
}
