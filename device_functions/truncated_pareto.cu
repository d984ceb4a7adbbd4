// truncated_pareto: Pareto distribution confined to an interval; log-uniform where alpha = 0
// used for: power laws that end: earthquakes, fires, sizes of particles
// x: real    alpha: real, shape    m: positive, lower bound    upper: positive, upper bound
// density: (0 if x < m or x > upper else 1 / (x * log(upper / m)) if alpha == 0 else alpha * m**alpha * x**(-alpha - 1) /
// (1 - (m / upper)**alpha))
// source: Aban, Meerschaert & Panorska (2006), Parameter estimation for the truncated Pareto distribution

// log(x / m) is a truncated exponential variable of rate alpha, and log(upper / x) one of rate -alpha.
__device__ real log_ratio(real x, real m)
{
    return log1p((x - m) * (1 / m));
}

__device__ real truncated_pareto_logpdf(real x, real alpha, real m, real upper)
{
    if (!(m < upper)) return NAN;
    if (x < m || x > upper || isinf(x)) return -INFINITY;
    real length = log_ratio(upper, m);
    if (alpha < 0) return -(log(upper) + log(expm1_quotient(alpha, length))) + (alpha + 1) * log_ratio(upper, x);
    return -(log(m) + log(expm1_quotient(-alpha, length))) - (alpha + 1) * log_ratio(x, m);
}

__device__ real truncated_pareto_logcdf(real x, real alpha, real m, real upper)
{
    if (!(m < upper)) return NAN;
    if (x <= m || x >= upper) return x <= m ? -INFINITY : 0;
    real y = log_ratio(x, m), length = log_ratio(upper, m);
    if (alpha < 0 && 2 * y > length) return truncated_exponential_logsf(log_ratio(upper, x), -alpha, length);
    return log_expm1_quotient(-alpha, y) - log_expm1_quotient(-alpha, length);
}

__device__ real truncated_pareto_logsf(real x, real alpha, real m, real upper)
{
    if (!(m < upper)) return NAN;
    if (x <= m || x >= upper) return x <= m ? 0 : -INFINITY;
    if (alpha < 0) return truncated_exponential_logcdf(log_ratio(upper, x), -alpha, log_ratio(upper, m));
    return log(expm1_quotient(-alpha, log_ratio(upper, x))) - log(expm1_quotient(-alpha, log_ratio(upper, m)))
         - alpha * log_ratio(x, m);
}

// upper exp(-y), to a rounding of the distance from `upper` where that is short
__device__ real below(real y, real upper)
{
    return y < 0.5 ? upper + upper * expm1(-y) : upper * exp(-y);
}

__device__ real truncated_pareto_ppf(real q, real alpha, real m, real upper)
{
    real length = log_ratio(upper, m);
    if (alpha < 0) return fmax(below(truncated_exponential_isf(q, -alpha, length), upper), m);
    return fmin(m + scaled_expm1(m, truncated_exponential_ppf(q, alpha, length)), upper);
}

__device__ real truncated_pareto_isf(real q, real alpha, real m, real upper)
{
    real length = log_ratio(upper, m);
    if (alpha < 0) return fmax(below(truncated_exponential_ppf(q, -alpha, length), upper), m);
    return fmin(m + scaled_expm1(m, truncated_exponential_isf(q, alpha, length)), upper);
}

__device__ real truncated_pareto_sample(rng_t *rng, real alpha, real m, real upper)
{
    if (!(m < upper)) return NAN;
    return truncated_pareto_ppf(uniform(rng), alpha, m, upper);
}

__device__ real truncated_pareto_mode(real alpha, real m, real upper) { return alpha < -1 ? upper : m; }
__device__ real truncated_pareto_lower(real alpha, real m, real upper) { return m; }
__device__ real truncated_pareto_upper(real alpha, real m, real upper) { return upper; }
