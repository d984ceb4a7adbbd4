// noncentral_f: the noncentral F distribution, of the ratio of a noncentral chi-squared variable and a central one
// used for: the power of F tests
// x: nonnegative    d1: positive, degrees of freedom of the numerator    d2: positive, degrees of freedom of the denominator
// lam: nonnegative, noncentrality of the numerator
// density: Sum(exp(-m) * m**j / factorial(j) * (d1 / d2)**a[j] * x**(a[j] - 1) * (1 + d1 * x / d2)**(-a[j] - d2 / 2) /
// B(a[j], d2 / 2), j, 0, inf)    m = lam / 2    a[j] = d1 / 2 + j
// source: Johnson, Kotz & Balakrishnan (1995), ch. 30
//
// The numerator is a chi-squared variable whose degrees of freedom are d1 + 2 j, j being a Poisson variable of mean lam / 2; see
// noncentral_chi_squared.
//
// Of z = d1 x / d2, functions follow powers of z where it is very small or large: so they are computed within a range.

// The logarithm of z over what is left of it
__device__ real log_beyond(real x, real d1, real d2)
{
    real z = x / (d2 / d1), within = within_range(z);
    return z == within ? 0 : log_quotient(x, d2 / d1) - log(within);
}

__device__ real noncentral_f_logpdf(real x, real d1, real d2, real lam)
{
    real a = 0.5 * d1, b = 0.5 * d2, m = 0.5 * lam, z = within_range(x / (d2 / d1)), p = z / (1 + z), y = p * (a + b);
    real first = mixture_peak(m, a, y, p), beyond = log_beyond(x, d1, d2), value;
    if (mixture_has_stride(m))
        value = log_mixture(0, m, a, b, p, 1 / (1 + z)) - log(x) + (beyond < 0 ? a : -b) * beyond;
    else
        value = log_poisson(first, m) + beta_prime_logpdf(x, a + first, b, d2 / d1) + log_mixture_density(m, a, y, p, first);
    real at_zero = log_power_at_zero(d1 - 2, -m + ((b + 1) * m - b - 1) * (x * d1 / d2));
    return mixture_is_vague(m) || isinf(d1 + d2) ? NAN : x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

// log(f_j) = log(I_p(a, b) - I_p(a + 1, b))
__device__ real log_power(real a, real b, real p, real q)
{
    return log_beta_power(a, b, p, q) - log(a);
}

// log P(X <= x), as if nothing were beyond the range above it
__device__ real log_below(real x, real d1, real d2, real lam)
{
    real a = 0.5 * d1, b = 0.5 * d2, m = 0.5 * lam, beyond = a * fmin(log_beyond(x, d1, d2), (real)0);
    real z = within_range(x / (d2 / d1)), p = z / (1 + z), q = 1 / (1 + z), y = p * (a + b);
    if (mixture_has_stride(m)) return log_mixture(-1, m, a, b, p, q) + beyond;
    real top = mixture_top(m, a, y, p), log_p = log_beta_p(a + top, b, p, q);
    real ratio = exp(log_power(a + top, b, p, q) - log_p);
    if (m == 0) return log_p - m * ratio + beyond;
    return log_poisson(top, m) + log_p + log_mixture_below(m, a, y, p, top, ratio) + beyond;
}

// log P(X > x), as if nothing were beyond the range below it
__device__ real log_above(real x, real d1, real d2, real lam)
{
    real a = 0.5 * d1, b = 0.5 * d2, m = 0.5 * lam, beyond = -b * fmax(log_beyond(x, d1, d2), (real)0);
    real z = within_range(x / (d2 / d1)), p = z / (1 + z), q = 1 / (1 + z), y = p * (a + b);
    if (mixture_has_stride(m)) return log_mixture(1, m, a, b, p, q) + beyond;
    real bottom = mixture_bottom(m, a, y, p), log_q = log_beta_p(b, a + bottom, q, p);
    real ratio = exp(log_power(a + bottom, b, p, q) - log_q);
    if (m == 0) return log_q + m * ratio + beyond;
    return log_poisson(bottom, m) + log_q + log_mixture_above(m, a, y, p, bottom, ratio) + beyond;
}

__device__ real noncentral_f_logcdf(real x, real d1, real d2, real lam)
{
    if (x == 0 || isinf(x)) return x == 0 ? -INFINITY : 0;
    return log_beyond(x, d1, d2) > 0 ? log1mexp(log_above(x, d1, d2, lam)) : log_below(x, d1, d2, lam);
}

__device__ real noncentral_f_logsf(real x, real d1, real d2, real lam)
{
    if (x == 0 || isinf(x)) return x == 0 ? 0 : -INFINITY;
    return log_beyond(x, d1, d2) < 0 ? log1mexp(log_below(x, d1, d2, lam)) : log_above(x, d1, d2, lam);
}

__device__ real noncentral_f_sample(rng_t *rng, real d1, real d2, real lam)
{
    real j = poisson_sample(rng, 0.5 * lam);
    return beta_prime_sample(rng, 0.5 * d1 + j, 0.5 * d2, d2 / d1);
}

__device__ real noncentral_f_mean(real d1, real d2, real lam)
{
    return d2 > 2 ? d2 * (d1 + lam) / (d1 * (d2 - 2)) : INFINITY;
}

__device__ real noncentral_f_var(real d1, real d2, real lam)
{
    real ratio = d2 / d1 / (d2 - 2), sum = d1 + lam;
    return d2 > 4 ? 2 * ratio * ratio * (sum * sum + (d1 + 2 * lam) * (d2 - 2)) / (d2 - 4) : INFINITY;
}
