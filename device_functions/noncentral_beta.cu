// noncentral_beta: the noncentral beta distribution, of a noncentral chi-squared variable's share of its sum with a central one
// used for: the power of tests in the analysis of variance, as a share of sums of squares
// x: unit    alpha: positive, shape at 0    beta: positive, shape at 1    lam: nonnegative, noncentrality
// density: Sum(exp(-m) * m**j / factorial(j) * x**(a[j] - 1) * (1 - x)**(beta - 1) / B(a[j], beta), j, 0, inf)    m = lam / 2
// a[j] = alpha + j
// source: Johnson, Kotz & Balakrishnan (1995), ch. 30
//
// A beta variable whose first shape is alpha + j, j being a Poisson variable of mean lam / 2; see noncentral_chi_squared.
__device__ real noncentral_beta_logpdf(real x, real alpha, real beta, real lam)
{
    real m = 0.5 * lam, y = x * (alpha + beta), first = mixture_peak(m, alpha, y, x), end = alpha + m, value;
    if (mixture_has_stride(m))
        value = log_mixture(0, m, alpha, beta, x, 1 - x) - log(x) - log1p(-x);
    else
        value = log_poisson(first, m) + beta_logpdf(x, alpha + first, beta) + log_mixture_density(m, alpha, y, x, first);
    real at_zero = log_power_at_zero(alpha - 1, log(beta) - m + ((beta + 1) * m - (beta - 1)) * x);
    real at_one = log_power_at_zero(beta - 1, log(end) + (end - 1 + m / end) * (x - 1));
    return mixture_is_vague(m) || isinf(alpha + beta) ? NAN : x == 0 ? at_zero : x == 1 ? at_one : value;
}

// log(f_j) = log(I_x(a, b) - I_x(a + 1, b))
__device__ real log_power(real a, real b, real x)
{
    return log_beta_power(a, b, x, 1 - x) - log(a);
}

__device__ real noncentral_beta_logcdf(real x, real alpha, real beta, real lam)
{
    if (x == 0 || x == 1) return x == 0 ? -INFINITY : 0;
    real m = 0.5 * lam, y = x * (alpha + beta);
    if (mixture_has_stride(m)) return log_mixture(-1, m, alpha, beta, x, 1 - x);
    real top = mixture_top(m, alpha, y, x), log_p = log_beta_p(alpha + top, beta, x, 1 - x);
    real ratio = exp(log_power(alpha + top, beta, x) - log_p);
    if (m == 0) return log_p - m * ratio;
    return log_poisson(top, m) + log_p + log_mixture_below(m, alpha, y, x, top, ratio);
}

__device__ real noncentral_beta_logsf(real x, real alpha, real beta, real lam)
{
    if (x == 0 || x == 1) return x == 0 ? 0 : -INFINITY;
    real m = 0.5 * lam, y = x * (alpha + beta);
    if (mixture_has_stride(m)) return log_mixture(1, m, alpha, beta, x, 1 - x);
    real bottom = mixture_bottom(m, alpha, y, x);
    real log_q = log_beta_p(beta, alpha + bottom, 1 - x, x), ratio = exp(log_power(alpha + bottom, beta, x) - log_q);
    if (m == 0) return log_q + m * ratio;
    return log_poisson(bottom, m) + log_q + log_mixture_above(m, alpha, y, x, bottom, ratio);
}

__device__ real noncentral_beta_sample(rng_t *rng, real alpha, real beta, real lam)
{
    real j = poisson_sample(rng, 0.5 * lam);
    return beta_sample(rng, alpha + j, beta);
}
