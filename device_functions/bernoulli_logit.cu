// bernoulli_logit: success or failure of one trial, by the log odds of success
// used for: logistic regression
// x: nonnegative integer    eta: real, log odds of success
// mass: p**x * (1 - p)**(1 - x) if x <= 1 else 0    p = 1 / (1 + exp(-eta))
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 4
__device__ real bernoulli_logit_logpmf(real x, real eta)
{
    real value = log_expit(x == 0 ? -eta : eta);
    return x > 1 ? -INFINITY : value;
}

__device__ real bernoulli_logit_logcdf(real x, real eta)
{
    return x < 1 ? log_expit(-eta) : 0;
}

__device__ real bernoulli_logit_logsf(real x, real eta)
{
    return x < 1 ? log_expit(eta) : -INFINITY;
}

__device__ real bernoulli_logit_sample(rng_t *rng, real eta)
{
    return uniform(rng) < expit(eta);
}

__device__ real bernoulli_logit_mean(real eta) { return expit(eta); }
__device__ real bernoulli_logit_var(real eta) { return expit(eta) * expit(-eta); }
__device__ real bernoulli_logit_skewness(real eta) { return -tanh(0.5 * eta) / sqrt(expit(eta) * expit(-eta)); }
__device__ real bernoulli_logit_kurtosis(real eta) { return 1 / (expit(eta) * expit(-eta)) - 6; }

__device__ real bernoulli_logit_entropy(real eta)
{
    real p = expit(fabs(eta));
    return log1pexp(-fabs(eta)) + fabs(eta) * (1 - p);
}

__device__ real bernoulli_logit_mode(real eta) { return eta > 0 ? 1 : 0; }
__device__ real bernoulli_logit_upper(real eta) { return 1; }
