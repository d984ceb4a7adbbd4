// pareto: the Pareto distribution (type I)
// used for: incomes, sizes of cities and losses above a threshold
// x: real    alpha: positive, shape    m: positive, minimum
// density: alpha * m**alpha / x**(alpha + 1) if x >= m else 0
// source: Johnson, Kotz & Balakrishnan (1994), ch. 20
__device__ real pareto_logpdf(real x, real alpha, real m)
{
    if (x < m) return -INFINITY;
    return log(alpha / m) - (alpha + 1) * log1p((x - m) * (1 / m));
}

__device__ real pareto_logpdf_grad_m(real x, real alpha, real m) { return x < m ? 0 : alpha / m; }

__device__ real pareto_logsf(real x, real alpha, real m)
{
    real excess = (x - m) * (1 / m);
    return x < m ? 0 : -alpha * (isinf(excess) ? log_quotient(x, m) : log1p(excess));
}

__device__ real pareto_logcdf(real x, real alpha, real m)
{
    return log1mexp(pareto_logsf(x, alpha, m));
}

__device__ real pareto_sample(rng_t *rng, real alpha, real m)
{
    return scaled_exp(m, exponential(rng) / alpha);
}

__device__ real pareto_ppf(real q, real alpha, real m) { return scaled_exp(m, -log1p(-q) / alpha); }
__device__ real pareto_isf(real q, real alpha, real m) { return scaled_exp(m, -log(q) / alpha); }
__device__ real pareto_mean(real alpha, real m) { return alpha > 1 ? m * (alpha / (alpha - 1)) : INFINITY; }

__device__ real pareto_var(real alpha, real m)
{
    return alpha > 2 ? m * m * (alpha / ((alpha - 1) * (alpha - 1) * (alpha - 2))) : INFINITY;
}

__device__ real pareto_skewness(real alpha, real m)
{
    return alpha > 3 ? 2 * (1 + alpha) / (alpha - 3) * sqrt((alpha - 2) / alpha) : NAN;
}

__device__ real pareto_kurtosis(real alpha, real m)
{
    return alpha > 4 ? 6 * (alpha * (alpha * (alpha + 1) - 6) - 2) / (alpha * (alpha - 3) * (alpha - 4)) : NAN;
}

__device__ real pareto_entropy(real alpha, real m) { return log(m / alpha) + 1 / alpha + 1; }
__device__ real pareto_mode(real alpha, real m) { return m; }
__device__ real pareto_lower(real alpha, real m) { return m; }
