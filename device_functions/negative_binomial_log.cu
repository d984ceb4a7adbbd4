// negative_binomial_log: the negative binomial distribution by the logarithm of its mean
// used for: regressions of counts that vary more than Poisson's law allows
// x: nonnegative integer    eta: real, logarithm of the mean    phi: positive, shape of the gamma distribution
// mass: binomial(x + phi - 1, x) * (mu / (mu + phi))**x * (phi / (mu + phi))**phi    mu = exp(eta)
// source: Hilbe (2011), Negative Binomial Regression, ch. 8

// (x - mu) phi / (mu + phi), the derivative in eta. phi / mu may underflow where this does not.
__device__ real deviation(real x, real mu, real phi)
{
    return isinf(mu) ? -phi : (x - mu) * (1 / (mu + phi)) * phi;
}

__device__ real negative_binomial_log_logpmf(real x, real eta, real phi)
{
    real mu = exp(eta), log_odds = eta - log(phi);
    return negative_binomial_kernel(x, phi, log_expit(-log_odds), log_expit(log_odds), deviation(x, mu, phi));
}

__device__ real negative_binomial_log_logpmf_grad_eta(real x, real eta, real phi)
{
    return deviation(x, exp(eta), phi);
}

__device__ real negative_binomial_log_logcdf(real x, real eta, real phi)
{
    return log_beta_p_logit(phi, x + 1, log(phi) - eta);
}

__device__ real negative_binomial_log_logsf(real x, real eta, real phi)
{
    return log_beta_p_logit(x + 1, phi, eta - log(phi));
}

__device__ real negative_binomial_log_sample(rng_t *rng, real eta, real phi)
{
    return negative_binomial_sample(rng, exp(eta), phi);
}

__device__ real negative_binomial_log_mean(real eta, real phi) { return exp(eta); }
__device__ real negative_binomial_log_var(real eta, real phi) { return negative_binomial_var(exp(eta), phi); }
__device__ real negative_binomial_log_skewness(real eta, real phi) { return negative_binomial_skewness(exp(eta), phi); }
__device__ real negative_binomial_log_kurtosis(real eta, real phi) { return negative_binomial_kurtosis(exp(eta), phi); }
__device__ real negative_binomial_log_mode(real eta, real phi) { return negative_binomial_mode(exp(eta), phi); }
