// normal: the normal (Gaussian) distribution
// used for: errors of measurement, averages, and whatever is the sum of many small parts
// x: real    mu: real, mean    sigma: positive, standard deviation
// density: exp(-(x - mu)**2 / (2 * sigma**2)) / (sigma * sqrt(2 * pi))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 13
__device__ real normal_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);  // 1 / sigma is evaluated once per sigma; a division for each x is dearer
    return -(log(sigma) + HALF_LOG_2PI) - 0.5 * z * z;
}

__device__ real normal_logcdf(real x, real mu, real sigma)
{
    return log_ndtr((x - mu) * (1 / sigma));
}

__device__ real normal_logsf(real x, real mu, real sigma)
{
    return log_ndtr((mu - x) * (1 / sigma));
}

// 1/2 in the middle, to the last digit, which an exponential of its logarithm need not be
__device__ real normal_cdf(real x, real mu, real sigma) { return 0.5 * erfc((mu - x) * (1 / sigma) / SQRT_2); }
__device__ real normal_sf(real x, real mu, real sigma) { return 0.5 * erfc((x - mu) * (1 / sigma) / SQRT_2); }

__device__ real normal_ppf(real q, real mu, real sigma) { return mu + sigma * ndtri(q); }
__device__ real normal_isf(real q, real mu, real sigma) { return mu - sigma * ndtri(q); }

__device__ real normal_sample(rng_t *rng, real mu, real sigma)
{
    return mu + sigma * normal(rng);
}

__device__ real normal_mean(real mu, real sigma) { return mu; }
__device__ real normal_var(real mu, real sigma) { return sigma * sigma; }
__device__ real normal_skewness(real mu, real sigma) { return 0; }
__device__ real normal_kurtosis(real mu, real sigma) { return 0; }
__device__ real normal_entropy(real mu, real sigma) { return log(sigma) + (0.5 + HALF_LOG_2PI); }
__device__ real normal_mode(real mu, real sigma) { return mu; }
