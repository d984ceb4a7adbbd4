// logistic: the logistic distribution
// used for: growth curves, and errors with tails somewhat heavier than normal ones
// x: real    mu: real, mean    s: positive, scale
// density: exp(-z) / (s * (1 + exp(-z))**2)    z = (x - mu) / s
// source: Johnson, Kotz & Balakrishnan (1995), ch. 23
__device__ real logistic_logpdf(real x, real mu, real s)
{
    if (isinf(x)) return -INFINITY;
    return -log(s) - 2 * log_2cosh((x - mu) * (0.5 / s));
}

__device__ real logistic_logcdf(real x, real mu, real s)
{
    return log_expit((x - mu) * (1 / s));
}

__device__ real logistic_logsf(real x, real mu, real s)
{
    return log_expit((mu - x) * (1 / s));
}

__device__ real logistic_sample(rng_t *rng, real mu, real s)
{
    return mu + s * logit(uniform(rng));
}

__device__ real logistic_ppf(real q, real mu, real s) { return mu + s * logit(q); }
__device__ real logistic_isf(real q, real mu, real s) { return mu - s * logit(q); }
__device__ real logistic_mean(real mu, real s) { return mu; }
__device__ real logistic_var(real mu, real s) { return PI * PI / 3 * s * s; }
__device__ real logistic_skewness(real mu, real s) { return 0; }
__device__ real logistic_kurtosis(real mu, real s) { return 1.2; }
__device__ real logistic_entropy(real mu, real s) { return log(s) + 2; }
__device__ real logistic_mode(real mu, real s) { return mu; }
