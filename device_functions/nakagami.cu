// nakagami: the Nakagami distribution; the square of x has a gamma distribution
// used for: strengths of radio signals that fade
// x: nonnegative    nu: positive, shape    sigma: positive, root of the mean square
// density: 2 * nu**nu * x**(2 * nu - 1) * exp(-nu * x**2 / sigma**2) / (Gamma(nu) * sigma**(2 * nu))
// source: Nakagami (1960), The m-distribution; for large shapes, Loader (2000)
__device__ real nakagami_logpdf(real x, real nu, real sigma)
{
    real z = x / sigma, value;
    if (large_shape(nu))
        value = (LOG_2 + 0.5 * log(nu) - HALF_LOG_2PI - stirling_error(nu)) - log(x)
              + nu * log_product_excess(z, z, (x - sigma) / sigma * (z + 1));
    else
        value = (LOG_2 + nu * log(nu) - log_gamma(nu) - log(sigma)) + (2 * nu - 1) * log_quotient(x, sigma) - nu * z * z;
    real at_zero = log_power_at_zero(nu - 0.5, log(SQRT_2_OVER_PI / sigma));
    return x == 0 ? at_zero : isinf(z) ? -INFINITY : value;
}

__device__ real nakagami_logcdf(real x, real nu, real sigma)
{
    real z = x / sigma;
    return log_gamma_p_of_power(nu, nu * z * z, log(nu) + 2 * log_quotient(x, sigma));
}

__device__ real nakagami_logsf(real x, real nu, real sigma)
{
    real z = x / sigma;
    return log_gamma_q_of_power(nu, nu * z * z, log(nu) + 2 * log_quotient(x, sigma));
}

__device__ real nakagami_ppf(real q, real nu, real sigma)
{
    return gamma_quantile_power(nu, q, 1 - q, 0.5, sigma / sqrt(nu));
}

__device__ real nakagami_isf(real q, real nu, real sigma)
{
    return gamma_quantile_power(nu, 1 - q, q, 0.5, sigma / sqrt(nu));
}

__device__ real nakagami_sample(rng_t *rng, real nu, real sigma)
{
    return scaled_exp(sigma, 0.5 * (gamma_logarithm(rng, nu) - log(nu)));  // the gamma variable may underflow
}

// log((mean / sigma)^2), by Stirling's formula, where nothing cancels
__device__ real log_square(real nu)
{
    return 2 * (nu * log1pmx(0.5 / nu) + (stirling_error(nu + 0.5) - stirling_error(nu)));
}

__device__ real nakagami_mean(real nu, real sigma) { return scaled_exp(sigma, 0.5 * log_square(nu)); }
__device__ real nakagami_var(real nu, real sigma) { return -sigma * sigma * expm1(log_square(nu)); }

__device__ real nakagami_entropy(real nu, real sigma)
{
    return gamma_entropy(nu, nu) + 0.5 * log_minus_digamma(nu) + log(sigma) - LOG_2;
}

__device__ real nakagami_mode(real nu, real sigma) { return sigma * sqrt(fmax(1 - 0.5 / nu, (real)0)); }
