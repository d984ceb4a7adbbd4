// beta_prime: the beta prime distribution, of the ratio of two gamma variables
// used for: odds, and as a prior of variances with a heavy tail
// x: nonnegative    alpha: positive, shape at 0    beta: positive, shape of the tail    sigma: positive, scale
// density: z**(alpha - 1) * (1 + z)**(-alpha - beta) / (sigma * B(alpha, beta))    z = x / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 27; for large shapes, Loader (2000)
__device__ real beta_prime_logpdf(real x, real alpha, real beta, real sigma)
{
    real z = x / sigma, n = alpha + beta, value;
    if (large_shape(n)) {
        real y = 1 / (1 + z), gap = fma(-beta, z, alpha) * y;
        value = (0.5 * (log(alpha) + log(beta / n)) - HALF_LOG_2PI
                 - (stirling_error(alpha) + (stirling_error(beta) - stirling_error(n)))) - log(x)
              + alpha * log_product_excess(z, y * (n / alpha), -gap / alpha) + beta * log_ratio_excess(y * (n / beta), gap / beta);
    } else {
        value = (alpha - 1) * log(z) - n * log1p(z) - (lbeta(alpha, beta) + log(sigma));
    }
    if (z != within_range(z))
        value = (z < 1 ? alpha - 1 : -beta - 1) * log_quotient(x, sigma) - (lbeta(alpha, beta) + log(sigma));
    real at_zero = log_power_at_zero(alpha - 1, log(beta / sigma) - (beta + 1) * z);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

// x / (x + sigma) has a beta distribution.
__device__ real beta_prime_logcdf(real x, real alpha, real beta, real sigma)
{
    real z = x / sigma;
    if (z != within_range(z)) return log_beta_p_logit(alpha, beta, log_quotient(x, sigma));
    return log_beta_p(alpha, beta, z / (1 + z), 1 / (1 + z));
}

__device__ real beta_prime_logsf(real x, real alpha, real beta, real sigma)
{
    real z = x / sigma;
    if (z != within_range(z)) return log_beta_p_logit(beta, alpha, -log_quotient(x, sigma));
    return log_beta_p(beta, alpha, 1 / (1 + z), z / (1 + z));
}

__device__ real beta_prime_ppf(real q, real alpha, real beta, real sigma)
{
    return scaled_exp(sigma, beta_quantile_logit(alpha, beta, q, 1 - q));
}

__device__ real beta_prime_isf(real q, real alpha, real beta, real sigma)
{
    return scaled_exp(sigma, beta_quantile_logit(alpha, beta, 1 - q, q));
}

__device__ real beta_prime_sample(rng_t *rng, real alpha, real beta, real sigma)
{
    real log_x = gamma_logarithm(rng, alpha), log_y = gamma_logarithm(rng, beta);
    return exp(log(sigma) + (log_x - log_y));
}

__device__ real beta_prime_mean(real alpha, real beta, real sigma)
{
    return beta > 1 ? sigma * alpha / (beta - 1) : INFINITY;
}

__device__ real beta_prime_var(real alpha, real beta, real sigma)
{
    if (!(beta > 2)) return INFINITY;
    return sigma * sigma * (alpha / (beta - 1)) * ((alpha + beta - 1) / ((beta - 1) * (beta - 2)));
}

__device__ real beta_prime_entropy(real alpha, real beta, real sigma)
{
    return beta_entropy(alpha, beta) - 2 * lbeta_derivative(beta, alpha) + log(sigma);
}

__device__ real beta_prime_mode(real alpha, real beta, real sigma)
{
    return alpha > 1 ? sigma * ((alpha - 1) / (beta + 1)) : 0;
}
