// generalized_exponential: lifetimes whose hazard grows from a to a + b, approaching it exponentially
// used for: lifetimes whose risk rises from one level to another
// x: nonnegative    a: positive    b: positive    c: positive, rate of the approach    sigma: positive, scale
// density: (a + b * (1 - exp(-c * z))) / sigma * exp(-(a + b) * z + b / c * (1 - exp(-c * z)))    z = x / sigma
// source: Ryu (1993), An extension of Marshall and Olkin's bivariate exponential distribution
__device__ real generalized_exponential_logsf(real x, real a, real b, real c, real sigma)
{
    real z = x * (1 / sigma);
    return -a * z - b / c * expm1_excess(c * z);
}

__device__ real generalized_exponential_logpdf(real x, real a, real b, real c, real sigma)
{
    real hazard = a - b * expm1(-c * (x * (1 / sigma)));
    return isinf(x) ? -INFINITY : log(hazard / sigma) + generalized_exponential_logsf(x, a, b, c, sigma);
}

__device__ real generalized_exponential_logcdf(real x, real a, real b, real c, real sigma)
{
    return log1mexp(generalized_exponential_logsf(x, a, b, c, sigma));
}

// Where the cumulative hazard, a convex function, is h: Newton's method descends to it from the right.
__device__ real quantile(real h, real a, real b, real c, real sigma)
{
    real z = fmin(h / a, (h + b / c) / (a + b)), before = INFINITY;
    for (int i = 0; i < 100 && z < before; i++) {
        before = z;
        z -= (a * z + b / c * expm1_excess(c * z) - h) / (a - b * expm1(-c * z));
    }
    return sigma * z;
}

__device__ real generalized_exponential_ppf(real q, real a, real b, real c, real sigma)
{
    return quantile(-log1p(-q), a, b, c, sigma);
}

__device__ real generalized_exponential_isf(real q, real a, real b, real c, real sigma)
{
    return quantile(-log(q), a, b, c, sigma);
}

__device__ real generalized_exponential_sample(rng_t *rng, real a, real b, real c, real sigma)
{
    return quantile(exponential(rng), a, b, c, sigma);
}
