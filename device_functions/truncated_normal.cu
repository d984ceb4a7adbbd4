// truncated_normal: normal distribution confined to an interval, either side of which may be infinite
// x: real    mu: real, mean before truncation    sigma: positive, standard deviation before truncation
// lower: real, lower bound    upper: real, upper bound
// source: Johnson, Kotz & Balakrishnan (1994), ch. 13

// length / sigma; the derivative of an infinite one is 0.
__device__ real standardized(real length, real sigma)
{
    return isinf(length) ? length : length / sigma;
}

// The integral of the normal density from a to b, relative to its largest value there
__device__ real mass_between(real a, real b, real mu, real sigma)
{
    return normal_integral(standardized(a - mu, sigma), standardized(b - mu, sigma), standardized(b - a, sigma));
}

__device__ real truncated_normal_logpdf(real x, real mu, real sigma, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    // Relative to the density at the mode, so that nothing large cancels where the interval lies far from mu.
    real mode = fmin(fmax(mu, lower), upper);
    real z = (x - mode) * (1 / sigma);
    return -(log(sigma) + log(mass_between(lower, upper, mu, sigma))) - z * (0.5 * z + (mode - mu) / sigma);
}

// log of the same integral, relative to the density at `mode`
__device__ real log_mass_between(real a, real b, real mu, real sigma, real mode)
{
    real near = fmin(fmax(mode, a), b);
    return log(mass_between(a, b, mu, sigma))
         - 0.5 * ((near - mode) / sigma) * ((near - mu) / sigma + (mode - mu) / sigma);
}

__device__ real truncated_normal_logcdf(real x, real mu, real sigma, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    real mode = fmin(fmax(mu, lower), upper);
    return log_mass_between(lower, x, mu, sigma, mode) - log_mass_between(lower, upper, mu, sigma, mode);
}

__device__ real truncated_normal_logsf(real x, real mu, real sigma, real lower, real upper)
{
    return truncated_normal_logcdf(-x, -mu, sigma, -upper, -lower);
}
