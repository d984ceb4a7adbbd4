// log_normal: the logarithm of x is normal
// used for: products of many small factors: incomes, sizes of particles, concentrations
// x: nonnegative    mu: real, mean of log(x)    sigma: positive, standard deviation of log(x)
// density: exp(-(log(x) - mu)**2 / (2 * sigma**2)) / (x * sigma * sqrt(2 * pi))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 14
__device__ real log_normal_logpdf(real x, real mu, real sigma)
{
    if (x == 0) return -INFINITY;
    real z = (log(x) - mu) * (1 / sigma);
    return -(log(sigma) + HALF_LOG_2PI) - log(x) - 0.5 * z * z;
}

__device__ real log_normal_logcdf(real x, real mu, real sigma)
{
    return log_ndtr((log(x) - mu) * (1 / sigma));
}

__device__ real log_normal_logsf(real x, real mu, real sigma)
{
    return log_ndtr((mu - log(x)) * (1 / sigma));
}

__device__ real log_normal_ppf(real q, real mu, real sigma) { return exp(mu + sigma * ndtri(q)); }
__device__ real log_normal_isf(real q, real mu, real sigma) { return exp(mu - sigma * ndtri(q)); }

__device__ real log_normal_sample(rng_t *rng, real mu, real sigma)
{
    return exp(mu + sigma * normal(rng));
}

__device__ real log_normal_mean(real mu, real sigma) { return exp(mu + 0.5 * sigma * sigma); }
__device__ real log_normal_var(real mu, real sigma) { return expm1(sigma * sigma) * exp(2 * mu + sigma * sigma); }

__device__ real log_normal_skewness(real mu, real sigma)
{
    return (exp(sigma * sigma) + 2) * sqrt(expm1(sigma * sigma));
}

__device__ real log_normal_kurtosis(real mu, real sigma)
{
    real square = sigma * sigma;
    return expm1(4 * square) + 2 * expm1(3 * square) + 3 * expm1(2 * square);
}

__device__ real log_normal_entropy(real mu, real sigma) { return mu + log(sigma) + (0.5 + HALF_LOG_2PI); }
__device__ real log_normal_mode(real mu, real sigma) { return exp(mu - sigma * sigma); }
