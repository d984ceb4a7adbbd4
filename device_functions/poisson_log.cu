// poisson_log: the Poisson distribution by the logarithm of its mean
// x: nonnegative integer    eta: real, logarithm of the mean
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 6
__device__ real poisson_log_logpmf(real x, real eta)
{
    return poisson_kernel(x, exp(eta), eta);
}

__device__ real poisson_log_logpmf_grad_eta(real x, real eta)
{
    return x - exp(eta);
}

__device__ real poisson_log_sample(rng_t *rng, real eta)
{
    return poisson_sample(rng, exp(eta));
}
