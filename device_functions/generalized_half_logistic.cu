// generalized_half_logistic: half-logistic variables transformed by a power, on an interval
// used for: lifetimes with an upper end
// x: nonnegative    c: positive, shape    sigma: positive, scale
// density: 2 * y**(1 - c) / (sigma * (1 + y)**2) if x <= sigma / c else 0    y = (1 - c * x / sigma)**(1 / c)
// source: Balakrishnan & Ng (2003), Some remarks on the generalized half-logistic distribution
__device__ real generalized_half_logistic_upper(real c, real sigma) { return sigma / c; }

// The half-logistic variable; infinite from the upper end on
__device__ real transformed(real x, real c, real sigma)
{
    return fma(-c, x, sigma) > 0 ? log1p_over(x, sigma, -c) : INFINITY;
}

__device__ real generalized_half_logistic_logpdf(real x, real c, real sigma)
{
    if (fma(-c, x, sigma) < 0) return -INFINITY;
    real y = transformed(x, c, sigma);
    return (LOG_2 - log(sigma)) + weighted(c - 1, y) - 2 * log1p_unit(exp(-y));
}

__device__ real generalized_half_logistic_logcdf(real x, real c, real sigma)
{
    return half_logistic_logcdf(transformed(x, c, sigma), 1);
}

__device__ real generalized_half_logistic_logsf(real x, real c, real sigma)
{
    return half_logistic_logsf(transformed(x, c, sigma), 1);
}

__device__ real generalized_half_logistic_ppf(real q, real c, real sigma)
{
    return sigma * expm1_quotient(-c, half_logistic_ppf(q, 1));
}

__device__ real generalized_half_logistic_isf(real q, real c, real sigma)
{
    return sigma * expm1_quotient(-c, half_logistic_isf(q, 1));
}

__device__ real generalized_half_logistic_sample(rng_t *rng, real c, real sigma)
{
    return sigma * expm1_quotient(-c, half_logistic_sample(rng, 1));
}

__device__ real generalized_half_logistic_entropy(real c, real sigma) { return log(sigma) + 2 - (2 * c + 1) * LOG_2; }
