// generalized_pareto: the generalized Pareto distribution, of what exceeds a high threshold
// used for: losses, floods or waves beyond a high threshold
// x: real    mu: real, threshold    sigma: positive, scale    xi: real, shape
// density: t**(xi + 1) / sigma if x >= mu and 1 + xi * z >= 0 else 0    z = (x - mu) / sigma
// t = exp(-z) if xi == 0 else (1 + xi * z)**(-1 / xi)
// source: Coles (2001), An Introduction to Statistical Modeling of Extreme Values, ch. 4
__device__ real generalized_pareto_upper(real mu, real sigma, real xi) { return xi < 0 ? mu - sigma / xi : INFINITY; }
__device__ real generalized_pareto_lower(real mu, real sigma, real xi) { return mu; }

// The cumulative hazard, x >= mu; infinite beyond the upper end
__device__ real hazard(real x, real mu, real sigma, real xi)
{
    real d = x - mu;
    return fma(xi, d, sigma) > 0 ? log1p_over(d, sigma, xi) : INFINITY;
}

__device__ real generalized_pareto_logpdf(real x, real mu, real sigma, real xi)
{
    if (isinf(xi)) return NAN;
    if (x < mu || fma(xi, x - mu, sigma) < 0) return -INFINITY;
    return -log(sigma) - weighted(1 + xi, hazard(x, mu, sigma, xi));
}

__device__ real generalized_pareto_logsf(real x, real mu, real sigma, real xi)
{
    return x <= mu ? 0 : -hazard(x, mu, sigma, xi);
}

__device__ real generalized_pareto_logcdf(real x, real mu, real sigma, real xi)
{
    return x <= mu ? -INFINITY : log1mexp(-hazard(x, mu, sigma, xi));
}

// Where the cumulative hazard is h
__device__ real quantile(real h, real mu, real sigma, real xi)
{
    return mu + expm1_over(h, sigma, xi);
}

__device__ real generalized_pareto_ppf(real q, real mu, real sigma, real xi) { return quantile(-log1p(-q), mu, sigma, xi); }
__device__ real generalized_pareto_isf(real q, real mu, real sigma, real xi) { return quantile(-log(q), mu, sigma, xi); }

__device__ real generalized_pareto_sample(rng_t *rng, real mu, real sigma, real xi)
{
    return quantile(exponential(rng), mu, sigma, xi);
}

__device__ real generalized_pareto_mean(real mu, real sigma, real xi)
{
    return xi < 1 ? mu + sigma / (1 - xi) : INFINITY;
}

__device__ real generalized_pareto_var(real mu, real sigma, real xi)
{
    return xi < 0.5 ? sigma * sigma / ((1 - xi) * (1 - xi) * (1 - 2 * xi)) : INFINITY;
}

__device__ real generalized_pareto_skewness(real mu, real sigma, real xi)
{
    return xi < 1.0 / 3 ? 2 * (1 + xi) * sqrt(1 - 2 * xi) / (1 - 3 * xi) : NAN;
}

__device__ real generalized_pareto_kurtosis(real mu, real sigma, real xi)
{
    return xi < 0.25 ? 3 * (1 - 2 * xi) * (2 * xi * xi + xi + 3) / ((1 - 3 * xi) * (1 - 4 * xi)) - 3 : NAN;
}

__device__ real generalized_pareto_entropy(real mu, real sigma, real xi) { return log(sigma) + xi + 1; }

// Where xi = -1, any number of the support is one.
__device__ real generalized_pareto_mode(real mu, real sigma, real xi)
{
    return xi < -1 ? generalized_pareto_upper(mu, sigma, xi) : mu;
}
