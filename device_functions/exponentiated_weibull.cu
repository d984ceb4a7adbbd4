// exponentiated_weibull: a power of the Weibull distribution function
// used for: lifetimes whose hazard rises, falls, or turns once
// x: nonnegative    alpha: positive, shape of the Weibull distribution    theta: positive, exponent    sigma: positive, scale
// density: alpha * theta / sigma * z**(alpha - 1) * exp(-z**alpha) * (1 - exp(-z**alpha))**(theta - 1)    z = x / sigma
// source: Mudholkar & Srivastava (1993), Exponentiated Weibull family for analyzing bathtub failure-rate data
__device__ real exponentiated_weibull_logpdf(real x, real alpha, real theta, real sigma)
{
    real z = x / sigma, log_z = log_quotient(x, sigma), w = exp(alpha * log_z), constant = log(alpha * theta / sigma);
    real value = w < EPSILON ? constant + (alpha * theta - 1) * log_z
                             : constant + (alpha - 1) * log_z + ((theta - 1) * log1mexp(-w) - w);
    real at_zero = log_power_at_zero(alpha * theta - 1, constant - 0.5 * (theta + 1) * pow(z, alpha));
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real exponentiated_weibull_logcdf(real x, real alpha, real theta, real sigma)
{
    return theta * weibull_logcdf(x, alpha, sigma);
}

// -log(-log of the distribution function) has a standard Gumbel distribution.
__device__ real exponentiated_weibull_logsf(real x, real alpha, real theta, real sigma)
{
    real log_z = log_quotient(x, sigma), w = exp(alpha * log_z);
    real log_minus_log = w < EPSILON ? log(-alpha * log_z) : log_minus_log1mexp(-w);
    return gumbel_logsf(-log(theta) - log_minus_log, 0, 1);
}

// Where the distribution function is exp(-h)
__device__ real quantile(real h, real alpha, real theta, real sigma)
{
    real y = h / theta, log_minus_log = y < EPSILON ? log(-log_quotient(h, theta)) : log_minus_log1mexp(-y);
    return scaled_exp(sigma, log_minus_log / alpha);
}

__device__ real exponentiated_weibull_ppf(real q, real alpha, real theta, real sigma)
{
    return quantile(-log(q), alpha, theta, sigma);
}

__device__ real exponentiated_weibull_isf(real q, real alpha, real theta, real sigma)
{
    return quantile(-log1p(-q), alpha, theta, sigma);
}

__device__ real exponentiated_weibull_sample(rng_t *rng, real alpha, real theta, real sigma)
{
    return quantile(exponential(rng), alpha, theta, sigma);
}
