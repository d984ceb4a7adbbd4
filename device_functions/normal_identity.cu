// normal_identity: the normal distribution by its mean, the linear predictor of linear regression
// x: real    eta: real, mean    sigma: positive, standard deviation
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

__device__ real normal_identity_sample(rng_t *rng, real eta, real sigma)
{
    return normal_sample(rng, eta, sigma);
}
