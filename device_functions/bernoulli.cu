// bernoulli: success or failure of one trial
// used for: yes-or-no outcomes, such as a click, a default or a recovery
// x: nonnegative integer    p: unit, probability of success
// mass: p**x * (1 - p)**(1 - x) if x <= 1 else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 3
__device__ real bernoulli_logpmf(real x, real p)
{
    if (x > 1) return -INFINITY;
    return x == 0 ? log1p(-p) : log(p);
}

__device__ real bernoulli_logcdf(real x, real p)
{
    return x < 1 ? log1p(-p) : 0;
}

__device__ real bernoulli_logsf(real x, real p)
{
    return x < 1 ? log(p) : -INFINITY;
}

__device__ real bernoulli_sample(rng_t *rng, real p)
{
    return uniform(rng) < p;
}

__device__ real bernoulli_mean(real p) { return p; }
__device__ real bernoulli_var(real p) { return p * (1 - p); }
__device__ real bernoulli_skewness(real p) { return (1 - 2 * p) / sqrt(p * (1 - p)); }
__device__ real bernoulli_kurtosis(real p) { return 1 / (p * (1 - p)) - 6; }
__device__ real bernoulli_entropy(real p) { return -(xlogy(p, p) + xlog1py(1 - p, -p)); }
__device__ real bernoulli_mode(real p) { return p > 0.5 ? 1 : 0; }
__device__ real bernoulli_upper(real p) { return 1; }
