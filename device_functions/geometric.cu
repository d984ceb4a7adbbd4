// geometric: number of trials up to and including the first success
// used for: numbers of attempts until the first success
// x: positive integer    p: positive unit, probability of success
// mass: p * (1 - p)**(x - 1)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5
__device__ real geometric_logpmf(real x, real p)
{
    return log(p) + (x == 1 ? 0 : (x - 1) * log1p(-p));
}

__device__ real geometric_logcdf(real x, real p)
{
    return log1mexp(x * log1p(-p));
}

__device__ real geometric_logsf(real x, real p)
{
    return x * log1p(-p);
}

__device__ real geometric_sample(rng_t *rng, real p)
{
    return fmax((real)1, ceil(log(uniform(rng)) / log1p(-p)));
}

__device__ real geometric_mean(real p) { return 1 / p; }
__device__ real geometric_var(real p) { return (1 - p) / (p * p); }
__device__ real geometric_skewness(real p) { return (2 - p) / sqrt(1 - p); }
__device__ real geometric_kurtosis(real p) { return 6 + p * (p / (1 - p)); }
__device__ real geometric_entropy(real p) { return p == 1 ? 0 : -log(p) - (1 - p) / p * log1p(-p); }
__device__ real geometric_mode(real p) { return 1; }
