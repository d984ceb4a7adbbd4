// rayleigh: the Rayleigh distribution, of the length of a normal vector in the plane
// used for: wind speeds, heights of waves, and errors of aim in the plane
// x: nonnegative    sigma: positive, scale
// density: x / sigma**2 * exp(-x**2 / (2 * sigma**2))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 18
__device__ real rayleigh_logpdf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return isinf(z) ? -INFINITY : log(z) - 0.5 * z * z - log(sigma);
}

__device__ real rayleigh_logcdf(real x, real sigma) { return weibull_logcdf(x, 2, SQRT_2 * sigma); }

__device__ real rayleigh_logsf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return -0.5 * z * z;
}

__device__ real rayleigh_sample(rng_t *rng, real sigma) { return sigma * sqrt(2 * exponential(rng)); }
__device__ real rayleigh_ppf(real q, real sigma) { return sigma * sqrt(-2 * log1p(-q)); }
__device__ real rayleigh_isf(real q, real sigma) { return sigma * sqrt(-2 * log(q)); }
__device__ real rayleigh_mean(real sigma) { return SQRT_PI / SQRT_2 * sigma; }
__device__ real rayleigh_var(real sigma) { return (2 - 0.5 * PI) * (sigma * sigma); }
__device__ real rayleigh_skewness(real sigma) { return 2 * SQRT_PI * (PI - 3) / ((4 - PI) * sqrt(4 - PI)); }
__device__ real rayleigh_kurtosis(real sigma) { return -(6 * PI * PI - 24 * PI + 16) / ((4 - PI) * (4 - PI)); }
__device__ real rayleigh_entropy(real sigma) { return 1 + log(sigma) - 0.5 * LOG_2 + 0.5 * EULER_GAMMA; }
__device__ real rayleigh_mode(real sigma) { return sigma; }
