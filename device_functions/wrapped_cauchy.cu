// wrapped_cauchy: the wrapped Cauchy distribution of an angle, in radians; periodic in x
// used for: directions with a sharp peak and heavy tails
// x: real    mu: real, mean direction, or the opposite one where rho is negative
// rho: real, between -1 and 1, mean resultant length
// density: (1 - rho**2) / (2 * pi * (1 + rho**2 - 2 * rho * cos(x - mu)))
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
__device__ real wrapped_cauchy_logpdf(real x, real mu, real rho)
{
    if (!(fabs(rho) < 1)) return NAN;
    if (isinf(x)) return -INFINITY;
    // 1 + rho^2 - 2 rho cos(x - mu), of which nothing cancels near the peak
    real r = fabs(rho), half = 0.5 * (x - mu), s = rho < 0 ? cos(half) : sin(half);
    return (log((1 - r) * (1 + r)) - LOG_2PI) - log((1 - r) * (1 - r) + 4 * r * s * s);
}

// The distribution on the circle that is cut opposite to mu, from mu - pi to mu + pi: tan((x - mu) / 2) is a Cauchy variable.
__device__ real wrapped_cauchy_logcdf(real x, real mu, real rho)
{
    if (!(fabs(rho) < 1)) return NAN;
    real half = 0.5 * (x - mu);
    if (fabs(half) >= PI / 2) return half < 0 ? -INFINITY : 0;
    real s = half < 0 ? -sin(half) : sin(half), tail = atan2((1 - rho) * cos(half), (1 + rho) * s) / PI;
    return half < 0 ? log(tail) : log1p(-tail);
}

__device__ real wrapped_cauchy_logsf(real x, real mu, real rho)
{
    return wrapped_cauchy_logcdf(-x, -mu, rho);
}

__device__ real wrapped_cauchy_ppf(real q, real mu, real rho)
{
    return mu + 2 * atan(cauchy_ppf(q, 0, (1 - rho) / (1 + rho)));
}

__device__ real wrapped_cauchy_isf(real q, real mu, real rho)
{
    return -wrapped_cauchy_ppf(q, -mu, rho);
}

__device__ real wrapped_cauchy_sample(rng_t *rng, real mu, real rho)
{
    if (!(fabs(rho) < 1)) return NAN;
    return wrapped_cauchy_ppf(uniform(rng), mu, rho);
}

__device__ real wrapped_cauchy_mean(real mu, real rho) { return mu; }
__device__ real wrapped_cauchy_skewness(real mu, real rho) { return 0; }
__device__ real wrapped_cauchy_entropy(real mu, real rho) { return LOG_2PI + log((1 - rho) * (1 + rho)); }
__device__ real wrapped_cauchy_median(real mu, real rho) { return mu; }
__device__ real wrapped_cauchy_mode(real mu, real rho) { return rho < 0 ? mu + PI : mu; }
__device__ real wrapped_cauchy_lower(real mu, real rho) { return mu - PI; }
__device__ real wrapped_cauchy_upper(real mu, real rho) { return mu + PI; }
