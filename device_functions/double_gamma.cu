// double_gamma: the double gamma distribution: |x - mu| is a gamma variable
// used for: symmetric errors that may avoid, or pile up at, the centre
// x: real    alpha: positive, shape    mu: real, location    sigma: positive, scale
// density: abs(z)**(alpha - 1) * exp(-abs(z)) / (2 * sigma * Gamma(alpha))    z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1994), ch. 17
__device__ real double_gamma_logpdf(real x, real alpha, real mu, real sigma)
{
    return gamma_logpdf(fabs(x - mu), alpha, 1 / sigma) - LOG_2;
}

__device__ real double_gamma_logcdf(real x, real alpha, real mu, real sigma)
{
    real tail = log_gamma_q(alpha, fabs(x - mu) * (1 / sigma)) - LOG_2;
    return x < mu ? tail : log1p(-exp(tail));
}

__device__ real double_gamma_logsf(real x, real alpha, real mu, real sigma)
{
    return double_gamma_logcdf(-x, alpha, -mu, sigma);
}

__device__ real double_gamma_ppf(real q, real alpha, real mu, real sigma)
{
    real tail = fmin(q, 1 - q), distance = gamma_quantile_power(alpha, 1 - 2 * tail, 2 * tail, 1, sigma);
    return q < 0.5 ? mu - distance : mu + distance;
}

__device__ real double_gamma_isf(real q, real alpha, real mu, real sigma)
{
    return -double_gamma_ppf(q, alpha, -mu, sigma);
}

__device__ real double_gamma_sample(rng_t *rng, real alpha, real mu, real sigma)
{
    real side = uniform(rng), z = gamma_sample(rng, alpha, 1);
    return side < 0.5 ? mu - sigma * z : mu + sigma * z;
}

__device__ real double_gamma_mean(real alpha, real mu, real sigma) { return mu; }
__device__ real double_gamma_var(real alpha, real mu, real sigma) { return sigma * sigma * alpha * (alpha + 1); }
__device__ real double_gamma_skewness(real alpha, real mu, real sigma) { return 0; }

__device__ real double_gamma_kurtosis(real alpha, real mu, real sigma)
{
    return (alpha + 2) * (alpha + 3) / (alpha * (alpha + 1)) - 3;
}

__device__ real double_gamma_entropy(real alpha, real mu, real sigma) { return gamma_entropy(alpha, 1 / sigma) + LOG_2; }
__device__ real double_gamma_median(real alpha, real mu, real sigma) { return mu; }
