// chi_squared: sum of nu squared standard normal variables
// used for: tests of fit, and variances of normal samples
// x: nonnegative    nu: positive, degrees of freedom
// density: x**(nu / 2 - 1) * exp(-x / 2) / (2**(nu / 2) * Gamma(nu / 2))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 18; for many degrees of freedom, Loader (2000)
__device__ real chi_squared_logpdf(real x, real nu)
{
    real alpha = 0.5 * nu, value;
    if (large_shape(alpha))
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_product_excess(x, 1 / nu, (x - nu) * (1 / nu));
    else
        value = -(alpha * LOG_2 + log_gamma(alpha)) + (alpha - 1) * log(x) - 0.5 * x;
    real at_zero = log_power_at_zero(nu - 2, -LOG_2 - 0.5 * x);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real chi_squared_logcdf(real x, real nu)
{
    return log_gamma_p_of_power(0.5 * nu, 0.5 * x, log(x) - LOG_2);
}

__device__ real chi_squared_logsf(real x, real nu)
{
    return log_gamma_q_of_power(0.5 * nu, 0.5 * x, log(x) - LOG_2);
}

__device__ real chi_squared_ppf(real q, real nu) { return gamma_quantile_power(0.5 * nu, q, 1 - q, 1, 2); }
__device__ real chi_squared_isf(real q, real nu) { return gamma_quantile_power(0.5 * nu, 1 - q, q, 1, 2); }

__device__ real chi_squared_sample(rng_t *rng, real nu)
{
    return gamma_sample(rng, 0.5 * nu, 0.5);
}

__device__ real chi_squared_mean(real nu) { return nu; }
__device__ real chi_squared_var(real nu) { return 2 * nu; }
__device__ real chi_squared_skewness(real nu) { return sqrt(8 / nu); }
__device__ real chi_squared_kurtosis(real nu) { return 12 / nu; }
__device__ real chi_squared_entropy(real nu) { return gamma_entropy(0.5 * nu, 0.5); }
__device__ real chi_squared_mode(real nu) { return fmax(nu - 2, (real)0); }
