// bates: the mean of n variables that are uniform between two bounds
// used for: averages of rounding errors and of other uniform noise
// x: real    n: positive integer, number of variables    lower: real    upper: real, above `lower`
// density: (n / ((upper - lower) * factorial(n - 1)) * Sum((-1)**k * binomial(n, k) * (y - k)**(n - 1), k, 0, floor(y))
// if lower <= x <= upper else 0)    y = n * (x - lower) / (upper - lower)
// source: Johnson, Kotz & Balakrishnan (1995), ch. 26.9

// The distance from the nearer bound, for which the sum of n variables between 0 and 1 has the same probability
__device__ real near(real x, real n, real lower, real upper)
{
    return n * (fmin(x - lower, upper - x) / (upper - lower));
}

__device__ int is_proper(real lower, real upper) { return lower < upper && upper - lower < INFINITY; }

__device__ real bates_logpdf(real x, real n, real lower, real upper)
{
    if (!is_proper(lower, upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    return log(n) - log(upper - lower) + irwin_hall_logpdf(near(x, n, lower, upper), n);
}

__device__ real bates_logcdf(real x, real n, real lower, real upper)
{
    if (!is_proper(lower, upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    real z = near(x, n, lower, upper);
    return x - lower < upper - x ? irwin_hall_logcdf(z, n) : irwin_hall_logsf(z, n);
}

__device__ real bates_logsf(real x, real n, real lower, real upper)
{
    return bates_logcdf(-x, n, -upper, -lower);
}

__device__ real bates_sample(rng_t *rng, real n, real lower, real upper)
{
    if (!is_proper(lower, upper)) return NAN;
    return lower + (upper - lower) * (irwin_hall_sample(rng, n) / n);
}

__device__ real bates_mean(real n, real lower, real upper) { return lower + 0.5 * (upper - lower); }
__device__ real bates_var(real n, real lower, real upper) { return (upper - lower) * ((upper - lower) / (12 * n)); }
__device__ real bates_skewness(real n, real lower, real upper) { return 0; }
__device__ real bates_kurtosis(real n, real lower, real upper) { return -1.2 / n; }
__device__ real bates_median(real n, real lower, real upper) { return lower + 0.5 * (upper - lower); }
__device__ real bates_mode(real n, real lower, real upper) { return lower + 0.5 * (upper - lower); }
__device__ real bates_lower(real n, real lower, real upper) { return lower; }
__device__ real bates_upper(real n, real lower, real upper) { return upper; }
