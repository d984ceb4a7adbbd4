// alpha: the alpha distribution, of the inverse of a normal variable that is known to be positive
// used for: lifetimes of tools that wear at a normal rate
// x: nonnegative    a: positive, mean of the normal variable over its standard deviation    sigma: positive, scale
// density: sigma * phi(a - sigma / x) / (x**2 * Phi(a))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 15

// a - sigma / x, in which nothing cancels and nothing overflows
__device__ real difference(real x, real a, real sigma)
{
    return x > sigma / EPSILON ? a - sigma / x : fma(a, x, -sigma) / x;
}

__device__ real alpha_logpdf(real x, real a, real sigma)
{
    real normal = difference(x, a, sigma);
    if (x == 0 || isinf(x)) return -INFINITY;
    return -(log(sigma) + HALF_LOG_2PI + log_ndtr(a)) - 2 * log_quotient(x, sigma) - 0.5 * normal * normal;
}

__device__ real alpha_logcdf(real x, real a, real sigma)
{
    return x == 0 ? -INFINITY : isinf(x) ? 0 : log_ndtr(difference(x, a, sigma)) - log_ndtr(a);
}

__device__ real alpha_logsf(real x, real a, real sigma)
{
    if (x == 0) return 0;
    if (x * EPSILON > sigma * (1 + a)) return log_quotient(sigma, x) - (0.5 * a * a + HALF_LOG_2PI) - log_ndtr(a);
    real width = sigma / x, below = difference(x, a, sigma), mode = fmax(below, (real)0);
    return log(normal_integral(below, a, width)) - (0.5 * mode * mode + HALF_LOG_2PI) - log_ndtr(a);
}

__device__ real alpha_sample(rng_t *rng, real a, real sigma)
{
    return sigma / (a - truncated_normal_sample(rng, 0, 1, -INFINITY, a));
}

__device__ real alpha_mean(real a, real sigma) { return INFINITY; }
__device__ real alpha_var(real a, real sigma) { return INFINITY; }
__device__ real alpha_skewness(real a, real sigma) { return NAN; }
__device__ real alpha_kurtosis(real a, real sigma) { return NAN; }
__device__ real alpha_mode(real a, real sigma) { return 2 * sigma / (a + hypot(a, 2 * SQRT_2)); }
