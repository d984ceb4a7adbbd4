// skew_normal: normal distribution with an asymmetry
// x: real    mu: real, location    sigma: positive, scale    alpha: real, skewness
// source: Azzalini (1985)
__device__ real skew_normal_logpdf(real x, real mu, real sigma, real alpha)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - mu) * (1 / sigma);
    return (LOG_2 - HALF_LOG_2PI - log(sigma)) - 0.5 * z * z + log_ndtr(alpha * z);
}

// Source: Azzalini (1986), Further results on a class of distributions which includes the normal ones.
__device__ real skew_normal_sample(rng_t *rng, real mu, real sigma, real alpha)
{
    real delta = copysign(1 / hypot((real)1, 1 / alpha), alpha), rest = 1 / hypot((real)1, alpha);
    real half = fabs(normal(rng)), z = normal(rng);
    return mu + sigma * (delta * half + rest * z);
}
