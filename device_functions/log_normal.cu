// log_normal: the logarithm of x is normal
// x: nonnegative    mu: real, mean of log(x)    sigma: positive, standard deviation of log(x)
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

__device__ real log_normal_sample(rng_t *rng, real mu, real sigma)
{
    return exp(mu + sigma * normal(rng));
}
