// hyperbolic_secant: the hyperbolic secant distribution, of density 1 / (pi sigma cosh((x - mu) / sigma))
// used for: errors and returns with tails between normal and Laplace ones
// x: real    mu: real, location    sigma: positive, scale
// density: 1 / (pi * sigma * cosh((x - mu) / sigma))
// source: Johnson, Kotz & Balakrishnan (1995), ch. 23
__device__ real hyperbolic_secant_logpdf(real x, real mu, real sigma)
{
    return (LOG_2 - LOG_PI - log(sigma)) - log_2cosh((x - mu) * (1 / sigma));
}

// Where atan(e) = e to all digits, e may underflow.
__device__ real hyperbolic_secant_logcdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), e = exp(-fabs(z));
    return z > 0 ? log1p(-2 / PI * atan(e)) : LOG_2 - LOG_PI + (e * e < EPSILON ? z : log(atan(e)));
}

__device__ real hyperbolic_secant_logsf(real x, real mu, real sigma)
{
    return hyperbolic_secant_logcdf(-x, -mu, sigma);
}

__device__ real hyperbolic_secant_ppf(real q, real mu, real sigma)
{
    return q < 0.5 ? mu + sigma * log(tan(0.5 * PI * q)) : mu - sigma * log(tan(0.5 * PI * (1 - q)));
}

__device__ real hyperbolic_secant_isf(real q, real mu, real sigma)
{
    return -hyperbolic_secant_ppf(q, -mu, sigma);
}

__device__ real hyperbolic_secant_sample(rng_t *rng, real mu, real sigma)
{
    return hyperbolic_secant_ppf(uniform(rng), mu, sigma);
}

__device__ real hyperbolic_secant_mean(real mu, real sigma) { return mu; }
__device__ real hyperbolic_secant_var(real mu, real sigma) { return PI * PI / 4 * sigma * sigma; }
__device__ real hyperbolic_secant_skewness(real mu, real sigma) { return 0; }
__device__ real hyperbolic_secant_kurtosis(real mu, real sigma) { return 2; }
__device__ real hyperbolic_secant_entropy(real mu, real sigma) { return LOG_2PI + log(sigma); }
__device__ real hyperbolic_secant_median(real mu, real sigma) { return mu; }
__device__ real hyperbolic_secant_mode(real mu, real sigma) { return mu; }
