// half_normal: absolute value of a normal variable with mean 0
// used for: sizes of normal errors, and as a prior of standard deviations
// x: nonnegative    sigma: positive, scale
// density: sqrt(2 / pi) / sigma * exp(-x**2 / (2 * sigma**2))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 13
__device__ real half_normal_logpdf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return log(SQRT_2_OVER_PI / sigma) - 0.5 * z * z;
}

__device__ real half_normal_logcdf(real x, real sigma)
{
    real u = x * (1 / sigma) / SQRT_2;
    return u < 0.5 ? log(erf(u)) : log1p(-exp(-u * u) * scaled_erfc(u));
}

__device__ real half_normal_logsf(real x, real sigma)
{
    real u = x * (1 / sigma) / SQRT_2;
    return log(scaled_erfc(u)) - u * u;
}

__device__ real half_normal_cdf(real x, real sigma) { return erf(x * (1 / sigma) / SQRT_2); }
__device__ real half_normal_sf(real x, real sigma) { return erfc(x * (1 / sigma) / SQRT_2); }

__device__ real half_normal_sample(rng_t *rng, real sigma)
{
    return sigma * fabs(normal(rng));
}

__device__ real half_normal_mean(real sigma) { return SQRT_2_OVER_PI * sigma; }
__device__ real half_normal_var(real sigma) { return (1 - 2 / PI) * sigma * sigma; }
__device__ real half_normal_skewness(real sigma) { return 0.995271746431156039; }
__device__ real half_normal_kurtosis(real sigma) { return 0.869177303605974075; }
__device__ real half_normal_entropy(real sigma) { return log(sigma) + (0.5 + HALF_LOG_2PI - LOG_2); }
__device__ real half_normal_mode(real sigma) { return 0; }
