// inverse_gamma: 1 / x has a gamma distribution
// used for: priors of variances, conjugate to the normal distribution
// x: nonnegative    alpha: positive, shape    beta: positive, scale
// density: beta**alpha * x**(-alpha - 1) * exp(-beta / x) / Gamma(alpha)
// source: Gelman et al. (2013), Bayesian Data Analysis, appendix A; for large shapes, Loader (2000)
__device__ real inverse_gamma_logpdf(real x, real alpha, real beta)
{
    real value;
    if (large_shape(alpha)) {
        real u = fma(-alpha, x, beta) * (1 / x) * (1 / alpha);
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_ratio_excess((beta / alpha) * (1 / x), fmax(u, (real)-1));
    } else {
        value = (alpha * log(beta) - log_gamma(alpha)) - (alpha + 1) * log(x) - beta * (1 / x);
    }
    return x == 0 || isinf(x) ? -INFINITY : value;
}

__device__ real inverse_gamma_logpdf_grad_alpha(real x, real alpha, real beta)
{
    return x == 0 || isinf(x) ? 0 : (log(beta) - digamma(alpha)) - log(x);
}

__device__ real inverse_gamma_logpdf_grad_x(real x, real alpha, real beta)
{
    return x == 0 || isinf(x) ? 0 : fma(beta, 1 / x, -(alpha + 1)) * (1 / x);
}

__device__ real inverse_gamma_logcdf(real x, real alpha, real beta)
{
    return log_gamma_q_of_power(alpha, beta / x, log(beta) - log(x));
}

__device__ real inverse_gamma_logsf(real x, real alpha, real beta)
{
    return log_gamma_p_of_power(alpha, beta / x, log(beta) - log(x));
}

__device__ real inverse_gamma_ppf(real q, real alpha, real beta)
{
    return gamma_quantile_power(alpha, 1 - q, q, -1, beta);
}

__device__ real inverse_gamma_isf(real q, real alpha, real beta)
{
    return gamma_quantile_power(alpha, q, 1 - q, -1, beta);
}

__device__ real inverse_gamma_sample(rng_t *rng, real alpha, real beta)
{
    if (alpha < 1) return exp(log(beta) - gamma_logarithm(rng, alpha));  // the gamma variable may underflow
    return beta / gamma_sample(rng, alpha, 1);
}

__device__ real inverse_gamma_mean(real alpha, real beta) { return alpha > 1 ? beta / (alpha - 1) : INFINITY; }

__device__ real inverse_gamma_var(real alpha, real beta)
{
    return alpha > 2 ? beta * beta / ((alpha - 1) * (alpha - 1) * (alpha - 2)) : INFINITY;
}

__device__ real inverse_gamma_skewness(real alpha, real beta)
{
    return alpha > 3 ? 4 * sqrt(alpha - 2) / (alpha - 3) : NAN;
}

__device__ real inverse_gamma_kurtosis(real alpha, real beta)
{
    return alpha > 4 ? 6 * (5 * alpha - 11) / ((alpha - 3) * (alpha - 4)) : NAN;
}

__device__ real inverse_gamma_entropy(real alpha, real beta)
{
    return gamma_entropy(alpha, 1) - 2 * digamma(alpha) + log(beta);
}

__device__ real inverse_gamma_mode(real alpha, real beta) { return beta / (alpha + 1); }
