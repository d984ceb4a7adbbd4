// binomial_logit: number of successes in n independent trials, by the log odds of success
// used for: logistic regression of trials that are counted by group
// x: nonnegative integer    n: nonnegative integer, number of trials    eta: real, log odds of success
// mass: binomial(n, x) * p**x * (1 - p)**(n - x) if x <= n else 0    p = 1 / (1 + exp(-eta))
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 4; for many trials, Loader (2000)
__device__ real binomial_logit_logpmf(real x, real n, real eta)
{
    real deviation = (n - x) * expit(eta) - x * expit(-eta);
    return binomial_kernel(x, n, log_expit(eta), log_expit(-eta), deviation);
}

__device__ real binomial_logit_logpmf_grad_eta(real x, real n, real eta)
{
    return x > n ? 0 : x * expit(-eta) - (n - x) * expit(eta);
}

__device__ real binomial_logit_logcdf(real x, real n, real eta)
{
    return x >= n ? 0 : log_beta_p_logit(n - x, x + 1, -eta);
}

__device__ real binomial_logit_logsf(real x, real n, real eta)
{
    return x >= n ? -INFINITY : log_beta_p_logit(x + 1, n - x, eta);
}

__device__ real binomial_logit_sample(rng_t *rng, real n, real eta)
{
    real k = binomial_count(rng, n, expit(-fabs(eta)));
    return eta > 0 ? n - k : k;
}

__device__ real binomial_logit_mean(real n, real eta) { return n * expit(eta); }
__device__ real binomial_logit_var(real n, real eta) { return n * (expit(eta) * expit(-eta)); }

__device__ real binomial_logit_skewness(real n, real eta)
{
    return -tanh(0.5 * eta) / sqrt(n * expit(eta) * expit(-eta));
}

__device__ real binomial_logit_kurtosis(real n, real eta) { return (1 / (expit(eta) * expit(-eta)) - 6) / n; }
__device__ real binomial_logit_mode(real n, real eta) { return fmin(floor((n + 1) * expit(eta)), n); }
__device__ real binomial_logit_upper(real n, real eta) { return n; }
