// beta: the beta distribution
// used for: proportions and rates, and as a prior of unknown probabilities
// x: unit    alpha: positive, shape at 0    beta: positive, shape at 1
// density: x**(alpha - 1) * (1 - x)**(beta - 1) / B(alpha, beta)
// source: Johnson, Kotz & Balakrishnan (1995), ch. 25; for large shapes, Loader (2000)
__device__ real beta_logpdf(real x, real alpha, real beta)
{
    real n = alpha + beta, value;
    if (large_shape(n)) {
        // x n - alpha, in which the rounding error of n would count
        real smaller = fmin(alpha, beta), rest = smaller - (n - fmax(alpha, beta));
        real d = fma(x, n, -alpha) + x * rest;
        value = (0.5 * (log(alpha) + log(beta / n)) - HALF_LOG_2PI
                 - (stirling_error(alpha) + (stirling_error(beta) - stirling_error(n)))) - (log(x) + log1p(-x))
              + alpha * log_product_excess(x, n / alpha, d * (1 / alpha))
              + beta * log_ratio_excess((1 - x) * (n / beta), -d * (1 / beta));
    } else {
        value = (alpha - 1) * log(x) + (beta - 1) * log1p(-x) - lbeta(alpha, beta);
    }
    real at_zero = log_power_at_zero(alpha - 1, log(beta) - (beta - 1) * x);
    real at_one = log_power_at_zero(beta - 1, log(alpha) + (alpha - 1) * (x - 1));
    return x == 0 ? at_zero : x == 1 ? at_one : value;
}

__device__ real beta_logcdf(real x, real alpha, real beta)
{
    return log_beta_p(alpha, beta, x, 1 - x);
}

__device__ real beta_logsf(real x, real alpha, real beta)
{
    return log_beta_p(beta, alpha, 1 - x, x);
}

__device__ real beta_cdf(real x, real alpha, real beta) { return beta_p(alpha, beta, x, 1 - x); }
__device__ real beta_sf(real x, real alpha, real beta) { return beta_p(beta, alpha, 1 - x, x); }

__device__ real beta_ppf(real q, real alpha, real beta) { return expit(beta_quantile_logit(alpha, beta, q, 1 - q)); }
__device__ real beta_isf(real q, real alpha, real beta) { return expit(beta_quantile_logit(alpha, beta, 1 - q, q)); }

// A gamma variable's share of the sum of two. Source: Devroye (1986), Non-Uniform Random Variate Generation, ch. IX.
__device__ real beta_sample(rng_t *rng, real alpha, real beta)
{
    if (alpha < 1 && beta < 1) {  // both may underflow
        real log_x = gamma_logarithm(rng, alpha), log_y = gamma_logarithm(rng, beta);
        return expit(log_x - log_y);
    }
    real x = gamma_sample(rng, alpha, 1), y = gamma_sample(rng, beta, 1);
    return x / (x + y);
}

__device__ real beta_mean(real alpha, real beta) { return alpha / (alpha + beta); }

__device__ real beta_var(real alpha, real beta)
{
    real n = alpha + beta;
    return alpha / n * (beta / n) / (n + 1);
}

__device__ real beta_skewness(real alpha, real beta)
{
    real n = alpha + beta;
    return 2 * (beta - alpha) * sqrt(n + 1) / ((n + 2) * sqrt(alpha) * sqrt(beta));
}

__device__ real beta_kurtosis(real alpha, real beta)
{
    real n = alpha + beta, d = (alpha - beta) / alpha * ((alpha - beta) / beta);
    return 6 * (d * (n + 1) - (n + 2)) / ((n + 2) * (n + 3));
}

// Stirling's formula takes out what would cancel for large shapes.
__device__ real beta_entropy(real alpha, real beta)
{
    real n = alpha + beta;
    return 0.5 * (log(alpha) + log(beta)) - 1.5 * log(n) + HALF_LOG_2PI
         + (stirling_error(alpha) + (stirling_error(beta) - stirling_error(n)))
         + (alpha - 1) * log_minus_digamma(alpha)
         + ((beta - 1) * log_minus_digamma(beta) - (n - 2) * log_minus_digamma(n));
}

__device__ real beta_mode(real alpha, real beta)
{
    if (alpha > 1 && beta > 1) return (alpha - 1) / (alpha + beta - 2);
    if (alpha < 1 && beta < 1) return NAN;  // infinite at both ends
    return alpha == 1 && beta == 1 ? 0.5 : alpha >= 1 && beta <= 1 ? 1 : 0;
}
