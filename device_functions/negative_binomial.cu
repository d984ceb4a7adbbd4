// negative_binomial: Poisson whose mean has a gamma distribution; the variance is mu + mu^2 / alpha
// used for: counts that vary more than Poisson's law allows: visits, accidents, reads of genes
// x: nonnegative integer    mu: nonnegative, mean    alpha: positive, shape of the gamma distribution
// mass: binomial(x + alpha - 1, x) * (mu / (mu + alpha))**x * (alpha / (mu + alpha))**alpha
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5; in the form of Loader (2000)

// With q = mu / (mu + alpha), p = 1 - q and the deviation x p - alpha q, however the caller comes by them.
__device__ real negative_binomial_kernel(real x, real alpha, real log_p, real log_q, real deviation)
{
    if (x < 3)
        return alpha * log_p + (x == 0 ? 0 : x * log_q)
             + (x < 1 ? 0 : x < 2 ? log(alpha) : log(alpha) + log1p(alpha) - LOG_2);
    real n = x + alpha, log_n = log(n);
    return (0.5 * log(alpha) - stirling_error(alpha)) - factorial_remainder(x) + (stirling_series(n) - 0.5 * log_n)
         + alpha * log_excess(log_n + (log_p - log(alpha)), deviation * (1 / alpha))
         + x * log_excess(log_n - log(x) + log_q, -deviation * (1 / x));
}

// log(a / (a + b))
__device__ real log_share(real a, real b)
{
    return a < b ? log(a) - log(a + b) : -log1p(b / a);
}

__device__ real negative_binomial_logpmf(real x, real mu, real alpha)
{
    return negative_binomial_kernel(
        x, alpha, log_share(alpha, mu), log_share(mu, alpha), (x - mu) * (alpha / (mu + alpha)));
}

// The derivative in mu, finite where x and mu are 0.
__device__ real negative_binomial_logpmf_grad_mu(real x, real mu, real alpha)
{
    return (x == 0 ? -1 : (x - mu) * (1 / mu)) * (alpha / (mu + alpha));
}

__device__ real negative_binomial_logcdf(real x, real mu, real alpha)
{
    return log_beta_p(alpha, x + 1, alpha / (mu + alpha), mu / (mu + alpha));
}

__device__ real negative_binomial_logsf(real x, real mu, real alpha)
{
    return log_beta_p(x + 1, alpha, mu / (mu + alpha), alpha / (mu + alpha));
}

__device__ real negative_binomial_sample(rng_t *rng, real mu, real alpha)
{
    real mean = gamma_sample(rng, alpha, alpha / mu);
    return poisson_sample(rng, mean);
}

__device__ real negative_binomial_mean(real mu, real alpha) { return mu; }
__device__ real negative_binomial_var(real mu, real alpha) { return mu + mu * (mu / alpha); }

__device__ real negative_binomial_skewness(real mu, real alpha)
{
    return (2 * mu + alpha) / sqrt(mu * alpha * (mu + alpha));
}

__device__ real negative_binomial_kurtosis(real mu, real alpha) { return 6 / alpha + alpha / (mu * (mu + alpha)); }

__device__ real negative_binomial_mode(real mu, real alpha)
{
    return alpha > 1 ? floor(mu * ((alpha - 1) / alpha)) : 0;
}
