// bernoulli_logit: success or failure of one trial, by the log odds of success
// x: nonnegative integer    eta: real, log odds of success
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
