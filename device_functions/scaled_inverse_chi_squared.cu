// scaled_inverse_chi_squared: nu sigma^2 / x has a chi-squared distribution
// used for: priors and posteriors of the variance of normal data
// x: nonnegative    nu: positive, degrees of freedom    sigma: positive, square root of the scale
// density: (nu * sigma**2 / 2)**(nu / 2) * x**(-nu / 2 - 1) * exp(-nu * sigma**2 / (2 * x)) / Gamma(nu / 2)
// source: Gelman et al. (2013), Bayesian Data Analysis, appendix A; for many degrees of freedom, Loader (2000)
__device__ real scaled_inverse_chi_squared_logpdf(real x, real nu, real sigma)
{
    real alpha = 0.5 * nu, value;
    if (large_shape(alpha))
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_product_excess(sigma, sigma / x, fmax(fma(sigma, sigma, -x) / x, (real)-1));
    else
        value = (alpha * log(alpha) + nu * log(sigma) - log_gamma(alpha)) - (alpha + 1) * log(x) - alpha * sigma * (sigma / x);
    return x == 0 || isinf(x) ? -INFINITY : value;
}

__device__ real scaled_inverse_chi_squared_logpdf_grad_x(real x, real nu, real sigma)
{
    return x == 0 || isinf(x) ? 0 : fma(0.5 * nu, fma(sigma, sigma / x, -1), -1) / x;
}

__device__ real scaled_inverse_chi_squared_logcdf(real x, real nu, real sigma)
{
    real a = 0.5 * nu;
    return log_gamma_q_of_power(a, a * sigma * (sigma / x), log(a) + 2 * log(sigma) - log(x));
}

__device__ real scaled_inverse_chi_squared_logsf(real x, real nu, real sigma)
{
    real a = 0.5 * nu;
    return log_gamma_p_of_power(a, a * sigma * (sigma / x), log(a) + 2 * log(sigma) - log(x));
}

__device__ real scaled_inverse_chi_squared_ppf(real q, real nu, real sigma)
{
    return inverse_gamma_ppf(q, 0.5 * nu, 0.5 * nu * sigma * sigma);
}

__device__ real scaled_inverse_chi_squared_isf(real q, real nu, real sigma)
{
    return inverse_gamma_isf(q, 0.5 * nu, 0.5 * nu * sigma * sigma);
}

__device__ real scaled_inverse_chi_squared_sample(rng_t *rng, real nu, real sigma)
{
    return inverse_gamma_sample(rng, 0.5 * nu, 0.5 * nu * sigma * sigma);
}

__device__ real scaled_inverse_chi_squared_mean(real nu, real sigma)
{
    return nu > 2 ? nu / (nu - 2) * sigma * sigma : INFINITY;
}

__device__ real scaled_inverse_chi_squared_var(real nu, real sigma)
{
    real mean = nu / (nu - 2) * sigma * sigma;
    return nu > 4 ? 2 * mean * mean / (nu - 4) : INFINITY;
}

__device__ real scaled_inverse_chi_squared_skewness(real nu, real sigma) { return inverse_gamma_skewness(0.5 * nu, 1); }
__device__ real scaled_inverse_chi_squared_kurtosis(real nu, real sigma) { return inverse_gamma_kurtosis(0.5 * nu, 1); }

__device__ real scaled_inverse_chi_squared_entropy(real nu, real sigma)
{
    return inverse_gamma_entropy(0.5 * nu, 0.5 * nu * sigma * sigma);
}

__device__ real scaled_inverse_chi_squared_mode(real nu, real sigma) { return nu / (nu + 2) * sigma * sigma; }
