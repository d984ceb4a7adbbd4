// truncated_normal: normal distribution confined to an interval, either side of which may be infinite
// used for: normal quantities that cannot leave a range, and latent variables of probit models
// x: real    mu: real, mean before truncation    sigma: positive, standard deviation before truncation
// lower: real, lower bound    upper: real, upper bound
// density: (phi((x - mu) / sigma) / (sigma * (Phi((upper - mu) / sigma) - Phi((lower - mu) / sigma)))
// if lower <= x <= upper else 0)
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

// Rejection from the normal distribution, from the uniform one, or, far in a tail, from an exponential distribution
// confined to the interval. Source: Robert (1995), Simulation of truncated normal variables.
__device__ real truncated_normal_sample(rng_t *rng, real mu, real sigma, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    real a = standardized(lower - mu, sigma), b = standardized(upper - mu, sigma), x = NAN;
    real width = standardized(upper - lower, sigma);
    if (a <= 0 && b >= 0 && width > 2.5) {
        for (int i = 0; i < 1000 && isnan(x); i++) {
            real z = normal(rng);
            if (a <= z && z <= b) x = mu + sigma * z;
        }
    } else if (a <= 0 && b >= 0) {
        for (int i = 0; i < 1000 && isnan(x); i++) {
            real u = uniform(rng), v = uniform(rng), z = a + width * u;
            if (log(v) < -0.5 * z * z) x = lower + (upper - lower) * u;
        }
    } else {
        // The displacement from the bound that is nearer to mu: so no digits are lost far from there.
        real near = a > 0 ? a : -b, rate = 0.5 * (near + hypot(near, (real)2)), mass = -expm1(-rate * width);
        real peak = fmin(1 / rate, width) - 1 / rate;
        for (int i = 0; i < 1000 && isnan(x); i++) {
            real u = uniform(rng), v = uniform(rng), step = -log1p(-mass * u) / rate;
            real excess = step - 1 / rate;
            if (log(v) < 0.5 * (peak * peak - excess * excess)) x = a > 0 ? lower + sigma * step : upper - sigma * step;
        }
    }
    return isnan(x) ? x : fmin(fmax(x, lower), upper);
}

__device__ real truncated_normal_mode(real mu, real sigma, real lower, real upper)
{
    return fmin(fmax(mu, lower), upper);
}

__device__ real truncated_normal_lower(real mu, real sigma, real lower, real upper) { return lower; }
__device__ real truncated_normal_upper(real mu, real sigma, real lower, real upper) { return upper; }
