// normal_identity: the normal distribution by its mean, the linear predictor of linear regression
// used for: linear regression
// x: real    eta: real, mean    sigma: positive, standard deviation
// density: exp(-(x - eta)**2 / (2 * sigma**2)) / (sigma * sqrt(2 * pi))
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 3
__device__ real normal_identity_logpdf(real x, real eta, real sigma)
{
    return normal_logpdf(x, eta, sigma);
}

__device__ real normal_identity_logcdf(real x, real eta, real sigma)
{
    return normal_logcdf(x, eta, sigma);
}

__device__ real normal_identity_logsf(real x, real eta, real sigma)
{
    return normal_logsf(x, eta, sigma);
}

__device__ real normal_identity_ppf(real q, real eta, real sigma) { return normal_ppf(q, eta, sigma); }
__device__ real normal_identity_isf(real q, real eta, real sigma) { return normal_isf(q, eta, sigma); }

__device__ real normal_identity_sample(rng_t *rng, real eta, real sigma)
{
    return normal_sample(rng, eta, sigma);
}

__device__ real normal_identity_mean(real eta, real sigma) { return eta; }
__device__ real normal_identity_var(real eta, real sigma) { return sigma * sigma; }
__device__ real normal_identity_skewness(real eta, real sigma) { return 0; }
__device__ real normal_identity_kurtosis(real eta, real sigma) { return 0; }
__device__ real normal_identity_entropy(real eta, real sigma) { return normal_entropy(eta, sigma); }
__device__ real normal_identity_mode(real eta, real sigma) { return eta; }
