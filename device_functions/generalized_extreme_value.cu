// generalized_extreme_value: the generalized extreme value distribution of maxima, Gumbel's where xi = 0
// used for: yearly maxima: floods, heat, wind, losses
// x: real    mu: real, location    sigma: positive, scale    xi: real, shape; positive for heavy tails
// density: t**(xi + 1) * exp(-t) / sigma if 1 + xi * z > 0 else 0    z = (x - mu) / sigma
// t = exp(-z) if xi == 0 else (1 + xi * z)**(-1 / xi)
// source: Coles (2001), An Introduction to Statistical Modeling of Extreme Values, ch. 3

// The standard Gumbel variable that x is a function of; infinite outside of the support.
__device__ real reduced(real x, real mu, real sigma, real xi)
{
    real d = x - mu, z = d * (1 / sigma);
    if (isinf(xi == 0 ? z : d)) return z;
    real w = log1p_over(d, sigma, xi);
    return xi * z <= -1 || isnan(w) ? (xi > 0 ? -INFINITY : INFINITY) : w;  // nan where x has been rounded to beyond the end
}

__device__ real generalized_extreme_value_logpdf(real x, real mu, real sigma, real xi)
{
    real d = x - mu, z = d * (1 / sigma);
    if (isinf(xi == 0 ? z : d) || (xi > 0 ? xi * z <= -1 : xi * z < -1)) return -INFINITY;
    real w = log1p_over(d, sigma, xi);
    if (isnan(w)) return -INFINITY;  // x has been rounded to beyond the end
    if (isinf(w)) return -log(sigma) - weighted(1 + xi, w);
    return log_gumbel_density(w) - log(sigma) - xi * w;
}

__device__ real generalized_extreme_value_logcdf(real x, real mu, real sigma, real xi)
{
    return gumbel_logcdf(reduced(x, mu, sigma, xi), 0, 1);
}

__device__ real generalized_extreme_value_logsf(real x, real mu, real sigma, real xi)
{
    return gumbel_logsf(reduced(x, mu, sigma, xi), 0, 1);
}

__device__ real generalized_extreme_value_sample(rng_t *rng, real mu, real sigma, real xi)
{
    return mu + expm1_over(-log(-log1p(-uniform(rng))), sigma, xi);
}

__device__ real generalized_extreme_value_ppf(real q, real mu, real sigma, real xi)
{
    return mu + expm1_over(-log(-log(q)), sigma, xi);
}

__device__ real generalized_extreme_value_isf(real q, real mu, real sigma, real xi)
{
    return mu + expm1_over(-log(-log1p(-q)), sigma, xi);
}

// log Gamma(1 - t) without the rounding error of 1 - t, t < 1
__device__ real log_gamma_below(real t)
{
    return t > -1 ? log_gamma_near_two(-t) - log1p(-t) : log_gamma(1 - t);
}

__device__ real generalized_extreme_value_mean(real mu, real sigma, real xi)
{
    if (xi >= 1) return INFINITY;
    return mu + sigma * (xi == 0 ? EULER_GAMMA : expm1(log_gamma_below(xi)) / xi);
}

// Near xi = 0 the logarithm of the second moment over the squared first one is a power series.
__device__ real generalized_extreme_value_var(real mu, real sigma, real xi)
{
    if (xi >= 0.5) return INFINITY;
    real one = log_gamma_below(xi), log_ratio = log_gamma_below(2 * xi) - 2 * one;
    if (fabs(xi) < (EPSILON < 1e-10 ? 1e-3 : 1e-2))
        return sigma * sigma * exp(2 * one)
             * (PI * PI / 6 + xi * (2.404113806319188571 + xi * (5.141012966377756 + xi * 11.58)));
    return sigma * sigma * exp(2 * one) * expm1(log_ratio) / (xi * xi);
}

__device__ real generalized_extreme_value_entropy(real mu, real sigma, real xi)
{
    return log(sigma) + EULER_GAMMA * (1 + xi) + 1;
}

__device__ real generalized_extreme_value_mode(real mu, real sigma, real xi)
{
    return xi > -1 ? mu + sigma * expm1_quotient(xi, -log1p(xi)) : mu - sigma / xi;
}

__device__ real generalized_extreme_value_lower(real mu, real sigma, real xi) { return xi > 0 ? mu - sigma / xi : -INFINITY; }
__device__ real generalized_extreme_value_upper(real mu, real sigma, real xi) { return xi < 0 ? mu - sigma / xi : INFINITY; }
