// pareto: the Pareto distribution (type I)
// x: real    alpha: positive, shape    m: positive, minimum
// source: Johnson, Kotz & Balakrishnan (1994), ch. 20
__device__ real pareto_logpdf(real x, real alpha, real m)
{
    if (x < m) return -INFINITY;
    return log(alpha / m) - (alpha + 1) * log1p((x - m) * (1 / m));
}
