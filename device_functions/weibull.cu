// weibull: the Weibull distribution
// used for: lifetimes, wind speeds and strengths of materials
// x: nonnegative    alpha: positive, shape    beta: positive, scale
// density: alpha / beta * (x / beta)**(alpha - 1) * exp(-(x / beta)**alpha)
// source: Johnson, Kotz & Balakrishnan (1994), ch. 21
__device__ real weibull_logpdf(real x, real alpha, real beta)
{
    real z = x / beta, log_z = log_quotient(x, beta);
    real value = log(alpha / beta) + (alpha - 1) * log_z - exp(alpha * log_z);
    real at_zero = log_power_at_zero(alpha - 1, -log(beta) - z);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real weibull_logpdf_grad_x(real x, real alpha, real beta)
{
    if (x == 0 || isinf(x)) return alpha == 1 ? -1 / beta : 0;
    return (alpha - 1) / x - alpha * exp(alpha * log_quotient(x, beta) - log(x));  // z^alpha may underflow
}

// -log((x / beta)^alpha) has a standard Gumbel distribution.
__device__ real weibull_logcdf(real x, real alpha, real beta)
{
    return gumbel_logsf(-alpha * log_quotient(x, beta), 0, 1);
}

__device__ real weibull_logsf(real x, real alpha, real beta)
{
    return gumbel_logcdf(-alpha * log_quotient(x, beta), 0, 1);
}

__device__ real weibull_sample(rng_t *rng, real alpha, real beta)
{
    return scaled_exp(beta, log(exponential(rng)) / alpha);
}

__device__ real weibull_ppf(real q, real alpha, real beta) { return scaled_exp(beta, log(-log1p(-q)) / alpha); }
__device__ real weibull_isf(real q, real alpha, real beta) { return scaled_exp(beta, log(-log(q)) / alpha); }
__device__ real weibull_mean(real alpha, real beta) { return scaled_exp(beta, log_gamma(1 + 1 / alpha)); }

__device__ real weibull_var(real alpha, real beta)
{
    real mean = weibull_mean(alpha, beta);
    return mean * (mean * expm1(log_gamma_bend(1, 1 / alpha)));
}

__device__ real weibull_entropy(real alpha, real beta) { return EULER_GAMMA * (1 - 1 / alpha) + log(beta / alpha) + 1; }
__device__ real weibull_mode(real alpha, real beta) { return alpha > 1 ? scaled_exp(beta, log1p(-1 / alpha) / alpha) : 0; }
