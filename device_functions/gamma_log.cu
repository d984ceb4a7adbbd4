// gamma_log: the gamma distribution by the logarithm of its mean; the variance is mean^2 / nu
// used for: gamma regression of costs, durations and other positive numbers
// x: nonnegative    eta: real, logarithm of the mean    nu: positive, shape
// density: (nu / mu)**nu * x**(nu - 1) * exp(-nu * x / mu) / Gamma(nu)    mu = exp(eta)
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 8; in the form of Loader (2000)

// x / mean - 1; the root of the mean neither overflows nor underflows where x / mean does not
__device__ real excess(real x, real eta)
{
    real root = exp(-0.5 * eta);
    return fma(x * root, root, -1);
}

__device__ real gamma_log_logpdf(real x, real eta, real nu)
{
    real value = (0.5 * log(nu) - HALF_LOG_2PI - stirling_error(nu)) - log(x)
               + nu * log_excess(log(x) - eta, excess(x, eta));
    real at_zero = log_power_at_zero(nu - 1, -eta - x * exp(-eta));
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real gamma_log_logcdf(real x, real eta, real nu)
{
    real root = exp(-0.5 * eta);
    return log_gamma_p_of_power(nu, nu * (x * root * root), log(nu) + log(x) - eta);
}

__device__ real gamma_log_logsf(real x, real eta, real nu)
{
    real root = exp(-0.5 * eta);
    return log_gamma_q_of_power(nu, nu * (x * root * root), log(nu) + log(x) - eta);
}

__device__ real gamma_log_ppf(real q, real eta, real nu)
{
    return gamma_quantile_power(nu, q, 1 - q, 1, exp(eta) / nu);
}

__device__ real gamma_log_isf(real q, real eta, real nu)
{
    return gamma_quantile_power(nu, 1 - q, q, 1, exp(eta) / nu);
}

__device__ real gamma_log_sample(rng_t *rng, real eta, real nu)
{
    real x = gamma_standard(rng, nu < 1 ? nu + 1 : nu) / nu;
    return nu < 1 ? exp(eta + (log(x) - exponential(rng) / nu)) : exp(eta) * x;
}

__device__ real gamma_log_mean(real eta, real nu) { return exp(eta); }
__device__ real gamma_log_var(real eta, real nu) { return exp(2 * eta) / nu; }
__device__ real gamma_log_skewness(real eta, real nu) { return 2 / sqrt(nu); }
__device__ real gamma_log_kurtosis(real eta, real nu) { return 6 / nu; }
__device__ real gamma_log_entropy(real eta, real nu) { return gamma_entropy(nu, 1) - log(nu) + eta; }
__device__ real gamma_log_mode(real eta, real nu) { return exp(eta) * fmax(1 - 1 / nu, (real)0); }
