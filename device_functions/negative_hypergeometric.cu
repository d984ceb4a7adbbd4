// negative_hypergeometric: number of successes drawn without replacement before failure number r; beta-binomial
// used for: inspections of a lot that end at a given number of defects
// x: nonnegative integer    M: nonnegative integer, objects in all    n: nonnegative integer, successes among them
// r: nonnegative integer, failures at which drawing stops: at 0, before anything is drawn
// mass: binomial(x + r - 1, x) * binomial(M - r - x, n - x) / binomial(M, n) if x <= n else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6
__device__ real negative_hypergeometric_logpmf(real x, real M, real n, real r)
{
    if (r > M - n) return NAN;
    if (r == 0) return x == 0 ? 0 : -INFINITY;
    return beta_binomial_logpmf(x, r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_logcdf(real x, real M, real n, real r)
{
    return r == 0 ? 0 : beta_binomial_logcdf(x, r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_logsf(real x, real M, real n, real r)
{
    return r == 0 ? -INFINITY : beta_binomial_logsf(x, r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_sample(rng_t *rng, real M, real n, real r)
{
    if (r == 0) return 0;
    return r > M - n ? NAN : beta_binomial_sample(rng, r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_mean(real M, real n, real r) { return beta_binomial_mean(r, M - n - r + 1, n); }
__device__ real negative_hypergeometric_var(real M, real n, real r) { return beta_binomial_var(r, M - n - r + 1, n); }

__device__ real negative_hypergeometric_skewness(real M, real n, real r)
{
    return beta_binomial_skewness(r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_kurtosis(real M, real n, real r)
{
    return beta_binomial_kurtosis(r, M - n - r + 1, n);
}

__device__ real negative_hypergeometric_upper(real M, real n, real r) { return n; }
