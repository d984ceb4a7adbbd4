// uniform: constant density on an interval
// used for: quantities of which only the bounds are known, and random numbers
// x: real    lower: real, lower bound    upper: real, upper bound
// density: 1 / (upper - lower) if lower <= x <= upper else 0
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

__device__ real uniform_ppf(real q, real lower, real upper) { return lower + (upper - lower) * q; }
__device__ real uniform_isf(real q, real lower, real upper) { return upper - (upper - lower) * q; }
__device__ real uniform_mean(real lower, real upper) { return 0.5 * lower + 0.5 * upper; }
__device__ real uniform_var(real lower, real upper) { return (upper - lower) * (upper - lower) / 12; }
__device__ real uniform_skewness(real lower, real upper) { return 0; }
__device__ real uniform_kurtosis(real lower, real upper) { return -1.2; }
__device__ real uniform_entropy(real lower, real upper) { return log(upper - lower); }

// Any number between the bounds is one.
__device__ real uniform_mode(real lower, real upper) { return 0.5 * lower + 0.5 * upper; }
__device__ real uniform_lower(real lower, real upper) { return lower; }
__device__ real uniform_upper(real lower, real upper) { return upper; }
