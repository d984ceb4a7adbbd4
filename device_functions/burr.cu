// burr: the Burr distribution of type III, also called Dagum's
// used for: incomes, losses and lifetimes with a heavy right tail
// x: nonnegative    c: positive, shape    k: positive, shape at 0    sigma: positive, scale
// density: c * k / sigma * z**(c * k - 1) / (1 + z**c)**(k + 1)    z = x / sigma
// source: Burr (1942), Cumulative frequency functions
__device__ real burr_logpdf(real x, real c, real k, real sigma)
{
    real z = x / sigma, log_z = log_quotient(x, sigma), y = log_z > 0 ? -c * log_z : c * log_z;
    real value = log(c * k / sigma) + (log_z > 0 ? -c - 1 : c * k - 1) * log_z - (k + 1) * log1p_unit(exp(y));
    real at_zero = log_power_at_zero(c * k - 1, -log(sigma) - (k + 1) * pow(z, c));
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

// d/dx where the density is like z^(near - 1) near 0 and z^(-far - 1) far away, of which one turns into the other by z^c
__device__ real slope(real x, real c, real near, real far, real sigma)
{
    if (isinf(x)) return 0;
    if (x == 0) return near != 1 || c > 1 ? 0 : c == 1 ? -(near + far) / sigma : -INFINITY;
    real log_z = log_quotient(x, sigma), y = log_z > 0 ? -c * log_z : c * log_z;
    real rate = (near + far) * exp(log_expit(y) - log(x));
    return log_z > 0 ? rate - (far + 1) / x : (near - 1) / x - rate;
}

__device__ real burr_logpdf_grad_x(real x, real c, real k, real sigma) { return slope(x, c, c * k, c, sigma); }

__device__ real burr_logcdf(real x, real c, real k, real sigma)
{
    return -k * log1pexp(-c * log_quotient(x, sigma));
}

// -log(-log of the distribution function) has a standard Gumbel distribution.
__device__ real burr_logsf(real x, real c, real k, real sigma)
{
    return gumbel_logsf(-log(k) - log_log1pexp(-c * log_quotient(x, sigma)), 0, 1);
}

// Where the distribution function is exp(-h)
__device__ real quantile(real h, real c, real k, real sigma)
{
    return scaled_exp(sigma, -(h / k < EPSILON ? log_quotient(h, k) : log_expm1(h / k)) / c);
}

__device__ real burr_ppf(real q, real c, real k, real sigma) { return quantile(-log(q), c, k, sigma); }
__device__ real burr_isf(real q, real c, real k, real sigma) { return quantile(-log1p(-q), c, k, sigma); }
__device__ real burr_sample(rng_t *rng, real c, real k, real sigma) { return quantile(exponential(rng), c, k, sigma); }

__device__ real burr_mean(real c, real k, real sigma)
{
    return c > 1 ? scaled_exp(sigma, log_gamma(1 - 1 / c) + log_rising(k, 1 / c)) : INFINITY;
}

__device__ real burr_var(real c, real k, real sigma)
{
    real mean = burr_mean(c, k, sigma);
    return c > 2 ? mean * (mean * expm1(log_gamma_bend(1, -1 / c) + log_gamma_bend(k, 1 / c))) : INFINITY;
}

__device__ real burr_entropy(real c, real k, real sigma)
{
    return 1 - 1 / (c * k) + (1 + 1 / c) * (EULER_GAMMA + digamma(k + 1)) - log(c * k / sigma);
}

__device__ real burr_mode(real c, real k, real sigma)
{
    return c * k > 1 ? scaled_exp(sigma, log((c * k - 1) / (c + 1)) / c) : 0;
}
