// uniform: constant density on an interval
// x: real    lower: real, lower bound    upper: real, upper bound
// source: Johnson, Kotz & Balakrishnan (1995), ch. 26
__device__ real uniform_logpdf(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return x < lower || x > upper ? -INFINITY : -log(upper - lower);
}

__device__ real uniform_logcdf(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return x <= lower ? -INFINITY : x >= upper ? 0 : log((x - lower) * (1 / (upper - lower)));
}

__device__ real uniform_logsf(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return x <= lower ? 0 : x >= upper ? -INFINITY : log((upper - x) * (1 / (upper - lower)));
}

__device__ real uniform_sample(rng_t *rng, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return fmin(lower + (upper - lower) * uniform(rng), upper);
}
