// log_logistic: the log-logistic (Fisk) distribution, whose logarithm has a logistic one
// used for: survival times whose hazard rises and then falls, and incomes
// x: nonnegative    alpha: positive, shape    sigma: positive, scale
// density: alpha / sigma * z**(alpha - 1) / (1 + z**alpha)**2    z = x / sigma
// source: Kleiber & Kotz (2003), Statistical Size Distributions, ch. 6
__device__ real log_logistic_logpdf(real x, real alpha, real sigma)
{
    real z = x / sigma, log_z = log_quotient(x, sigma);
    real value = log(alpha / sigma) + (alpha - 1) * log_z - 2 * log1pexp(alpha * log_z);
    real at_zero = log_power_at_zero(alpha - 1, -log(sigma) - 2 * z);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real log_logistic_logcdf(real x, real alpha, real sigma)
{
    return log_expit(alpha * log_quotient(x, sigma));
}

__device__ real log_logistic_logsf(real x, real alpha, real sigma)
{
    return log_expit(-alpha * log_quotient(x, sigma));
}

__device__ real log_logistic_sample(rng_t *rng, real alpha, real sigma)
{
    return scaled_exp(sigma, logit(uniform(rng)) / alpha);
}

__device__ real log_logistic_ppf(real q, real alpha, real sigma) { return scaled_exp(sigma, logit(q) / alpha); }
__device__ real log_logistic_isf(real q, real alpha, real sigma) { return scaled_exp(sigma, -logit(q) / alpha); }

__device__ real log_logistic_mean(real alpha, real sigma)
{
    return alpha > 1 ? sigma * (PI / alpha) / sin(PI / alpha) : INFINITY;
}

__device__ real log_logistic_entropy(real alpha, real sigma) { return 2 - log(alpha / sigma); }

__device__ real log_logistic_mode(real alpha, real sigma)
{
    return alpha > 1 ? scaled_exp(sigma, log((alpha - 1) / (alpha + 1)) / alpha) : 0;
}
