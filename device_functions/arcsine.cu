// arcsine: the arcsine distribution on an interval
// used for: the share of time that a random walk spends above 0, and the position of an oscillation at a random time
// x: real    lower: real, lower bound    upper: real, upper bound
// density: 1 / (pi * sqrt((x - lower) * (upper - x))) if lower <= x <= upper else 0
// source: Johnson, Kotz & Balakrishnan (1995), ch. 25
__device__ real arcsine_logpdf(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return x < lower || x > upper ? -INFINITY : -LOG_PI - 0.5 * (log(x - lower) + log(upper - x));
}

__device__ real arcsine_logpdf_grad_x(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x < lower || x > upper) return 0;
    real below = x - lower, above = upper - x;
    return (x - 0.5 * (lower + upper)) / fmax(below, above) * log_slope(fmin(below, above));
}

__device__ real arcsine_logcdf(real x, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    real width = 1 / (upper - lower), below = (x - lower) * width, above = (upper - x) * width;
    return below < above ? log(2 / PI * asin(sqrt(below))) : log1p(-2 / PI * asin(sqrt(above)));
}

__device__ real arcsine_logsf(real x, real lower, real upper)
{
    return arcsine_logcdf(-x, -upper, -lower);
}

__device__ real arcsine_ppf(real q, real lower, real upper)
{
    real s = sin(0.5 * PI * fmin(q, 1 - q)), rest = (upper - lower) * (s * s);
    return q < 0.5 ? lower + rest : upper - rest;
}

__device__ real arcsine_isf(real q, real lower, real upper)
{
    return -arcsine_ppf(q, -upper, -lower);
}

__device__ real arcsine_sample(rng_t *rng, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return fmin(fmax(arcsine_ppf(uniform(rng), lower, upper), lower), upper);
}

__device__ real arcsine_mean(real lower, real upper) { return 0.5 * lower + 0.5 * upper; }
__device__ real arcsine_var(real lower, real upper) { return 0.125 * (upper - lower) * (upper - lower); }
__device__ real arcsine_skewness(real lower, real upper) { return 0; }
__device__ real arcsine_kurtosis(real lower, real upper) { return -1.5; }
__device__ real arcsine_entropy(real lower, real upper) { return log(0.25 * PI * (upper - lower)); }
__device__ real arcsine_median(real lower, real upper) { return 0.5 * lower + 0.5 * upper; }
__device__ real arcsine_lower(real lower, real upper) { return lower; }
__device__ real arcsine_upper(real lower, real upper) { return upper; }
