// frechet: the Fréchet distribution, the extreme value distribution (type II) of maxima; 1 / x has a Weibull distribution
// used for: the largest of many losses, floods or wind speeds with heavy tails
// x: nonnegative    alpha: positive, shape    sigma: positive, scale
// density: alpha / sigma * z**(-alpha - 1) * exp(-z**(-alpha))    z = x / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real frechet_logpdf(real x, real alpha, real sigma)
{
    real log_z = log_quotient(x, sigma);
    return x == 0 || isinf(x) ? -INFINITY : log(alpha / sigma) - (alpha + 1) * log_z - exp(-alpha * log_z);
}

// alpha log(x / sigma) has a standard Gumbel distribution.
__device__ real frechet_logcdf(real x, real alpha, real sigma) { return gumbel_logcdf(alpha * log_quotient(x, sigma), 0, 1); }
__device__ real frechet_logsf(real x, real alpha, real sigma) { return gumbel_logsf(alpha * log_quotient(x, sigma), 0, 1); }
__device__ real frechet_ppf(real q, real alpha, real sigma) { return scaled_exp(sigma, -log(-log(q)) / alpha); }
__device__ real frechet_isf(real q, real alpha, real sigma) { return scaled_exp(sigma, -log(-log1p(-q)) / alpha); }

__device__ real frechet_sample(rng_t *rng, real alpha, real sigma)
{
    return scaled_exp(sigma, -log(exponential(rng)) / alpha);
}

__device__ real frechet_mean(real alpha, real sigma)
{
    return alpha > 1 ? scaled_exp(sigma, log_gamma(1 - 1 / alpha)) : INFINITY;
}

__device__ real frechet_var(real alpha, real sigma)
{
    if (!(alpha > 2)) return INFINITY;
    real mean = frechet_mean(alpha, sigma);
    return mean * (mean * expm1(log_gamma_bend(1, -1 / alpha)));
}

__device__ real frechet_entropy(real alpha, real sigma) { return EULER_GAMMA * (1 + 1 / alpha) + log(sigma / alpha) + 1; }
__device__ real frechet_mode(real alpha, real sigma) { return scaled_exp(sigma, -log1p(1 / alpha) / alpha); }
