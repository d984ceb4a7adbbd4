// chi: the chi distribution, of the length of a standard normal vector in nu dimensions
// used for: lengths of random vectors, and standard deviations of normal samples
// x: nonnegative    nu: positive, degrees of freedom
// density: x**(nu - 1) * exp(-x**2 / 2) / (2**(nu / 2 - 1) * Gamma(nu / 2))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 18; for many degrees of freedom, Loader (2000)
__device__ real chi_logpdf(real x, real nu)
{
    real alpha = 0.5 * nu, value;
    if (large_shape(alpha))
        value = (LOG_2 + 0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_product_excess(x, x / nu, fma(x, x, -nu) / nu);
    else
        value = (LOG_2 - alpha * LOG_2 - log_gamma(alpha)) + (nu - 1) * log(x) - 0.5 * x * x;
    real at_zero = log_power_at_zero(nu - 1, log(SQRT_2_OVER_PI));
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real chi_logcdf(real x, real nu) { return log_gamma_p_of_power(0.5 * nu, 0.5 * x * x, 2 * log(x) - LOG_2); }
__device__ real chi_logsf(real x, real nu) { return log_gamma_q_of_power(0.5 * nu, 0.5 * x * x, 2 * log(x) - LOG_2); }
__device__ real chi_ppf(real q, real nu) { return gamma_quantile_power(0.5 * nu, q, 1 - q, 0.5, SQRT_2); }
__device__ real chi_isf(real q, real nu) { return gamma_quantile_power(0.5 * nu, 1 - q, q, 0.5, SQRT_2); }

// By the logarithm of the chi-squared variable, which may underflow
__device__ real chi_sample(rng_t *rng, real nu) { return exp(0.5 * (LOG_2 + gamma_logarithm(rng, 0.5 * nu))); }

__device__ real chi_mean(real nu) { return nakagami_mean(0.5 * nu, sqrt(nu)); }
__device__ real chi_var(real nu) { return nakagami_var(0.5 * nu, sqrt(nu)); }
__device__ real chi_entropy(real nu) { return nakagami_entropy(0.5 * nu, sqrt(nu)); }
__device__ real chi_mode(real nu) { return sqrt(fmax(nu - 1, (real)0)); }
