// lomax: the Lomax distribution (Pareto's of type II), which starts at 0
// used for: losses, sizes of files and traffic with a power law that begins at 0
// x: nonnegative    alpha: positive, shape    sigma: positive, scale
// density: alpha / sigma * (1 + x / sigma)**(-alpha - 1)
// source: Johnson, Kotz & Balakrishnan (1994), ch. 20
__device__ real lomax_logpdf(real x, real alpha, real sigma)
{
    return log(alpha / sigma) - (alpha + 1) * log1p(x * (1 / sigma));
}

__device__ real lomax_logpdf_grad_sigma(real x, real alpha, real sigma)
{
    return (alpha * x - sigma) / (x + sigma) * (1 / sigma);
}

__device__ real lomax_logsf(real x, real alpha, real sigma)
{
    real z = x * (1 / sigma);
    return -alpha * (isinf(z) ? log_quotient(x, sigma) : log1p(z));
}

__device__ real lomax_logcdf(real x, real alpha, real sigma)
{
    return log1mexp(lomax_logsf(x, alpha, sigma));
}

__device__ real lomax_sample(rng_t *rng, real alpha, real sigma)
{
    return scaled_expm1(sigma, exponential(rng) / alpha);
}

__device__ real lomax_ppf(real q, real alpha, real sigma) { return scaled_expm1(sigma, -log1p(-q) / alpha); }
__device__ real lomax_isf(real q, real alpha, real sigma) { return scaled_expm1(sigma, -log(q) / alpha); }
__device__ real lomax_mean(real alpha, real sigma) { return alpha > 1 ? sigma / (alpha - 1) : INFINITY; }
__device__ real lomax_var(real alpha, real sigma) { return pareto_var(alpha, sigma); }
__device__ real lomax_skewness(real alpha, real sigma) { return pareto_skewness(alpha, sigma); }
__device__ real lomax_kurtosis(real alpha, real sigma) { return pareto_kurtosis(alpha, sigma); }
__device__ real lomax_entropy(real alpha, real sigma) { return pareto_entropy(alpha, sigma); }
__device__ real lomax_mode(real alpha, real sigma) { return 0; }
