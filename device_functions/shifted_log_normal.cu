// shifted_log_normal: the logarithm of x - shift is normal, as that of reaction times is
// used for: response times, which cannot be shorter than some value
// x: real    mu: real, mean of log(x - shift)    sigma: positive, standard deviation of log(x - shift)
// shift: real, lower end of the support, as of what comes before a decision
// density: exp(-(log(x - shift) - mu)**2 / (2 * sigma**2)) / ((x - shift) * sigma * sqrt(2 * pi)) if x > shift else 0
// source: Johnson, Kotz & Balakrishnan (1994), ch. 14
__device__ real shifted_log_normal_logpdf(real x, real mu, real sigma, real shift)
{
    if (isinf(shift)) return NAN;
    return x > shift && !isinf(x) ? log_normal_logpdf(x - shift, mu, sigma) : -INFINITY;
}

__device__ real shifted_log_normal_logcdf(real x, real mu, real sigma, real shift)
{
    if (isinf(shift)) return NAN;
    return x > shift ? log_normal_logcdf(x - shift, mu, sigma) : -INFINITY;
}

__device__ real shifted_log_normal_logsf(real x, real mu, real sigma, real shift)
{
    if (isinf(shift)) return NAN;
    return x > shift ? log_normal_logsf(x - shift, mu, sigma) : 0;
}

__device__ real shifted_log_normal_ppf(real q, real mu, real sigma, real shift) { return shift + log_normal_ppf(q, mu, sigma); }
__device__ real shifted_log_normal_isf(real q, real mu, real sigma, real shift) { return shift + log_normal_isf(q, mu, sigma); }

__device__ real shifted_log_normal_sample(rng_t *rng, real mu, real sigma, real shift)
{
    return shift + exp(mu + sigma * normal(rng));
}

__device__ real shifted_log_normal_mean(real mu, real sigma, real shift) { return shift + log_normal_mean(mu, sigma); }
__device__ real shifted_log_normal_var(real mu, real sigma, real shift) { return log_normal_var(mu, sigma); }
__device__ real shifted_log_normal_skewness(real mu, real sigma, real shift) { return log_normal_skewness(mu, sigma); }
__device__ real shifted_log_normal_kurtosis(real mu, real sigma, real shift) { return log_normal_kurtosis(mu, sigma); }
__device__ real shifted_log_normal_entropy(real mu, real sigma, real shift) { return log_normal_entropy(mu, sigma); }
__device__ real shifted_log_normal_median(real mu, real sigma, real shift) { return shift + exp(mu); }
__device__ real shifted_log_normal_mode(real mu, real sigma, real shift) { return shift + log_normal_mode(mu, sigma); }
__device__ real shifted_log_normal_lower(real mu, real sigma, real shift) { return shift; }
