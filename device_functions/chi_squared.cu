// chi_squared: sum of nu squared standard normal variables
// x: nonnegative    nu: positive, degrees of freedom
// source: Johnson, Kotz & Balakrishnan (1994), ch. 18; for many degrees of freedom, Loader (2000)
__device__ real chi_squared_logpdf(real x, real nu)
{
    real alpha = 0.5 * nu, value;
    if (large_shape(alpha))
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_ratio_excess(x * (1 / nu), (x - nu) * (1 / nu));
    else
        value = -(alpha * LOG_2 + log_gamma(alpha)) + (alpha - 1) * log(x) - 0.5 * x;
    real at_zero = nu < 2 ? INFINITY : nu > 2 ? -INFINITY : -LOG_2 - 0.5 * x;
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real chi_squared_sample(rng_t *rng, real nu)
{
    return gamma_sample(rng, 0.5 * nu, 0.5);
}
