// power_normal: the power normal distribution, of survival function Phi(-(x - mu) / sigma)^p: the smallest of p normal variables
// used for: the smallest of several normal variables, and strengths of materials
// x: real    p: positive, power    mu: real, location    sigma: positive, scale
// density: p / sigma * phi(z) * Phi(-z)**(p - 1)    z = (x - mu) / sigma
// source: Nelson & Doganaksoy (1995), Statistical analysis of life or strength data from specimens of various sizes
__device__ real power_normal_logpdf(real x, real p, real mu, real sigma)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - mu) * (1 / sigma), tail = log_ndtr(-z);
    real log_hazard = z > 0 ? -log(0.5 * scaled_erfc(fmax(z, (real)0) / SQRT_2)) : -0.5 * z * z - tail;
    return (log(p / sigma) - HALF_LOG_2PI) + p * tail + log_hazard;
}

__device__ real power_normal_logsf(real x, real p, real mu, real sigma)
{
    return p * log_ndtr((mu - x) * (1 / sigma));
}

// -log(-log of the survival function) has a standard Gumbel distribution; far in the tail -log_ndtr underflows.
__device__ real power_normal_logcdf(real x, real p, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), below = log_ndtr(z);
    return gumbel_logsf(-log(p) - (below < log(EPSILON) ? below : log(-log_ndtr(-z))), 0, 1);
}

// Where the survival function is exp(-h). Of a small h / p, which may underflow, it is 1 less h / p.
__device__ real quantile(real h, real p, real mu, real sigma)
{
    real y = h / p;
    return mu + sigma * (y < EPSILON * EPSILON ? ndtri_exp(log_quotient(h, p)) : -ndtri_exp(-y));
}

__device__ real power_normal_ppf(real q, real p, real mu, real sigma) { return quantile(-log1p(-q), p, mu, sigma); }
__device__ real power_normal_isf(real q, real p, real mu, real sigma) { return quantile(-log(q), p, mu, sigma); }

__device__ real power_normal_sample(rng_t *rng, real p, real mu, real sigma)
{
    return quantile(exponential(rng), p, mu, sigma);
}
