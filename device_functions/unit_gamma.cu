// unit_gamma: the unit gamma distribution: -log(x) has a gamma distribution
// used for: proportions that are products, such as the joint reliability of parts
// x: unit    alpha: positive, shape at 1    beta: positive, shape at 0
// density: beta**alpha * (-log(x))**(alpha - 1) * x**(beta - 1) / Gamma(alpha)
// source: Grassia (1977), On a family of distributions with argument between 0 and 1 obtained by transformation of the gamma
__device__ real unit_gamma_logpdf(real x, real alpha, real beta)
{
    real y = -log(x), value;
    if (large_shape(alpha))
        value = gamma_logpdf(y, alpha, beta) + y;
    else
        value = (alpha * log(beta) - log_gamma(alpha)) + xlogy(alpha - 1, y) - (beta - 1) * y;
    real at_zero = log_power_at_zero((beta - 1) + (beta == 1 ? 1 - alpha : 0), 0);
    return x == 0 ? at_zero : value;
}

__device__ real unit_gamma_logcdf(real x, real alpha, real beta) { return log_gamma_q(alpha, -beta * log(x)); }
__device__ real unit_gamma_logsf(real x, real alpha, real beta) { return log_gamma_p(alpha, -beta * log(x)); }
__device__ real unit_gamma_ppf(real q, real alpha, real beta) { return exp(-gamma_isf(q, alpha, beta)); }
__device__ real unit_gamma_isf(real q, real alpha, real beta) { return exp(-gamma_ppf(q, alpha, beta)); }
__device__ real unit_gamma_sample(rng_t *rng, real alpha, real beta) { return exp(-gamma_sample(rng, alpha, beta)); }
__device__ real unit_gamma_mean(real alpha, real beta) { return exp(-alpha * log1p(1 / beta)); }

__device__ real unit_gamma_var(real alpha, real beta)
{
    return exp(-2 * alpha * log1p(1 / beta)) * expm1(alpha * log1p(1 / (beta * (beta + 2))));
}

__device__ real unit_gamma_entropy(real alpha, real beta) { return gamma_entropy(alpha, beta) - alpha / beta; }

__device__ real unit_gamma_mode(real alpha, real beta)
{
    if (alpha > 1 && beta > 1) return exp(-(alpha - 1) / (beta - 1));
    if (alpha < 1 && beta < 1) return NAN;  // infinite at both ends
    return alpha == 1 && beta == 1 ? 0.5 : alpha >= 1 && beta <= 1 ? 0 : 1;
}
