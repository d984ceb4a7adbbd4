// exponential: waiting time of a Poisson process
// x: nonnegative    lam: positive, rate
// source: Johnson, Kotz & Balakrishnan (1994), ch. 19
__device__ real exponential_logpdf(real x, real lam)
{
    return log(lam) - lam * x;
}

__device__ real exponential_logcdf(real x, real lam)
{
    return log1mexp(-lam * x);
}

__device__ real exponential_logsf(real x, real lam)
{
    return -lam * x;
}

__device__ real exponential_sample(rng_t *rng, real lam)
{
    return exponential(rng) * (1 / lam);
}
