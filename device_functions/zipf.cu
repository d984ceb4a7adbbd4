// zipf: whole numbers whose probabilities follow a power law; the zeta distribution
// used for: frequencies of words, and degrees of networks, without an upper end
// x: positive integer    a: positive, exponent, above 1
// mass: x**(-a) / zeta(a)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 11
__device__ real zipf_logpmf(real x, real a)
{
    if (a <= 1) return NAN;
    return -log_zeta(a) - a * log(x);
}

__device__ real zipf_logcdf(real x, real a)
{
    if (a <= 1) return NAN;
    return log_power_sum(a, 1, x) - log_zeta(a);
}

__device__ real zipf_logsf(real x, real a)
{
    if (a <= 1) return NAN;
    return log_power_sum(a, x + 1, INFINITY) - log_zeta(a);
}

// Source: Devroye (1986), Non-Uniform Random Variate Generation, ch. X.6
__device__ real zipf_sample(rng_t *rng, real a)
{
    real s = a - 1, scale = expm1(-s * LOG_2), value = NAN;
    for (int i = 0; i < 1000 && isnan(value) && a > 1; i++) {
        real u = uniform(rng), v = uniform(rng), x = floor(pow(u, -1 / s));
        if (isinf(x) || v * x * expm1(-s * log1p(1 / x)) >= scale) value = x;
    }
    return value;
}

__device__ real zipf_mean(real a)
{
    if (a <= 2) return a > 1 ? INFINITY : NAN;
    real r = power_sum(a, 1, INFINITY), s = power_sum(a - 1, 1, INFINITY);
    return (1 + s) / (1 + r);
}

// In terms of the sums without their first terms, so that little cancels where a is large.
__device__ real zipf_var(real a)
{
    if (a <= 3) return a > 1 ? INFINITY : NAN;
    real r = power_sum(a, 1, INFINITY), s = power_sum(a - 1, 1, INFINITY), t = power_sum(a - 2, 1, INFINITY);
    return (t + r - 2 * s + (t * r - s * s)) / ((1 + r) * (1 + r));
}

__device__ real zipf_mode(real a) { return a > 1 ? 1 : NAN; }
