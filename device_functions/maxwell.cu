// maxwell: the Maxwell-Boltzmann distribution, of the length of a normal vector in three dimensions
// used for: speeds of molecules in a gas
// x: nonnegative    sigma: positive, scale
// density: sqrt(2 / pi) * x**2 / sigma**3 * exp(-x**2 / (2 * sigma**2))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 18
__device__ real maxwell_logpdf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return isinf(z) ? -INFINITY : 2 * log(z) - 0.5 * z * z - (HALF_LOG_2PI - LOG_2 + log(sigma));
}

__device__ real maxwell_logcdf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return log_gamma_p_of_power(1.5, 0.5 * z * z, 2 * log(z) - LOG_2);
}

__device__ real maxwell_logsf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return log_gamma_q(1.5, 0.5 * z * z);
}

__device__ real maxwell_ppf(real q, real sigma) { return sigma * sqrt(2 * gamma_quantile(1.5, q, 1 - q)); }
__device__ real maxwell_isf(real q, real sigma) { return sigma * sqrt(2 * gamma_quantile(1.5, 1 - q, q)); }

__device__ real maxwell_sample(rng_t *rng, real sigma)
{
    return sigma * sqrt(2 * gamma_sample(rng, 1.5, 1));
}

__device__ real maxwell_mean(real sigma) { return 2 * SQRT_2_OVER_PI * sigma; }
__device__ real maxwell_var(real sigma) { return (3 - 8 / PI) * (sigma * sigma); }
__device__ real maxwell_skewness(real sigma) { return 2 * SQRT_2 * (16 - 5 * PI) / ((3 * PI - 8) * sqrt(3 * PI - 8)); }
__device__ real maxwell_kurtosis(real sigma) { return 4 * (-96 + 40 * PI - 3 * PI * PI) / ((3 * PI - 8) * (3 * PI - 8)); }
__device__ real maxwell_entropy(real sigma) { return EULER_GAMMA + HALF_LOG_2PI + log(sigma) - 0.5; }
__device__ real maxwell_mode(real sigma) { return SQRT_2 * sigma; }
