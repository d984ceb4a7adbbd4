// semicircular: Wigner's semicircle distribution
// used for: eigenvalues of large random symmetric matrices
// x: real    mu: real, center    sigma: positive, radius
// density: 2 / (pi * sigma) * sqrt(1 - z**2) if -1 <= z <= 1 else 0    z = (x - mu) / sigma
// source: Wigner (1955), Characteristic vectors of bordered matrices with infinite dimensions
__device__ real semicircular_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return fabs(z) > 1 ? -INFINITY : (LOG_2 - LOG_PI - log(sigma)) + 0.5 * log(fma(-z, z, 1));
}

// The part of a circle behind a chord, by the angle that it is seen at from the center
__device__ real semicircular_logcdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), rest = z < 0 ? 1 + z : 1 - z;
    if (!(rest > 0)) return z < 0 ? -INFINITY : 0;
    real tail = minus_sine(4 * asin(sqrt(0.5 * rest))) / (2 * PI);
    return z < 0 ? log(tail) : log1p(-tail);
}

__device__ real semicircular_logsf(real x, real mu, real sigma)
{
    return semicircular_logcdf(-x, -mu, sigma);
}

// A coordinate of a point of a disk
__device__ real semicircular_sample(rng_t *rng, real mu, real sigma)
{
    real u = uniform(rng), v = uniform(rng);
    return mu + sigma * (sqrt(u) * cos(PI * v));
}

__device__ real semicircular_mean(real mu, real sigma) { return mu; }
__device__ real semicircular_var(real mu, real sigma) { return 0.25 * sigma * sigma; }
__device__ real semicircular_skewness(real mu, real sigma) { return 0; }
__device__ real semicircular_kurtosis(real mu, real sigma) { return -1; }
__device__ real semicircular_entropy(real mu, real sigma) { return LOG_PI - 0.5 + log(sigma); }
__device__ real semicircular_median(real mu, real sigma) { return mu; }
__device__ real semicircular_mode(real mu, real sigma) { return mu; }
__device__ real semicircular_lower(real mu, real sigma) { return mu - sigma; }
__device__ real semicircular_upper(real mu, real sigma) { return mu + sigma; }
