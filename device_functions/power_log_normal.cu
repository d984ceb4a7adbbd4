// power_log_normal: a power of the log-normal survival function
// used for: lifetimes of parts that fail when the first of several weak points does
// x: nonnegative    p: positive, exponent    mu: real, location of log(x)    sigma: positive, scale of log(x)
// density: p / (x * sigma) * phi(z) * Phi(-z)**(p - 1)    z = (log(x) - mu) / sigma
// source: Nelson & Doganaksoy (1995), Statistical analysis of life or strength data from specimens of various sizes
__device__ real power_log_normal_logpdf(real x, real p, real mu, real sigma)
{
    return x == 0 || isinf(x) ? -INFINITY : power_normal_logpdf(log(x), p, mu, sigma) - log(x);
}

__device__ real power_log_normal_logsf(real x, real p, real mu, real sigma)
{
    return power_normal_logsf(log(x), p, mu, sigma);
}

__device__ real power_log_normal_logcdf(real x, real p, real mu, real sigma)
{
    return power_normal_logcdf(log(x), p, mu, sigma);
}

__device__ real power_log_normal_ppf(real q, real p, real mu, real sigma) { return exp(power_normal_ppf(q, p, mu, sigma)); }
__device__ real power_log_normal_isf(real q, real p, real mu, real sigma) { return exp(power_normal_isf(q, p, mu, sigma)); }

__device__ real power_log_normal_sample(rng_t *rng, real p, real mu, real sigma)
{
    return exp(power_normal_sample(rng, p, mu, sigma));
}
