// truncated_weibull: Weibull distribution confined to an interval
// used for: lifetimes and diameters of trees that were recorded in a range only
// x: nonnegative    alpha: positive, shape    beta: positive, scale    lower: nonnegative, lower bound
// upper: positive, upper bound
// density: alpha / beta * (x / beta)**(alpha - 1) * S[x] / (S[lower] - S[upper]) if lower <= x <= upper else 0
// S[t] = exp(-(t / beta)**alpha)
// source: McEwen & Parresol (1991), Moment expressions and summary statistics for the complete and truncated Weibull distribution

// log((b / beta)^alpha - (a / beta)^alpha), 0 <= a <= b
__device__ real log_hazard(real a, real b, real alpha, real beta)
{
    return alpha * log_quotient(b, beta) + (a > 0 ? log1mexp(-alpha * log1p((b - a) / a)) : 0);
}

// The logarithm of P(a < X <= b) / P(X > a), X being a Weibull variable
__device__ real log_mass(real a, real b, real alpha, real beta)
{
    return gumbel_logsf(-log_hazard(a, b, alpha, beta), 0, 1);
}

__device__ real truncated_weibull_logpdf(real x, real alpha, real beta, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x < lower || x > upper || isinf(x)) return -INFINITY;
    return (log(alpha / beta) - log_mass(lower, upper, alpha, beta)) + xlogy(alpha - 1, x / beta)
         - (x > lower ? exp(log_hazard(lower, x, alpha, beta)) : 0);
}

__device__ real truncated_weibull_logcdf(real x, real alpha, real beta, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    return log_mass(lower, x, alpha, beta) - log_mass(lower, upper, alpha, beta);
}

__device__ real truncated_weibull_logsf(real x, real alpha, real beta, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? 0 : -INFINITY;
    return log_mass(x, upper, alpha, beta) - log_mass(lower, upper, alpha, beta) - exp(log_hazard(lower, x, alpha, beta));
}

// The x with (x / beta)^alpha - (lower / beta)^alpha = gap; either power may be no number.
__device__ real beyond(real log_gap, real alpha, real beta, real lower, real upper)
{
    real more = log_gap - alpha * log_quotient(lower, beta);
    real x = lower > 0 && more < 0 ? lower * exp(log1p(exp(more)) / alpha) : scaled_exp(beta, (log_gap + log1p(exp(-more))) / alpha);
    return fmin(fmax(x, lower), upper);
}

__device__ real truncated_weibull_ppf(real q, real alpha, real beta, real lower, real upper)
{
    real whole = log_hazard(lower, upper, alpha, beta), hazard = exp(whole);
    real log_gap = hazard < EPSILON ? log(q) + whole : log(truncated_exponential_ppf(q, 1, hazard));
    return beyond(log_gap, alpha, beta, lower, upper);
}

__device__ real truncated_weibull_isf(real q, real alpha, real beta, real lower, real upper)
{
    real whole = log_hazard(lower, upper, alpha, beta), hazard = exp(whole);
    real log_gap = hazard < EPSILON ? log1p(-q) + whole : log(truncated_exponential_isf(q, 1, hazard));
    return beyond(log_gap, alpha, beta, lower, upper);
}

__device__ real truncated_weibull_sample(rng_t *rng, real alpha, real beta, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    return truncated_weibull_ppf(uniform(rng), alpha, beta, lower, upper);
}

__device__ real truncated_weibull_mode(real alpha, real beta, real lower, real upper)
{
    return fmin(fmax(weibull_mode(alpha, beta), lower), upper);
}

__device__ real truncated_weibull_lower(real alpha, real beta, real lower, real upper) { return lower; }
__device__ real truncated_weibull_upper(real alpha, real beta, real lower, real upper) { return upper; }
