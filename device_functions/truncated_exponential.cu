// truncated_exponential: exponential distribution confined to values of at most `upper`
// used for: waiting times that were recorded only up to a limit
// x: nonnegative    lam: positive, rate before truncation    upper: positive, upper bound
// density: lam * exp(-lam * x) / (1 - exp(-lam * upper)) if x <= upper else 0
// source: Johnson, Kotz & Balakrishnan (1994), ch. 19
__device__ real truncated_exponential_logpdf(real x, real lam, real upper)
{
    return x > upper || isinf(x) ? -INFINITY : -log(expm1_quotient(-lam, upper)) - lam * x;
}

__device__ real truncated_exponential_logcdf(real x, real lam, real upper)
{
    return x >= upper ? 0 : log(expm1_quotient(-lam, x)) - log(expm1_quotient(-lam, upper));
}

__device__ real truncated_exponential_logsf(real x, real lam, real upper)
{
    if (x >= upper) return -INFINITY;
    return log(expm1_quotient(-lam, upper - x)) - log(expm1_quotient(-lam, upper)) - lam * x;
}

// exp(-lam x) is 1 - q (1 - exp(-lam upper)).
__device__ real truncated_exponential_ppf(real q, real lam, real upper)
{
    return fmin(log1p_quotient(-lam, q * expm1_quotient(-lam, upper)), upper);
}

__device__ real truncated_exponential_isf(real q, real lam, real upper)
{
    if (q > 0.5 || fabs(lam * upper) < 1) return truncated_exponential_ppf(1 - q, lam, upper);
    return -log(q + (1 - q) * exp(-lam * upper)) / lam;
}

__device__ real truncated_exponential_sample(rng_t *rng, real lam, real upper)
{
    return truncated_exponential_ppf(uniform(rng), lam, upper);
}

__device__ real truncated_exponential_mode(real lam, real upper) { return 0; }
__device__ real truncated_exponential_upper(real lam, real upper) { return upper; }
