// binomial_logit: number of successes in n independent trials, by the log odds of success
// x: nonnegative integer    n: nonnegative integer, number of trials    eta: real, log odds of success
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

__device__ real binomial_logit_sample(rng_t *rng, real n, real eta)
{
    real k = binomial_count(rng, n, expit(-fabs(eta)));
    return eta > 0 ? n - k : k;
}
