// exponential: waiting time of a Poisson process
// used for: waiting times at a constant rate: decays, calls, failures without wear
// x: nonnegative    lam: positive, rate
// density: lam * exp(-lam * x)
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

__device__ real exponential_ppf(real q, real lam) { return -log1p(-q) / lam; }
__device__ real exponential_isf(real q, real lam) { return -log(q) / lam; }
__device__ real exponential_mean(real lam) { return 1 / lam; }
__device__ real exponential_var(real lam) { return 1 / (lam * lam); }
__device__ real exponential_skewness(real lam) { return 2; }
__device__ real exponential_kurtosis(real lam) { return 6; }
__device__ real exponential_entropy(real lam) { return 1 - log(lam); }
__device__ real exponential_mode(real lam) { return 0; }
