// zipfian: ranks from 1 to n whose probabilities follow a power law
// used for: frequencies of a known number of words, cities or products by rank
// x: positive integer    a: nonnegative, exponent    n: positive integer, number of ranks
// mass: x**(-a) / Sum(j**(-a), j, 1, n) if x <= n else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 11
__device__ real zipfian_logpmf(real x, real a, real n)
{
    if (isinf(n)) return NAN;
    return x > n ? -INFINITY : -log_power_sum(a, 1, n) - a * log(x);
}

__device__ real zipfian_logcdf(real x, real a, real n)
{
    return x >= n ? 0 : log_power_sum(a, 1, x) - log_power_sum(a, 1, n);
}

__device__ real zipfian_logsf(real x, real a, real n)
{
    return x >= n ? -INFINITY : log_power_sum(a, x + 1, n) - log_power_sum(a, 1, n);
}

// The integral of t^-a for t from 1 to x
__device__ real power_integral(real x, real a)
{
    return log(x) * relative_expm1((1 - a) * log(x));
}

// Rejection-inversion. Source: Hörmann & Derflinger (1996), Rejection-inversion to generate variates from monotone discrete
// distributions.
__device__ real zipfian_sample(rng_t *rng, real a, real n)
{
    real top = power_integral(n + 0.5, a), bottom = power_integral(1.5, a) - 1, value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real u = uniform(rng), area = bottom + u * (top - bottom), s = (1 - a) * area;
        real k = fmin(fmax(floor(exp(s == 0 ? area : area * (log1p(s) / s)) + 0.5), (real)1), n);
        if (area >= power_integral(k + 0.5, a) - exp(-a * log(k))) value = k;
    }
    return value;
}

__device__ real zipfian_mode(real a, real n) { return 1; }
__device__ real zipfian_upper(real a, real n) { return n; }
