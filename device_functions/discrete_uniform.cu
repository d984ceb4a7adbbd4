// discrete_uniform: whole numbers from lower to upper, all equally probable
// used for: a fair die, a random index, and whole numbers of which nothing else is known
// x: integer    lower: integer, smallest value    upper: integer, largest value
// mass: 1 / (upper - lower + 1) if lower <= x <= upper else 0
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

__device__ real discrete_uniform_mean(real lower, real upper) { return 0.5 * lower + 0.5 * upper; }

__device__ real discrete_uniform_var(real lower, real upper)
{
    real n = upper - lower + 1;
    return (n * n - 1) / 12;
}

__device__ real discrete_uniform_skewness(real lower, real upper) { return upper > lower ? 0 : NAN; }

__device__ real discrete_uniform_kurtosis(real lower, real upper)
{
    real n = upper - lower + 1;
    return -1.2 * ((n * n + 1) / (n * n - 1));
}

__device__ real discrete_uniform_entropy(real lower, real upper) { return log(upper - lower + 1); }
__device__ real discrete_uniform_median(real lower, real upper) { return lower + floor(0.5 * (upper - lower)); }

// Any of them is one.
__device__ real discrete_uniform_mode(real lower, real upper) { return lower; }
__device__ real discrete_uniform_lower(real lower, real upper) { return lower; }
__device__ real discrete_uniform_upper(real lower, real upper) { return upper; }
