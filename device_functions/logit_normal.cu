// logit_normal: the log-odds of x, log(x / (1 - x)), are normal
// used for: proportions whose log-odds vary normally, as in hierarchical models
// x: unit    mu: real, mean of the log-odds    sigma: positive, standard deviation of the log-odds
// density: phi((log(x / (1 - x)) - mu) / sigma) / (sigma * x * (1 - x))
// source: Aitchison & Shen (1980)
__device__ real logit_normal_logpdf(real x, real mu, real sigma)
{
    if (x == 0 || x == 1) return -INFINITY;
    real z = (logit(x) - mu) * (1 / sigma);
    return -(log(sigma) + HALF_LOG_2PI) - (log(x) + log1p(-x)) - 0.5 * z * z;
}

__device__ real logit_normal_logpdf_grad_x(real x, real mu, real sigma)
{
    if (x == 0 || x == 1) return 0;
    return (2 * x - 1 - (logit(x) - mu) * (1 / sigma) * (1 / sigma)) / x / (1 - x);
}

__device__ real logit_normal_logcdf(real x, real mu, real sigma)
{
    return log_ndtr((logit(x) - mu) * (1 / sigma));
}

__device__ real logit_normal_logsf(real x, real mu, real sigma)
{
    return log_ndtr((mu - logit(x)) * (1 / sigma));
}

__device__ real logit_normal_ppf(real q, real mu, real sigma) { return expit(mu + sigma * ndtri(q)); }
__device__ real logit_normal_isf(real q, real mu, real sigma) { return expit(mu - sigma * ndtri(q)); }

__device__ real logit_normal_sample(rng_t *rng, real mu, real sigma)
{
    return expit(mu + sigma * normal(rng));
}

