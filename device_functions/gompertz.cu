// gompertz: the Gompertz distribution of lifetimes, whose hazard grows exponentially
// used for: human lifetimes, the risk of which grows by the same factor each year
// x: nonnegative    eta: positive, shape    sigma: positive, scale
// density: eta / sigma * exp(z - eta * (exp(z) - 1))    z = x / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real gompertz_logpdf(real x, real eta, real sigma)
{
    real z = x / sigma;
    return isinf(z) ? -INFINITY : log(eta / sigma) + z - eta * expm1(z);
}

__device__ real gompertz_logsf(real x, real eta, real sigma)
{
    return -eta * expm1(x / sigma);
}

__device__ real gompertz_logcdf(real x, real eta, real sigma)
{
    return log1mexp(gompertz_logsf(x, eta, sigma));
}

__device__ real gompertz_sample(rng_t *rng, real eta, real sigma) { return sigma * log1p(exponential(rng) / eta); }
__device__ real gompertz_ppf(real q, real eta, real sigma) { return sigma * log1p(-log1p(-q) / eta); }
__device__ real gompertz_isf(real q, real eta, real sigma) { return sigma * log1p(-log(q) / eta); }
__device__ real gompertz_mode(real eta, real sigma) { return eta < 1 ? -sigma * log(eta) : 0; }
