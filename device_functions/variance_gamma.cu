// variance_gamma: Brownian motion with drift, at the time that a gamma process has reached
// used for: returns of stocks with peaks and heavy tails, and prices of options
// x: real    theta: real, drift    nu: positive, variance of the time    mu: real, location    sigma: positive, scale
// density: (2 * exp(theta * y / sigma**2) / (sigma * sqrt(2 * pi) * nu**(1 / nu) * Gamma(1 / nu)) *
// (abs(y) / c)**(1 / nu - 1 / 2) * K(1 / nu - 1 / 2, c * abs(y) / sigma**2))    y = x - mu
// c = sqrt(2 * sigma**2 / nu + theta**2)
// source: Madan, Carr & Chang (1998), The variance gamma process and option pricing
//
// The time has mean 1. In units of sigma it is the normal mixture of special/inverse_gaussian_mixtures.cu with p = 1 / nu, gamma^2 = 2 / nu and delta = 0.
__device__ real variance_gamma_logpdf(real x, real theta, real nu, real mu, real sigma)
{
    if (isinf(theta) || isinf(nu)) return NAN;
    if (isinf(x)) return -INFINITY;
    if (x == mu && nu >= 2) return INFINITY;
    return log_gig_mixture_density((x - mu) / sigma, 1 / nu, theta / sigma, sqrt(2 / nu), 0) - log(sigma);
}

// log P(X <= x), x in units of sigma from mu. At 0 it is a probability of Student's t distribution.
__device__ real log_below(real x, int above, real theta, real nu)
{
    real gamma = sqrt(2 / nu);
    if (x != 0) return log_gig_mixture(x, above, 1 / nu, theta, gamma, 0);
    real tail = log_student_above(1 / nu, fabs(theta) / gamma);
    return (theta > 0) != above ? tail : log1mexp(tail);
}

__device__ real variance_gamma_logcdf(real x, real theta, real nu, real mu, real sigma)
{
    return log_below((x - mu) / sigma, 0, theta / sigma, nu);
}

__device__ real variance_gamma_logsf(real x, real theta, real nu, real mu, real sigma)
{
    return log_below((x - mu) / sigma, 1, theta / sigma, nu);
}

__device__ real variance_gamma_sample(rng_t *rng, real theta, real nu, real mu, real sigma)
{
    real z = normal(rng), w = gamma_sample(rng, 1 / nu, 1 / nu);
    return mu + (theta * w + sigma * sqrt(w) * z);
}

__device__ real variance_gamma_mean(real theta, real nu, real mu, real sigma) { return mu + theta; }
__device__ real variance_gamma_var(real theta, real nu, real mu, real sigma) { return sigma * sigma + nu * (theta * theta); }

__device__ real variance_gamma_skewness(real theta, real nu, real mu, real sigma)
{
    real drift = theta / sigma, square = nu * drift * drift, var = 1 + square;
    return drift * nu * (3 + 2 * square) / (var * sqrt(var));
}

__device__ real variance_gamma_kurtosis(real theta, real nu, real mu, real sigma)
{
    real drift = theta / sigma, square = nu * drift * drift, var = 1 + square;
    return nu * (3 + square * (12 + 6 * square)) / (var * var);
}
