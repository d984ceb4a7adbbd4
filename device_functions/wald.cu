// wald: the Wald (inverse Gaussian) distribution
// used for: first passage times with a drift: response times, hospital stays, lifetimes
// x: nonnegative    mu: positive, mean    lam: positive, shape
// density: sqrt(lam / (2 * pi * x**3)) * exp(-lam * (x - mu)**2 / (2 * mu**2 * x))
// source: Johnson, Kotz & Balakrishnan (1994), ch. 15
//
// Where mu is infinite, all is that of Lévy's distribution with the scale lam.

// x / mu - 1
__device__ real beyond(real x, real mu) { return isinf(mu) ? -1 : (x - mu) * (1 / mu); }

__device__ real wald_logpdf(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return -INFINITY;
    real d = beyond(x, mu);
    return (0.5 * log(lam) - HALF_LOG_2PI) - 1.5 * log(x) - 0.5 * (d * lam) * (d * (1 / x));
}

__device__ real wald_logpdf_grad_x(real x, real mu, real lam)
{
    return x == 0 || isinf(x) ? 0 : (-1.5 - 0.5 * (beyond(x, mu) * lam) * (1 / x + 1 / mu)) * (1 / x);
}

__device__ real wald_logpdf_grad_mu(real x, real mu, real lam)
{
    return x == 0 || isinf(x) || isinf(mu) ? 0 : beyond(x, mu) / mu * (lam / mu);
}

// With u = sqrt(lam / 2x) (x / mu - 1) and v = sqrt(lam / 2x) (x / mu + 1), the distribution function is
// (erfc(-u) + exp(2 lam / mu) erfc(v)) / 2, whose exponentials all meet in exp(-u^2).
__device__ real wald_logcdf(real x, real mu, real lam)
{
    real root = sqrt(0.5 * lam / x), u = root * beyond(x, mu), v = root * (x * (1 / mu) + 1);
    if (x == 0 || isinf(x)) return x == 0 ? -INFINITY : 0;
    return u < 0 ? log(0.5 * (scaled_erfc(-u) + scaled_erfc(v))) - u * u
                 : log1p(-exp(-u * u) * root * scaled_erfc_mean_slope(u, 2 * root));
}

__device__ real wald_logsf(real x, real mu, real lam)
{
    real root = sqrt(0.5 * lam / x), u = root * beyond(x, mu), v = root * (x * (1 / mu) + 1);
    if (x == 0) return 0;
    return u < -1 ? log1p(-0.5 * exp(-u * u) * (scaled_erfc(-u) + scaled_erfc(v)))
                  : log(root) + log(scaled_erfc_mean_slope(u, 2 * root)) - u * u;
}

// The two roots are mu / t and mu t. Source: Michael, Schucany & Haas (1976), Generating random variates using
// transformations with multiple roots.
__device__ real wald_sample(rng_t *rng, real mu, real lam)
{
    real z = normal(rng), u = uniform(rng);
    if (isinf(mu)) return lam / (z * z);
    real w = 0.5 * (mu / lam) * z * z, t = 1 + w + sqrt(w) * sqrt(2 + w);
    return u * (1 + t) < 1 ? mu * t : mu / t;
}

__device__ real wald_mean(real mu, real lam) { return mu; }
__device__ real wald_var(real mu, real lam) { return mu * mu * (mu / lam); }
__device__ real wald_skewness(real mu, real lam) { return 3 * sqrt(mu / lam); }
__device__ real wald_kurtosis(real mu, real lam) { return 15 * (mu / lam); }

__device__ real wald_mode(real mu, real lam)
{
    real r = 1.5 * (mu / lam);
    return mu / (hypot((real)1, r) + r);
}
