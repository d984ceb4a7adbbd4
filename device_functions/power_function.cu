// power_function: the power-function distribution, of distribution function x^alpha
// used for: proportions that pile up at 1 or at 0, and the largest of several uniform numbers
// x: unit    alpha: positive, shape
// density: alpha * x**(alpha - 1)
// source: Johnson, Kotz & Balakrishnan (1995), ch. 25
__device__ real power_function_logpdf(real x, real alpha)
{
    return log(alpha) + xlogy(alpha - 1, x);
}

__device__ real power_function_logcdf(real x, real alpha)
{
    return alpha * log(x);
}

__device__ real power_function_logsf(real x, real alpha)
{
    return log1mexp(alpha * log(x));
}

__device__ real power_function_ppf(real q, real alpha) { return exp(log(q) / alpha); }
__device__ real power_function_isf(real q, real alpha) { return exp(log1p(-q) / alpha); }

__device__ real power_function_sample(rng_t *rng, real alpha)
{
    return exp(-exponential(rng) / alpha);
}

__device__ real power_function_mean(real alpha) { return alpha / (alpha + 1); }
__device__ real power_function_var(real alpha) { return alpha / (alpha + 1) / (alpha + 1) / (alpha + 2); }

__device__ real power_function_skewness(real alpha)
{
    return 2 * (1 - alpha) * sqrt((alpha + 2) / alpha) / (alpha + 3);
}

__device__ real power_function_kurtosis(real alpha)
{
    return 6 * (alpha * (alpha * (alpha - 1) - 6) + 2) / (alpha * (alpha + 3) * (alpha + 4));
}

__device__ real power_function_entropy(real alpha) { return 1 - 1 / alpha - log(alpha); }
__device__ real power_function_mode(real alpha) { return alpha > 1 ? 1 : alpha < 1 ? 0 : 0.5; }
