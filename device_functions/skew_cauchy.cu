// skew_cauchy: Cauchy distribution with a different scale on each side, sigma (1 - a) and sigma (1 + a)
// used for: data with wild outliers, more of them on one side
// x: real    a: real, between -1 and 1, asymmetry    mu: real, mode    sigma: positive, scale
// density: 1 / (pi * sigma * (1 + (z / s)**2))    z = (x - mu) / sigma    s = 1 - a if z < 0 else 1 + a
// source: Arellano-Valle, Gómez & Quintana (2005), Statistical inference for a general class of asymmetric distributions
__device__ real skew_cauchy_logpdf(real x, real a, real mu, real sigma)
{
    if (!(fabs(a) < 1)) return NAN;
    real z = (x - mu) * (1 / sigma);
    return -(LOG_PI + log(sigma)) - log1p_square(z / (z < 0 ? 1 - a : 1 + a));
}

__device__ real skew_cauchy_logpdf_grad_sigma(real x, real a, real mu, real sigma)
{
    if (!(fabs(a) < 1)) return NAN;
    real y = (x - mu) * (1 / sigma) / (x < mu ? 1 - a : 1 + a);
    return (1 - 2 / (1 + y * y)) * (1 / sigma);
}

__device__ real skew_cauchy_logcdf(real x, real a, real mu, real sigma)
{
    if (!(fabs(a) < 1)) return NAN;
    real z = (x - mu) * (1 / sigma), below = 1 - a, above = 1 + a;
    return z < 0 ? log(below) + log_arc(mu - x, sigma * below) - LOG_PI : log1p(-above * atan2(above, z) / PI);
}

__device__ real skew_cauchy_logsf(real x, real a, real mu, real sigma)
{
    return skew_cauchy_logcdf(-x, -a, -mu, sigma);
}

__device__ real skew_cauchy_ppf(real q, real a, real mu, real sigma)
{
    real below = 1 - a, above = 1 + a;
    return mu + sigma * (2 * q < below ? below * cauchy_ppf(q / below, 0, 1) : above * cauchy_isf((1 - q) / above, 0, 1));
}

__device__ real skew_cauchy_isf(real q, real a, real mu, real sigma)
{
    return -skew_cauchy_ppf(q, -a, -mu, sigma);
}

__device__ real skew_cauchy_sample(rng_t *rng, real a, real mu, real sigma)
{
    if (!(fabs(a) < 1)) return NAN;
    return skew_cauchy_ppf(uniform(rng), a, mu, sigma);
}

__device__ real skew_cauchy_mean(real a, real mu, real sigma) { return NAN; }
__device__ real skew_cauchy_var(real a, real mu, real sigma) { return NAN; }
__device__ real skew_cauchy_skewness(real a, real mu, real sigma) { return NAN; }
__device__ real skew_cauchy_kurtosis(real a, real mu, real sigma) { return NAN; }
__device__ real skew_cauchy_entropy(real a, real mu, real sigma) { return log(4 * PI * sigma); }
__device__ real skew_cauchy_mode(real a, real mu, real sigma) { return mu; }
