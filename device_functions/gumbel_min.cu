// gumbel_min: the Gumbel distribution of minima, the logarithm of a Weibull variable
// used for: smallest values with light tails, and logarithms of Weibull lifetimes
// x: real    mu: real, location    beta: positive, scale
// density: exp(z - exp(z)) / beta    z = (x - mu) / beta
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real gumbel_min_logpdf(real x, real mu, real beta)
{
    return gumbel_logpdf(-x, -mu, beta);
}

__device__ real gumbel_min_logcdf(real x, real mu, real beta)
{
    return gumbel_logsf(-x, -mu, beta);
}

__device__ real gumbel_min_logsf(real x, real mu, real beta)
{
    return gumbel_logcdf(-x, -mu, beta);
}

__device__ real gumbel_min_sample(rng_t *rng, real mu, real beta)
{
    return mu + beta * log(-log1p(-uniform(rng)));
}

__device__ real gumbel_min_ppf(real q, real mu, real beta) { return -gumbel_isf(q, -mu, beta); }
__device__ real gumbel_min_isf(real q, real mu, real beta) { return -gumbel_ppf(q, -mu, beta); }
__device__ real gumbel_min_mean(real mu, real beta) { return -gumbel_mean(-mu, beta); }
__device__ real gumbel_min_var(real mu, real beta) { return gumbel_var(mu, beta); }
__device__ real gumbel_min_skewness(real mu, real beta) { return -gumbel_skewness(mu, beta); }
__device__ real gumbel_min_kurtosis(real mu, real beta) { return gumbel_kurtosis(mu, beta); }
__device__ real gumbel_min_entropy(real mu, real beta) { return gumbel_entropy(mu, beta); }
__device__ real gumbel_min_mode(real mu, real beta) { return mu; }
