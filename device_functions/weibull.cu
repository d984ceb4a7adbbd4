// weibull: the Weibull distribution
// x: nonnegative    alpha: positive, shape    beta: positive, scale
// source: Johnson, Kotz & Balakrishnan (1994), ch. 21
__device__ real weibull_logpdf(real x, real alpha, real beta)
{
    if (isinf(x)) return -INFINITY;
    real log_z = log(x / beta);
    return log(alpha / beta) + (alpha == 1 ? 0 : (alpha - 1) * log_z) - exp(alpha * log_z);
}
