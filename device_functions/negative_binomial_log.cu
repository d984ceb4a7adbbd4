// negative_binomial_log: the negative binomial distribution by the logarithm of its mean
// x: nonnegative integer    eta: real, logarithm of the mean    alpha: positive, shape of the gamma distribution
// source: Hilbe (2011), Negative Binomial Regression, ch. 8
__device__ real negative_binomial_log_logpmf(real x, real eta, real alpha)
{
    real mu = exp(eta), log_odds = eta - log(alpha);
    real deviation = isinf(mu) ? -alpha : (x - mu) * (alpha / (mu + alpha));
    return negative_binomial_kernel(x, alpha, log_expit(-log_odds), log_expit(log_odds), deviation);
}

__device__ real negative_binomial_log_logpmf_grad_eta(real x, real eta, real alpha)
{
    real mu = exp(eta);
    return isinf(mu) ? -alpha : (x - mu) * (alpha / (mu + alpha));
}

__device__ real negative_binomial_log_sample(rng_t *rng, real eta, real alpha)
{
    return negative_binomial_sample(rng, exp(eta), alpha);
}
