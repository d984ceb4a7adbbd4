// exp_gamma: the distribution of the logarithm of a gamma variable
// used for: logarithms of variances, rates and waiting times
// x: real    alpha: positive, shape    mu: real, location    sigma: positive, scale
// density: exp(alpha * z - exp(z)) / (sigma * Gamma(alpha))    z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22; for large shapes, Loader (2000)
__device__ real exp_gamma_logpdf(real x, real alpha, real mu, real sigma)
{
    real d = (x - mu) * (1 / sigma) - log(alpha);
    return (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha) - log(sigma)) + alpha * log_excess(d, expm1(d));
}

__device__ real exp_gamma_logpdf_grad_alpha(real x, real alpha, real mu, real sigma)
{
    return isinf(x) ? 0 : ((x - mu) * (1 / sigma) - log(alpha)) + log_minus_digamma(alpha);
}

// Where exp(z) is small, and may underflow, the tail is a power of it.
__device__ real exp_gamma_logcdf(real x, real alpha, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return z < log(EPSILON) ? alpha * z - log_gamma_1p(alpha) : log_gamma_p(alpha, exp(z));
}

__device__ real exp_gamma_logsf(real x, real alpha, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return z < log(EPSILON) ? log1mexp(alpha * z - log_gamma_1p(alpha)) : log_gamma_q(alpha, exp(z));
}

__device__ real log_quantile(real p, real q, real alpha)
{
    real low = ((p < q ? log(p) : log1p(-q)) + log_gamma_1p(alpha)) / alpha;
    return low < log(EPSILON) ? low : log(gamma_quantile(alpha, p, q));
}

__device__ real exp_gamma_ppf(real q, real alpha, real mu, real sigma) { return mu + sigma * log_quantile(q, 1 - q, alpha); }
__device__ real exp_gamma_isf(real q, real alpha, real mu, real sigma) { return mu + sigma * log_quantile(1 - q, q, alpha); }

__device__ real exp_gamma_sample(rng_t *rng, real alpha, real mu, real sigma)
{
    return mu + sigma * gamma_logarithm(rng, alpha);
}

__device__ real exp_gamma_mean(real alpha, real mu, real sigma) { return mu + sigma * digamma(alpha); }
__device__ real exp_gamma_var(real alpha, real mu, real sigma) { return sigma * sigma * trigamma(alpha); }

__device__ real exp_gamma_entropy(real alpha, real mu, real sigma)
{
    return alpha * log_minus_digamma(alpha) + stirling_error(alpha) + (HALF_LOG_2PI - 0.5 * log(alpha) + log(sigma));
}

__device__ real exp_gamma_mode(real alpha, real mu, real sigma) { return mu + sigma * log(alpha); }
