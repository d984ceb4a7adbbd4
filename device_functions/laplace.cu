// laplace: the Laplace (double exponential) distribution
// used for: errors with a sharp peak and heavy tails, regression by absolute deviations, and as a prior that shrinks to 0
// x: real    mu: real, location    b: positive, scale
// density: exp(-abs(x - mu) / b) / (2 * b)
// source: Johnson, Kotz & Balakrishnan (1995), ch. 24
__device__ real laplace_logpdf(real x, real mu, real b)
{
    return -log(2 * b) - fabs(x - mu) * (1 / b);
}

__device__ real laplace_logcdf(real x, real mu, real b)
{
    real z = (x - mu) * (1 / b);
    return z < 0 ? z - LOG_2 : log1p(-0.5 * exp(-z));
}

__device__ real laplace_logsf(real x, real mu, real b)
{
    return laplace_logcdf(-x, -mu, b);
}

__device__ real laplace_sample(rng_t *rng, real mu, real b)
{
    real u = uniform(rng);
    return mu + (u < 0.5 ? b * log(2 * u) : -b * log(2 * (1 - u)));
}

__device__ real laplace_ppf(real q, real mu, real b)
{
    return q < 0.5 ? mu + b * log(2 * q) : mu - b * log(2 * (1 - q));
}

__device__ real laplace_isf(real q, real mu, real b)
{
    return q < 0.5 ? mu - b * log(2 * q) : mu + b * log(2 * (1 - q));
}

__device__ real laplace_mean(real mu, real b) { return mu; }
__device__ real laplace_var(real mu, real b) { return 2 * b * b; }
__device__ real laplace_skewness(real mu, real b) { return 0; }
__device__ real laplace_kurtosis(real mu, real b) { return 3; }
__device__ real laplace_entropy(real mu, real b) { return 1 + log(2 * b); }
__device__ real laplace_mode(real mu, real b) { return mu; }
