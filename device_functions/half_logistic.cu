// half_logistic: absolute value of a logistic variable with mean 0
// used for: lifetimes with a hazard that rises to a limit
// x: nonnegative    sigma: positive, scale
// density: 2 * exp(-z) / (sigma * (1 + exp(-z))**2)    z = x / sigma
// source: Balakrishnan (1985), Order statistics from the half logistic distribution
__device__ real half_logistic_logpdf(real x, real sigma)
{
    return (LOG_2 - log(sigma)) - 2 * log_2cosh(x * (0.5 / sigma));
}

__device__ real half_logistic_logcdf(real x, real sigma) { return log(tanh(x * (0.5 / sigma))); }
__device__ real half_logistic_logsf(real x, real sigma) { return LOG_2 + log_expit(-x * (1 / sigma)); }

__device__ real half_logistic_ppf(real q, real sigma)
{
    return sigma * (q < 0.5 ? 2 * atanh(q) : log((1 + q) / (1 - q)));
}

__device__ real half_logistic_isf(real q, real sigma) { return sigma * log1p(2 * (1 - q) / q); }
__device__ real half_logistic_sample(rng_t *rng, real sigma) { return sigma * log(2 / uniform(rng) - 1); }
__device__ real half_logistic_mean(real sigma) { return 2 * LOG_2 * sigma; }
__device__ real half_logistic_var(real sigma) { return (PI * PI / 3 - 4 * LOG_2 * LOG_2) * (sigma * sigma); }
__device__ real half_logistic_skewness(real sigma) { return 1.540328803404880246; }
__device__ real half_logistic_kurtosis(real sigma) { return 3.583735664456714757; }
__device__ real half_logistic_entropy(real sigma) { return log(sigma) + (2 - LOG_2); }
__device__ real half_logistic_mode(real sigma) { return 0; }
