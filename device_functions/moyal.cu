// moyal: Moyal's approximation of the Landau distribution of energy losses
// x: real    mu: real, location    sigma: positive, scale
// source: Moyal (1955), Theory of ionization fluctuations
__device__ real moyal_logpdf(real x, real mu, real sigma)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - mu) * (1 / sigma);
    return -(log(sigma) + HALF_LOG_2PI) - 0.5 * (z + exp(-z));
}
