// johnson_sb: Johnson's bounded distribution: gamma + delta log(x / (1 - x)) is standard normal
// used for: bounded data whose skewness and kurtosis are to be fitted
// x: unit    gamma: real, asymmetry    delta: positive, shape; the larger, the narrower is the peak
// density: delta / (x * (1 - x)) * phi(gamma + delta * log(x / (1 - x)))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 12
__device__ real johnson_sb_logpdf(real x, real gamma, real delta)
{
    if (x == 0 || x == 1) return -INFINITY;
    real y = gamma + delta * logit(x);
    return (log(delta) - HALF_LOG_2PI) - (log(x) + log1p(-x)) - 0.5 * y * y;
}

__device__ real johnson_sb_logpdf_grad_x(real x, real gamma, real delta)
{
    if (x == 0 || x == 1) return 0;
    return (2 * x - 1 - delta * (gamma + delta * logit(x))) / x / (1 - x);
}

__device__ real johnson_sb_logcdf(real x, real gamma, real delta)
{
    return log_ndtr(gamma + delta * logit(x));
}

__device__ real johnson_sb_logsf(real x, real gamma, real delta)
{
    return log_ndtr(-gamma - delta * logit(x));
}

__device__ real johnson_sb_ppf(real q, real gamma, real delta) { return expit((ndtri(q) - gamma) / delta); }
__device__ real johnson_sb_isf(real q, real gamma, real delta) { return expit((-ndtri(q) - gamma) / delta); }

__device__ real johnson_sb_sample(rng_t *rng, real gamma, real delta)
{
    return expit((normal(rng) - gamma) / delta);
}

__device__ real johnson_sb_median(real gamma, real delta) { return expit(-gamma / delta); }
