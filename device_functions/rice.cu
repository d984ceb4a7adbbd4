// rice: distance from the origin of a point with a normal distribution in the plane
// used for: amplitudes of a signal in noise, such as pixels of magnetic resonance images
// x: nonnegative    nu: nonnegative, distance of its mean    sigma: positive, standard deviation of a coordinate
// density: x / sigma**2 * exp(-(x**2 + nu**2) / (2 * sigma**2)) * I(0, x * nu / sigma**2)
// source: Rice (1945), Mathematical analysis of random noise
__device__ real rice_logpdf(real x, real nu, real sigma)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - nu) * (1 / sigma);
    return log(x) - 2 * log(sigma) - 0.5 * z * z + log_i0e(x * (nu / sigma / sigma));
}

__device__ real rice_logcdf(real x, real nu, real sigma)
{
    return log_rice_p(x * (1 / sigma), nu * (1 / sigma));
}

__device__ real rice_logsf(real x, real nu, real sigma)
{
    return log_rice_q(x * (1 / sigma), nu * (1 / sigma));
}

__device__ real rice_sample(rng_t *rng, real nu, real sigma)
{
    real x = normal(rng), y = normal(rng);
    return hypot(nu + sigma * x, sigma * y);
}
