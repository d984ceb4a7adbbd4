// sinh_arcsinh: the sinh-arcsinh distribution: sinh(delta asinh((x - mu) / sigma) - epsilon) is standard normal
// used for: data whose skewness and tails are to be fitted apart from location and scale
// x: real    epsilon: real, asymmetry    delta: positive, shape; the larger, the lighter are the tails
// mu: real, location    sigma: positive, scale
// density: delta / sigma * sqrt((1 + y**2) / (1 + z**2)) * phi(y)    z = (x - mu) / sigma
// y = sinh(delta * asinh(z) - epsilon)
// source: Jones & Pewsey (2009), Sinh-arcsinh distributions
__device__ real sinh_arcsinh_logpdf(real x, real epsilon, real delta, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), w = delta * asinh(z) - epsilon, y = sinh(w);
    if (isinf(y * y)) return -INFINITY;
    return (log(delta / sigma) - HALF_LOG_2PI) + 0.5 * (log1pmx(y * y) - log1p_square(z));  // cosh(w)^2 is 1 + y^2
}

__device__ real sinh_arcsinh_logcdf(real x, real epsilon, real delta, real mu, real sigma)
{
    return log_ndtr(sinh(delta * asinh((x - mu) * (1 / sigma)) - epsilon));
}

__device__ real sinh_arcsinh_logsf(real x, real epsilon, real delta, real mu, real sigma)
{
    return sinh_arcsinh_logcdf(-x, -epsilon, delta, -mu, sigma);
}

__device__ real sinh_arcsinh_ppf(real q, real epsilon, real delta, real mu, real sigma)
{
    return mu + scaled_sinh(sigma, (asinh(ndtri(q)) + epsilon) / delta);
}

__device__ real sinh_arcsinh_isf(real q, real epsilon, real delta, real mu, real sigma)
{
    return mu - scaled_sinh(sigma, (asinh(ndtri(q)) - epsilon) / delta);
}

__device__ real sinh_arcsinh_sample(rng_t *rng, real epsilon, real delta, real mu, real sigma)
{
    return mu + scaled_sinh(sigma, (asinh(normal(rng)) + epsilon) / delta);
}

__device__ real sinh_arcsinh_median(real epsilon, real delta, real mu, real sigma)
{
    return mu + scaled_sinh(sigma, epsilon / delta);
}
