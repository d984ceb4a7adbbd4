// log_laplace: the log-Laplace distribution, whose logarithm has a Laplace one
// used for: ratios, incomes and growth of firms that have power laws on both sides
// x: nonnegative    c: positive, shape    sigma: positive, scale
// density: c / (2 * sigma) * z**s    z = x / sigma    s = c - 1 if z < 1 else -c - 1
// source: Kozubowski & Podgórski (2003), Log-Laplace distributions
__device__ real log_laplace_logpdf(real x, real c, real sigma)
{
    real log_z = log_quotient(x, sigma);
    real value = log(0.5 * c / sigma) + (log_z > 0 ? -c - 1 : c - 1) * log_z;
    real at_zero = log_power_at_zero(c - 1, log(0.5 / sigma));
    return x == 0 ? at_zero : value;
}

__device__ real log_laplace_logcdf(real x, real c, real sigma) { return laplace_logcdf(c * log_quotient(x, sigma), 0, 1); }
__device__ real log_laplace_logsf(real x, real c, real sigma) { return laplace_logsf(c * log_quotient(x, sigma), 0, 1); }
__device__ real log_laplace_ppf(real q, real c, real sigma) { return scaled_exp(sigma, laplace_ppf(q, 0, 1) / c); }
__device__ real log_laplace_isf(real q, real c, real sigma) { return scaled_exp(sigma, laplace_isf(q, 0, 1) / c); }
__device__ real log_laplace_sample(rng_t *rng, real c, real sigma) { return scaled_exp(sigma, laplace_sample(rng, 0, 1) / c); }
__device__ real log_laplace_mean(real c, real sigma) { return c > 1 ? sigma * (c / (c - 1)) * (c / (c + 1)) : INFINITY; }

__device__ real log_laplace_var(real c, real sigma)
{
    real square = c * c, excess = (c - 1) * (c + 1);
    if (!(c > 2)) return INFINITY;
    return sigma * sigma * (square / ((c - 2) * (c + 2))) * ((2 * square + 1) / (excess * excess));
}

__device__ real log_laplace_entropy(real c, real sigma) { return 1 - log(0.5 * c / sigma); }

// Where c = 1, any number from 0 to sigma is one.
__device__ real log_laplace_mode(real c, real sigma) { return c < 1 ? 0 : sigma; }
