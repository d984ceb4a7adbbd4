// generalized_normal: the generalized normal (exponential power) distribution, of density proportional to exp(-|z|^beta)
// used for: errors with tails lighter or heavier than normal ones
// x: real    beta: positive, shape: 2 for the normal, 1 for Laplace's distribution    mu: real, location    sigma: positive, scale
// density: beta / (2 * sigma * Gamma(1 / beta)) * exp(-abs(z)**beta)    z = (x - mu) / sigma
// source: Nadarajah (2005), A generalized normal distribution
__device__ real generalized_normal_logpdf(real x, real beta, real mu, real sigma)
{
    return -(LOG_2 + log(sigma) + log_gamma_1p(1 / beta)) - power_of_quotient(fabs(x - mu), sigma, beta);
}

// |z|^beta is a gamma variable.
__device__ real generalized_normal_logcdf(real x, real beta, real mu, real sigma)
{
    real d = fabs(x - mu), power = power_of_quotient(d, sigma, beta);
    real tail = log_gamma_q_of_power(1 / beta, power, beta * log_quotient(d, sigma)) - LOG_2;
    return x < mu ? tail : log1p(-exp(tail));
}

__device__ real generalized_normal_logsf(real x, real beta, real mu, real sigma)
{
    return generalized_normal_logcdf(-x, beta, -mu, sigma);
}

__device__ real generalized_normal_ppf(real q, real beta, real mu, real sigma)
{
    real tail = fmin(q, 1 - q), distance = gamma_quantile_power(1 / beta, 1 - 2 * tail, 2 * tail, 1 / beta, sigma);
    return q < 0.5 ? mu - distance : mu + distance;
}

__device__ real generalized_normal_isf(real q, real beta, real mu, real sigma)
{
    return -generalized_normal_ppf(q, beta, -mu, sigma);
}

__device__ real generalized_normal_sample(rng_t *rng, real beta, real mu, real sigma)
{
    real side = uniform(rng), distance = scaled_exp(sigma, gamma_logarithm(rng, 1 / beta) / beta);
    return side < 0.5 ? mu - distance : mu + distance;
}

__device__ real generalized_normal_mean(real beta, real mu, real sigma) { return mu; }

__device__ real generalized_normal_var(real beta, real mu, real sigma)
{
    return sigma * sigma * exp(log_gamma(3 / beta) - log_gamma(1 / beta));
}

__device__ real generalized_normal_skewness(real beta, real mu, real sigma) { return 0; }

__device__ real generalized_normal_kurtosis(real beta, real mu, real sigma)
{
    return exp(log_gamma(5 / beta) + log_gamma(1 / beta) - 2 * log_gamma(3 / beta)) - 3;
}

__device__ real generalized_normal_entropy(real beta, real mu, real sigma)
{
    return 1 / beta + LOG_2 + log(sigma) + log_gamma_1p(1 / beta);
}

__device__ real generalized_normal_median(real beta, real mu, real sigma) { return mu; }
__device__ real generalized_normal_mode(real beta, real mu, real sigma) { return mu; }
