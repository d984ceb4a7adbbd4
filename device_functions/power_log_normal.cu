// power_log_normal: a power of the log-normal survival function
// x: nonnegative    p: positive, exponent    mu: real, location of log(x)    sigma: positive, scale of log(x)
// density: p / (x * sigma) * phi(z) * Phi(-z)**(p - 1)    z = (log(x) - mu) / sigma
// source: Nelson & Doganaksoy (1995), Statistical analysis of life or strength data from specimens of various sizes
__device__ real power_log_normal_logpdf(real x, real p, real mu, real sigma)
{
    real z = (log(x) - mu) * (1 / sigma);
    real value = (log(p) - log(sigma) - HALF_LOG_2PI) - log(x) - 0.5 * z * z + (p - 1) * log_ndtr(-z);
    return x == 0 || isinf(x) ? -INFINITY : value;
}

__device__ real power_log_normal_logsf(real x, real p, real mu, real sigma)
{
    return p * log_ndtr((mu - log(x)) * (1 / sigma));
}

// -log(-log of the survival function) has a standard Gumbel distribution.
__device__ real power_log_normal_logcdf(real x, real p, real mu, real sigma)
{
    real z = (log(x) - mu) * (1 / sigma);
    real log_minus_log = z < 0 ? log_minus_log1mexp(log_ndtr(z)) : log(-log_ndtr(-z));
    return gumbel_logsf(-log(p) - log_minus_log, 0, 1);
}

// Where the survival function is exp(-h)
__device__ real quantile(real h, real p, real mu, real sigma) { return exp(mu - sigma * ndtri_exp(-h / p)); }

__device__ real power_log_normal_ppf(real q, real p, real mu, real sigma) { return quantile(-log1p(-q), p, mu, sigma); }
__device__ real power_log_normal_isf(real q, real p, real mu, real sigma) { return quantile(-log(q), p, mu, sigma); }

__device__ real power_log_normal_sample(rng_t *rng, real p, real mu, real sigma)
{
    return quantile(exponential(rng), p, mu, sigma);
}
