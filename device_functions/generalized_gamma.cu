// generalized_gamma: the generalised gamma distribution, of powers of gamma variables
// used for: lifetimes, when it is open whether Weibull, gamma or log-normal ones fit
// x: nonnegative    a: positive, shape of the gamma variable    c: real, shape, the inverse of the power    sigma: positive, scale
// density: abs(c) / (sigma * Gamma(a)) * z**(c * a - 1) * exp(-z**c)    z = x / sigma
// source: Stacy (1962), A generalization of the gamma distribution
__device__ real generalized_gamma_logpdf(real x, real a, real c, real sigma)
{
    if (c == 0 || isinf(c)) return NAN;
    real log_z = log_quotient(x, sigma), y = power_of_quotient(x, sigma, c), value;
    if (large_shape(a))
        value = (log(fabs(c)) + 0.5 * log(a) - HALF_LOG_2PI - stirling_error(a)) - log(x)
              + a * log_excess(c * log_z - log(a), (y - a) / a);
    else
        value = (log(fabs(c)) - log_gamma(a) - log(sigma)) + (c * a - 1) * log_z - y;
    real at_zero = c < 0 ? -INFINITY : log_power_at_zero(c * a - 1, -log(sigma) - log_gamma_1p(a) - y);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real generalized_gamma_logpdf_grad_x(real x, real a, real c, real sigma)
{
    if (c == 0 || isinf(c)) return NAN;
    real log_z = log_quotient(x, sigma), y = power_of_quotient(x, sigma, c);
    if (x == 0) return c < 0 || c * a != 1 || c > 1 ? 0 : c == 1 ? -1 / sigma : -INFINITY;
    return isinf(x) ? 0 : y < EPSILON ? (c * a - 1) / x - c * exp(c * log_z - log(x)) : (c * (a - y) - 1) / x;
}

// log P(a, z^c)
__device__ real log_p(real x, real a, real c, real sigma)
{
    return log_gamma_p_of_power(a, power_of_quotient(x, sigma, c), c * log_quotient(x, sigma));
}

__device__ real log_q(real x, real a, real c, real sigma)
{
    return log_gamma_q_of_power(a, power_of_quotient(x, sigma, c), c * log_quotient(x, sigma));
}

__device__ real generalized_gamma_logcdf(real x, real a, real c, real sigma)
{
    return c < 0 ? log_q(x, a, c, sigma) : log_p(x, a, c, sigma);
}

__device__ real generalized_gamma_logsf(real x, real a, real c, real sigma)
{
    return c < 0 ? log_p(x, a, c, sigma) : log_q(x, a, c, sigma);
}

__device__ real generalized_gamma_ppf(real q, real a, real c, real sigma)
{
    return gamma_quantile_power(a, c < 0 ? 1 - q : q, c < 0 ? q : 1 - q, 1 / c, sigma);
}

__device__ real generalized_gamma_isf(real q, real a, real c, real sigma)
{
    return gamma_quantile_power(a, c < 0 ? q : 1 - q, c < 0 ? 1 - q : q, 1 / c, sigma);
}

__device__ real generalized_gamma_sample(rng_t *rng, real a, real c, real sigma)
{
    return scaled_exp(sigma, gamma_logarithm(rng, a) / c);
}

__device__ real generalized_gamma_mean(real a, real c, real sigma)
{
    if (!(a + 1 / c > 0)) return INFINITY;
    return scaled_exp(sigma, c > 0 ? log_rising(a, 1 / c) : -log_rising(a + 1 / c, -1 / c));
}

__device__ real generalized_gamma_var(real a, real c, real sigma)
{
    real mean = generalized_gamma_mean(a, c, sigma);
    return a + 2 / c > 0 ? mean * (mean * expm1(log_gamma_bend(a, 1 / c))) : INFINITY;
}

__device__ real generalized_gamma_entropy(real a, real c, real sigma)
{
    return gamma_entropy(a, 1) + (1 / c - 1) * digamma(a) + log(sigma / fabs(c));
}

__device__ real generalized_gamma_mode(real a, real c, real sigma)
{
    return a > 1 / c ? scaled_exp(sigma, log(a - 1 / c) / c) : 0;
}
