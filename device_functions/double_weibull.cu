// double_weibull: the double Weibull distribution: |x - mu| is a Weibull variable
// used for: symmetric errors with a free shape of peak and tails
// x: real    alpha: positive, shape    mu: real, location    sigma: positive, scale
// density: alpha / (2 * sigma) * abs(z)**(alpha - 1) * exp(-abs(z)**alpha)    z = (x - mu) / sigma
// source: Balakrishnan & Kocherlakota (1985), On the double Weibull distribution
__device__ real double_weibull_logpdf(real x, real alpha, real mu, real sigma)
{
    return weibull_logpdf(fabs(x - mu), alpha, sigma) - LOG_2;
}

__device__ real double_weibull_logcdf(real x, real alpha, real mu, real sigma)
{
    real tail = x == mu ? 0 : weibull_logsf(fabs(x - mu), alpha, sigma);
    return x < mu ? tail - LOG_2 : log1p(-0.5 * exp(tail));
}

__device__ real double_weibull_logsf(real x, real alpha, real mu, real sigma)
{
    return double_weibull_logcdf(-x, alpha, -mu, sigma);
}

__device__ real double_weibull_ppf(real q, real alpha, real mu, real sigma)
{
    return q < 0.5 ? mu - weibull_isf(2 * q, alpha, sigma) : mu + weibull_isf(2 * (1 - q), alpha, sigma);
}

__device__ real double_weibull_isf(real q, real alpha, real mu, real sigma)
{
    return -double_weibull_ppf(q, alpha, -mu, sigma);
}

__device__ real double_weibull_sample(rng_t *rng, real alpha, real mu, real sigma)
{
    return double_weibull_ppf(uniform(rng), alpha, mu, sigma);
}

__device__ real double_weibull_mean(real alpha, real mu, real sigma) { return mu; }
__device__ real double_weibull_var(real alpha, real mu, real sigma) { return sigma * sigma * exp(log_gamma(1 + 2 / alpha)); }
__device__ real double_weibull_skewness(real alpha, real mu, real sigma) { return 0; }

__device__ real double_weibull_kurtosis(real alpha, real mu, real sigma)
{
    return exp(log_gamma(1 + 4 / alpha) - 2 * log_gamma(1 + 2 / alpha)) - 3;
}

__device__ real double_weibull_entropy(real alpha, real mu, real sigma) { return weibull_entropy(alpha, sigma) + LOG_2; }
__device__ real double_weibull_median(real alpha, real mu, real sigma) { return mu; }
