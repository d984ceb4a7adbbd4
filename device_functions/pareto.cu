// pareto: the Pareto distribution (type I)
// x: real    alpha: positive, shape    m: positive, minimum
// source: Johnson, Kotz & Balakrishnan (1994), ch. 20
__device__ real pareto_logpdf(real x, real alpha, real m)
{
    if (x < m) return -INFINITY;
    return log(alpha / m) - (alpha + 1) * log1p((x - m) * (1 / m));
}

__device__ real pareto_logsf(real x, real alpha, real m)
{
    return x < m ? 0 : -alpha * log1p((x - m) * (1 / m));
}

__device__ real pareto_logcdf(real x, real alpha, real m)
{
    return log1mexp(pareto_logsf(x, alpha, m));
}

__device__ real pareto_sample(rng_t *rng, real alpha, real m)
{
    return m + m * expm1(exponential(rng) / alpha);
}
