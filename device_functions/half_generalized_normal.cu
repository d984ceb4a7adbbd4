// half_generalized_normal: absolute value of a generalised normal variable with mean 0
// used for: sizes of errors with light or heavy tails
// x: nonnegative    beta: positive, shape    sigma: positive, scale
// density: beta / (sigma * Gamma(1 / beta)) * exp(-(x / sigma)**beta)
// source: Nadarajah (2005), A generalized normal distribution
__device__ real half_generalized_normal_logpdf(real x, real beta, real sigma)
{
    return -(log_gamma_1p(1 / beta) + log(sigma)) - pow(x / sigma, beta);
}

__device__ real half_generalized_normal_logcdf(real x, real beta, real sigma)
{
    return generalized_gamma_logcdf(x, 1 / beta, beta, sigma);
}

__device__ real half_generalized_normal_logsf(real x, real beta, real sigma)
{
    return generalized_gamma_logsf(x, 1 / beta, beta, sigma);
}

__device__ real half_generalized_normal_ppf(real q, real beta, real sigma)
{
    return generalized_gamma_ppf(q, 1 / beta, beta, sigma);
}

__device__ real half_generalized_normal_isf(real q, real beta, real sigma)
{
    return generalized_gamma_isf(q, 1 / beta, beta, sigma);
}

__device__ real half_generalized_normal_sample(rng_t *rng, real beta, real sigma)
{
    return generalized_gamma_sample(rng, 1 / beta, beta, sigma);
}

__device__ real half_generalized_normal_mean(real beta, real sigma) { return generalized_gamma_mean(1 / beta, beta, sigma); }
__device__ real half_generalized_normal_var(real beta, real sigma) { return generalized_gamma_var(1 / beta, beta, sigma); }
__device__ real half_generalized_normal_entropy(real beta, real sigma) { return 1 / beta + log_gamma_1p(1 / beta) + log(sigma); }
__device__ real half_generalized_normal_mode(real beta, real sigma) { return 0; }
