// anglit: the anglit distribution, of density cos(2 (x - mu) / sigma) / sigma where |x - mu| <= pi sigma / 4
// used for: bell-shaped data on a bounded interval
// x: real    mu: real, location    sigma: positive, scale
// density: cos(2 * z) / sigma if abs(z) <= pi / 4 else 0    z = (x - mu) / sigma
// source: Bartlett (1947), The use of transformations
__device__ real anglit_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return fabs(z) > PI / 4 ? -INFINITY : log(cos(2 * z)) - log(sigma);
}

__device__ real anglit_logcdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return z <= -PI / 4 ? -INFINITY : z >= PI / 4 ? 0 : 2 * log(sin(PI / 4 + z));
}

__device__ real anglit_logsf(real x, real mu, real sigma)
{
    return anglit_logcdf(-x, -mu, sigma);
}

__device__ real anglit_ppf(real q, real mu, real sigma) { return mu + sigma * (asin(sqrt(q)) - PI / 4); }
__device__ real anglit_isf(real q, real mu, real sigma) { return mu - sigma * (asin(sqrt(q)) - PI / 4); }

__device__ real anglit_sample(rng_t *rng, real mu, real sigma)
{
    return anglit_ppf(uniform(rng), mu, sigma);
}

__device__ real anglit_mean(real mu, real sigma) { return mu; }
__device__ real anglit_var(real mu, real sigma) { return (PI * PI / 16 - 0.5) * sigma * sigma; }
__device__ real anglit_skewness(real mu, real sigma) { return 0; }
__device__ real anglit_kurtosis(real mu, real sigma) { return -0.8062497699541907622; }
__device__ real anglit_entropy(real mu, real sigma) { return 1 - LOG_2 + log(sigma); }
__device__ real anglit_median(real mu, real sigma) { return mu; }
__device__ real anglit_mode(real mu, real sigma) { return mu; }
__device__ real anglit_lower(real mu, real sigma) { return mu - PI / 4 * sigma; }
__device__ real anglit_upper(real mu, real sigma) { return mu + PI / 4 * sigma; }
