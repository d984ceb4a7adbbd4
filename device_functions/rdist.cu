// rdist: the distribution of a coordinate of a point on a sphere, and of correlations where there are none
// used for: sample correlations of unrelated variables, and coordinates of random directions
// x: real, between -1 and 1    c: positive, shape: the dimension minus 1
// density: (1 - x**2)**(c / 2 - 1) / B(1 / 2, c / 2) if -1 <= x <= 1 else 0
// source: Johnson, Kotz & Balakrishnan (1995), ch. 32
__device__ real rdist_logpdf(real x, real c)
{
    if (fabs(x) > 1) return -INFINITY;
    real log_square = fabs(x) < 0.5 ? log1p(-x * x) : log((1 - x) * (1 + x));
    real power = 0.5 * c - 1;
    return (fabs(x) == 1 ? log_power_at_zero(power, 0) : power * log_square) - lbeta(0.5, 0.5 * c);
}

// 1 - x^2 is a beta variable.
__device__ real rdist_logcdf(real x, real c)
{
    if (fabs(x) >= 1) return x < 0 ? -INFINITY : 0;
    real tail = log_beta_p(0.5 * c, 0.5, (1 - x) * (1 + x), x * x) - LOG_2;
    return x < 0 ? tail : log1p(-exp(tail));
}

__device__ real rdist_logsf(real x, real c)
{
    return rdist_logcdf(-x, c);
}

__device__ real rdist_ppf(real q, real c)
{
    real tail = fmin(q, 1 - q), x = sqrt(expit(beta_quantile_logit(0.5, 0.5 * c, 1 - 2 * tail, 2 * tail)));
    return q < 0.5 ? -x : x;
}

__device__ real rdist_isf(real q, real c)
{
    return -rdist_ppf(q, c);
}

__device__ real rdist_sample(rng_t *rng, real c)
{
    real side = uniform(rng), x = sqrt(beta_sample(rng, 0.5, 0.5 * c));
    return side < 0.5 ? -x : x;
}

__device__ real rdist_mean(real c) { return 0; }
__device__ real rdist_var(real c) { return 1 / (c + 1); }
__device__ real rdist_skewness(real c) { return 0; }
__device__ real rdist_kurtosis(real c) { return -6 / (c + 3); }
__device__ real rdist_entropy(real c) { return lbeta(0.5, 0.5 * c) - (0.5 * c - 1) * lbeta_derivative(0.5 * c, 0.5); }
__device__ real rdist_median(real c) { return 0; }
__device__ real rdist_mode(real c) { return c < 2 ? NAN : 0; }  // infinite at both ends
__device__ real rdist_lower(real c) { return -1; }
__device__ real rdist_upper(real c) { return 1; }
