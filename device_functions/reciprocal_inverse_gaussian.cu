// reciprocal_inverse_gaussian: 1 / x has a Wald (inverse Gaussian) distribution
// used for: speeds in a diffusion: reciprocals of first passage times with a drift
// x: nonnegative    mu: positive, mean of 1 / x    lam: positive, shape
// density: sqrt(lam / (2 * pi * x)) * exp(-lam * (1 - mu * x)**2 / (2 * mu**2 * x))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 15
__device__ real reciprocal_inverse_gaussian_logpdf(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return -INFINITY;
    real d = fma(-mu, x, 1) * (1 / mu);
    return (0.5 * log(lam) - HALF_LOG_2PI) - 0.5 * log(x) - 0.5 * (d * lam) * (d / x);
}

__device__ real reciprocal_inverse_gaussian_logpdf_grad_x(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return 0;
    real d = fma(-mu, x, 1) * (1 / mu);
    return (0.5 * (d * lam) * (1 + 1 / mu / x) - 0.5) / x;
}

__device__ real reciprocal_inverse_gaussian_logpdf_grad_mu(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return 0;
    return fma(-mu, x, 1) * (1 / mu) / x * (lam / mu / mu);
}

// As of the Wald distribution, with u = sqrt(lam x / 2) (1 / (mu x) - 1) and v = sqrt(lam x / 2) (1 / (mu x) + 1)
__device__ real reciprocal_inverse_gaussian_logcdf(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return x == 0 ? -INFINITY : 0;
    real root = sqrt(0.5 * lam * x), u = root * (fma(-mu, x, 1) / (mu * x)), v = root * (1 / (mu * x) + 1);
    return u < -1 ? log1p(-0.5 * exp(-u * u) * (scaled_erfc(-u) + scaled_erfc(v)))
                  : log(root) + log(scaled_erfc_mean_slope(u, 2 * root)) - u * u;
}

__device__ real reciprocal_inverse_gaussian_logsf(real x, real mu, real lam)
{
    if (x == 0) return 0;
    real root = sqrt(0.5 * lam * x), u = root * (fma(-mu, x, 1) / (mu * x)), v = root * (1 / (mu * x) + 1);
    return u < 0 ? log(0.5 * (scaled_erfc(-u) + scaled_erfc(v))) - u * u
                 : log1p(-exp(-u * u) * root * scaled_erfc_mean_slope(u, 2 * root));
}

__device__ real reciprocal_inverse_gaussian_sample(rng_t *rng, real mu, real lam) { return 1 / wald_sample(rng, mu, lam); }
__device__ real reciprocal_inverse_gaussian_mean(real mu, real lam) { return 1 / mu + 1 / lam; }
__device__ real reciprocal_inverse_gaussian_var(real mu, real lam) { return (1 / mu + 2 / lam) / lam; }

__device__ real reciprocal_inverse_gaussian_mode(real mu, real lam)
{
    real phi = lam / mu;
    return 2 * phi / (mu * (1 + hypot((real)1, 2 * phi)));
}
