// discrete_uniform: whole numbers from lower to upper, all equally probable
// x: integer    lower: integer, smallest value    upper: integer, largest value
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6
__device__ real discrete_uniform_logpmf(real x, real lower, real upper)
{
    if (upper < lower) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    return -log(upper - lower + 1);
}

__device__ real discrete_uniform_logcdf(real x, real lower, real upper)
{
    if (upper < lower) return NAN;
    return x < lower ? -INFINITY : x >= upper ? 0 : log((x - lower + 1) / (upper - lower + 1));
}

__device__ real discrete_uniform_logsf(real x, real lower, real upper)
{
    if (upper < lower) return NAN;
    return x < lower ? 0 : x >= upper ? -INFINITY : log((upper - x) / (upper - lower + 1));
}

__device__ real discrete_uniform_sample(rng_t *rng, real lower, real upper)
{
    if (upper < lower) return NAN;
    return fmin(lower + floor((upper - lower + 1) * uniform(rng)), upper);
}
