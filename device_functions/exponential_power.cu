// exponential_power: the exponential power distribution of lifetimes, with a bathtub-shaped hazard where its shape is below 1
// used for: lifetimes of machines that fail early, or later of wear
// x: nonnegative    b: positive, shape    sigma: positive, scale
// density: b / sigma * z**(b - 1) * exp(1 + z**b - exp(z**b))    z = x / sigma
// source: Smith & Bain (1975), An exponential power life-testing distribution
__device__ real exponential_power_logpdf(real x, real b, real sigma)
{
    real w = power_of_quotient(x, sigma, b);
    real at_zero = log_power_at_zero(b - 1, -log(sigma));
    return x == 0 ? at_zero : isinf(w) ? -INFINITY : log(b / sigma) + (b - 1) * log_quotient(x, sigma) + (w - expm1(w));
}

__device__ real exponential_power_logsf(real x, real b, real sigma)
{
    return -expm1(power_of_quotient(x, sigma, b));
}

__device__ real exponential_power_logcdf(real x, real b, real sigma)
{
    real w = power_of_quotient(x, sigma, b);
    return w < EPSILON ? b * log_quotient(x, sigma) : log1mexp(-expm1(w));  // w may underflow
}

// Where the survival function is exp(-h)
__device__ real quantile(real h, real b, real sigma) { return scaled_exp(sigma, log(log1p(h)) / b); }

__device__ real exponential_power_ppf(real q, real b, real sigma) { return quantile(-log1p(-q), b, sigma); }
__device__ real exponential_power_isf(real q, real b, real sigma) { return quantile(-log(q), b, sigma); }
__device__ real exponential_power_sample(rng_t *rng, real b, real sigma) { return quantile(exponential(rng), b, sigma); }
