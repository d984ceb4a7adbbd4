// noncentral_chi_squared: sum of squared normal variables of variance 1 whose means are not 0
// used for: the power of chi-squared tests, and energies of signals in noise
// x: nonnegative    nu: positive, degrees of freedom    lam: nonnegative, sum of the squared means
// density: Sum(exp(-m) * m**j / factorial(j) * x**(nu / 2 + j - 1) * exp(-x / 2) /
// (2**(nu / 2 + j) * Gamma(nu / 2 + j)), j, 0, inf)    m = lam / 2
// source: Johnson, Kotz & Balakrishnan (1995), ch. 29
//
// It is a chi-squared variable whose degrees of freedom are nu + 2 j, j being a Poisson variable of mean lam / 2. As far as the rounding
// of x, nu and lam does, values err by about EPSILON sqrt(lam) near the mean, and where that is above 0.01, all is nan.
__device__ real noncentral_chi_squared_logpdf(real x, real nu, real lam)
{
    real a = 0.5 * nu, m = 0.5 * lam, y = fmax(0.5 * x, within_range(0)), first = mixture_peak(m, a, y, 0), value;
    if (mixture_has_stride(m))
        value = log_mixture(0, m, a, INFINITY, y, 1) - LOG_2 - log(y);
    else
        value = log_poisson(first, m) + gamma_logpdf(y, a + first, 1) - LOG_2 + log_mixture_density(m, a, y, 0, first);
    if (0.5 * x < y) value += (a - 1) * (log(x) - LOG_2 - log(y));  // it follows a power law there
    real at_zero = log_power_at_zero(nu - 2, -LOG_2 - m + 0.5 * x * (m - 1));
    return mixture_is_vague(m) || isinf(nu) ? NAN : x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real noncentral_chi_squared_logcdf(real x, real nu, real lam)
{
    real a = 0.5 * nu, m = 0.5 * lam, y = 0.5 * x;
    if (x == 0 || y > within_range(y)) return x == 0 ? -INFINITY : 0;
    if (y == 0) return log_gamma_p_of_power(a, y, log(x) - LOG_2) - m;
    if (mixture_has_stride(m)) return log_mixture(-1, m, a, INFINITY, y, 1);
    real top = mixture_top(m, a, y, 0), log_p = log_gamma_p_of_power(a + top, y, log(x) - LOG_2);
    real ratio = exp(log_gamma_power(a + top, y) - log_p);
    if (m == 0) return log_p - m * ratio;
    return log_poisson(top, m) + log_p + log_mixture_below(m, a, y, 0, top, ratio);
}

__device__ real noncentral_chi_squared_logsf(real x, real nu, real lam)
{
    real a = 0.5 * nu, m = 0.5 * lam, y = 0.5 * x;
    if (x == 0) return 0;
    if (y > within_range(y)) return noncentral_chi_squared_logpdf(x, nu, lam) + LOG_2;  // as far as it has digits
    if (y == 0) return log1mexp(log_gamma_p_of_power(a, y, log(x) - LOG_2) - m);
    if (mixture_has_stride(m)) return log_mixture(1, m, a, INFINITY, y, 1);
    real bottom = mixture_bottom(m, a, y, 0), log_q = log_gamma_q(a + bottom, y);
    real ratio = exp(log_gamma_power(a + bottom, y) - log_q);
    if (m == 0) return log_q + m * ratio;
    return log_poisson(bottom, m) + log_q + log_mixture_above(m, a, y, 0, bottom, ratio);
}

__device__ real noncentral_chi_squared_sample(rng_t *rng, real nu, real lam)
{
    real j = poisson_sample(rng, 0.5 * lam);
    return 2 * gamma_sample(rng, 0.5 * nu + j, 1);
}

__device__ real noncentral_chi_squared_mean(real nu, real lam) { return nu + lam; }
__device__ real noncentral_chi_squared_var(real nu, real lam) { return 2 * (nu + 2 * lam); }

__device__ real noncentral_chi_squared_skewness(real nu, real lam)
{
    real half = nu + 2 * lam;
    return 2 * SQRT_2 * (nu + 3 * lam) / (half * sqrt(half));
}

__device__ real noncentral_chi_squared_kurtosis(real nu, real lam)
{
    real half = nu + 2 * lam;
    return 12 * (nu + 4 * lam) / (half * half);
}
