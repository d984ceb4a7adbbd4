// burr12: the Burr distribution of type XII, also called Singh and Maddala's
// used for: incomes, losses, river flows and lifetimes with a heavy right tail and a simple distribution function
// x: nonnegative    c: positive, shape at 0    k: positive, shape    sigma: positive, scale
// density: c * k / sigma * z**(c - 1) / (1 + z**c)**(k + 1)    z = x / sigma
// source: Burr (1942), Cumulative frequency functions
__device__ real burr12_logpdf(real x, real c, real k, real sigma)
{
    real z = x / sigma, log_z = log_quotient(x, sigma), y = log_z > 0 ? -c * log_z : c * log_z;
    real value = log(c * k / sigma) + (log_z > 0 ? -c * k - 1 : c - 1) * log_z - (k + 1) * log1p_unit(exp(y));
    real at_zero = log_power_at_zero(c - 1, log(k / sigma) - (k + 1) * z);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real burr12_logpdf_grad_x(real x, real c, real k, real sigma) { return burr_slope(x, c, c, c * k, sigma); }

// 1 / x has a distribution of type III; in its quantiles, a negative shape c makes that of 1 / x.
__device__ real burr12_logcdf(real x, real c, real k, real sigma) { return burr_logsf(sigma, c, k, x); }
__device__ real burr12_logsf(real x, real c, real k, real sigma) { return burr_logcdf(sigma, c, k, x); }
__device__ real burr12_ppf(real q, real c, real k, real sigma) { return burr_isf(q, -c, k, sigma); }
__device__ real burr12_isf(real q, real c, real k, real sigma) { return burr_ppf(q, -c, k, sigma); }
__device__ real burr12_sample(rng_t *rng, real c, real k, real sigma) { return burr_sample(rng, -c, k, sigma); }

__device__ real burr12_mean(real c, real k, real sigma)
{
    return c * k > 1 ? scaled_exp(sigma, log(k) + lbeta(k - 1 / c, 1 + 1 / c)) : INFINITY;
}

__device__ real burr12_var(real c, real k, real sigma)
{
    real mean = burr12_mean(c, k, sigma);
    return c * k > 2 ? mean * (mean * expm1(log_gamma_bend(1, 1 / c) + log_gamma_bend(k, -1 / c))) : INFINITY;
}

__device__ real burr12_entropy(real c, real k, real sigma)
{
    return 1 + 1 / (c * k) + (1 - 1 / c) * (EULER_GAMMA + digamma(k + 1)) - log(c * k / sigma);
}

__device__ real burr12_mode(real c, real k, real sigma)
{
    return c > 1 ? scaled_exp(sigma, log((c - 1) / (c * k + 1)) / c) : 0;
}
