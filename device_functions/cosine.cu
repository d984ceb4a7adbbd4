// cosine: the raised cosine distribution, of density (1 + cos((x - mu) / sigma)) / (2 pi sigma) where |x - mu| <= pi sigma
// used for: errors that are bounded, as a smooth stand-in for the normal distribution
// x: real    mu: real, location    sigma: positive, scale
// density: (1 + cos(z)) / (2 * pi * sigma) if abs(z) <= pi else 0    z = (x - mu) / sigma
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
__device__ real cosine_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return fabs(z) > PI ? -INFINITY : 2 * log(cos(0.5 * z)) - (LOG_PI + log(sigma));
}

__device__ real cosine_logcdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), rest = z < 0 ? PI + z : PI - z, tail = minus_sine(rest) / (2 * PI);
    if (!(rest > 0)) return z < 0 ? -INFINITY : 0;
    return z < 0 ? log(tail) : log1p(-tail);
}

__device__ real cosine_logsf(real x, real mu, real sigma)
{
    return cosine_logcdf(-x, -mu, sigma);
}

// The densities at z and at pi - z, 0 <= z <= pi, have the same sum for all z: so a uniform number stays, or goes to there.
__device__ real cosine_sample(rng_t *rng, real mu, real sigma)
{
    real u = 2 * uniform(rng) - 1, v = uniform(rng), z = PI * fabs(u), c = cos(0.5 * z), kept = v < c * c ? z : PI - z;
    return u < 0 ? mu - sigma * kept : mu + sigma * kept;
}

__device__ real cosine_mean(real mu, real sigma) { return mu; }
__device__ real cosine_var(real mu, real sigma) { return (PI * PI / 3 - 2) * sigma * sigma; }
__device__ real cosine_skewness(real mu, real sigma) { return 0; }
__device__ real cosine_kurtosis(real mu, real sigma) { return -0.5937628755982804157; }
__device__ real cosine_entropy(real mu, real sigma) { return LOG_2PI + LOG_2 - 1 + log(sigma); }
__device__ real cosine_median(real mu, real sigma) { return mu; }
__device__ real cosine_mode(real mu, real sigma) { return mu; }
__device__ real cosine_lower(real mu, real sigma) { return mu - PI * sigma; }
__device__ real cosine_upper(real mu, real sigma) { return mu + PI * sigma; }
