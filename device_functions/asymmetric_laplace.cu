// asymmetric_laplace: Laplace with a different scale on each side
// x: real    kappa: positive, asymmetry    mu: real, location    b: positive, inverse scale
// source: Kotz, Kozubowski & Podgórski (2001), ch. 3
__device__ real asymmetric_laplace_logpdf(real x, real kappa, real mu, real b)
{
    real rate = x < mu ? -b / kappa : b * kappa;
    return log(b / (kappa + 1 / kappa)) - (x - mu) * rate;
}

__device__ real asymmetric_laplace_logcdf(real x, real kappa, real mu, real b)
{
    return x < mu ? (x - mu) * (b / kappa) - log1p_square(1 / kappa)
                  : log1mexp((mu - x) * (b * kappa) - log1p_square(kappa));
}

__device__ real asymmetric_laplace_logsf(real x, real kappa, real mu, real b)
{
    return asymmetric_laplace_logcdf(-x, 1 / kappa, -mu, b);
}

__device__ real asymmetric_laplace_sample(rng_t *rng, real kappa, real mu, real b)
{
    real u = uniform(rng), below = 1 / (1 + 1 / kappa / kappa), above = 1 / (1 + kappa * kappa);
    return mu + (u < below ? kappa / b * log(u / below) : -1 / (b * kappa) * log((1 - u) / above));
}
