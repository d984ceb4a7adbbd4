// johnson_su: Johnson's unbounded distribution: gamma + delta asinh((x - mu) / sigma) is standard normal
// used for: unbounded data whose skewness and heavy tails are to be fitted, such as returns
// x: real    gamma: real, asymmetry    delta: positive, shape; the larger, the lighter are the tails
// mu: real, location    sigma: positive, scale
// density: delta / (sigma * sqrt(1 + z**2)) * phi(gamma + delta * asinh(z))    z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1994), ch. 12
__device__ real johnson_su_logpdf(real x, real gamma, real delta, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), y = gamma + delta * asinh(z);
    return (log(delta / sigma) - HALF_LOG_2PI) - 0.5 * log1p_square(z) - 0.5 * y * y;
}

__device__ real johnson_su_logpdf_grad_sigma(real x, real gamma, real delta, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), root = hypot(1, z), share = fabs(z) * EPSILON > 1 ? (z < 0 ? -1 : 1) : z / root;
    return (delta * (gamma + delta * asinh(z)) * share - 1 / root / root) * (1 / sigma);
}

__device__ real johnson_su_logcdf(real x, real gamma, real delta, real mu, real sigma)
{
    return log_ndtr(gamma + delta * asinh((x - mu) * (1 / sigma)));
}

__device__ real johnson_su_logsf(real x, real gamma, real delta, real mu, real sigma)
{
    return johnson_su_logcdf(-x, -gamma, delta, -mu, sigma);
}

__device__ real johnson_su_ppf(real q, real gamma, real delta, real mu, real sigma)
{
    return mu + scaled_sinh(sigma, (ndtri(q) - gamma) / delta);
}

__device__ real johnson_su_isf(real q, real gamma, real delta, real mu, real sigma)
{
    return mu - scaled_sinh(sigma, (ndtri(q) + gamma) / delta);
}

__device__ real johnson_su_sample(rng_t *rng, real gamma, real delta, real mu, real sigma)
{
    return mu + scaled_sinh(sigma, (normal(rng) - gamma) / delta);
}

__device__ real johnson_su_mean(real gamma, real delta, real mu, real sigma)
{
    return mu - sigma * exp(0.5 / (delta * delta)) * sinh(gamma / delta);
}

__device__ real johnson_su_var(real gamma, real delta, real mu, real sigma)
{
    real log_w = 1 / (delta * delta);
    return 0.5 * sigma * sigma * expm1(log_w) * (exp(log_w) * cosh(2 * gamma / delta) + 1);
}
