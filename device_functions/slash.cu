// slash: the slash distribution, of the ratio of a normal variable and an independent one that is uniform on [0, 1]
// used for: trials of robust methods, with tails as heavy as Cauchy's
// x: real    mu: real, location    sigma: positive, scale
// density: (1 - exp(-z**2 / 2)) / (sigma * sqrt(2 * pi) * z**2) if z != 0 else 1 / (2 * sigma * sqrt(2 * pi))
// z = (x - mu) / sigma
// source: Rogers & Tukey (1972), Understanding some long-tailed symmetrical distributions
__device__ real slash_logpdf(real x, real mu, real sigma)
{
    real z = fabs((x - mu) * (1 / sigma)), value = log(relative_expm1(-0.5 * z * z)) - LOG_2;
    return -(log(sigma) + HALF_LOG_2PI) + (z * EPSILON > 1 ? -2 * log_quotient(fabs(x - mu), sigma) : value);  // where z^2 may overflow
}

// P(X > x) is the mean of P(Z > z u) over u, a sum of two positive terms where z > 0.
__device__ real slash_logsf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), w = fabs(z), exponent = -0.5 * w * w;
    real share = w > 1 ? -expm1(exponent) / w : 0.5 * w * relative_expm1(exponent);
    real tail = 0.5 * (scaled_erfc(w / SQRT_2) * exp(exponent) + SQRT_2_OVER_PI * share);
    return z > 0 ? log(tail) : log1p(-tail);
}

__device__ real slash_logcdf(real x, real mu, real sigma)
{
    return slash_logsf(-x, -mu, sigma);
}

__device__ real slash_sample(rng_t *rng, real mu, real sigma)
{
    real z = normal(rng), u = uniform(rng);
    return mu + sigma * (z / u);
}

__device__ real slash_mean(real mu, real sigma) { return NAN; }
__device__ real slash_var(real mu, real sigma) { return NAN; }
__device__ real slash_skewness(real mu, real sigma) { return NAN; }
__device__ real slash_kurtosis(real mu, real sigma) { return NAN; }
__device__ real slash_median(real mu, real sigma) { return mu; }
__device__ real slash_mode(real mu, real sigma) { return mu; }
