// gamma: the gamma distribution
// x: nonnegative    alpha: positive, shape    beta: positive, rate
// source: Johnson, Kotz & Balakrishnan (1994), ch. 17; for large shapes, Loader (2000)
__device__ real gamma_logpdf(real x, real alpha, real beta)
{
    if (isinf(x)) return -INFINITY;
    if (x == 0) return alpha < 1 ? INFINITY : alpha > 1 ? -INFINITY : log(beta);
    if (large_shape(alpha)) {
        real u = fma(beta, x, -alpha) * (1 / alpha);
        return (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
             + alpha * log_ratio_excess(x * (beta / alpha), u);
    }
    return (alpha * log(beta) - log_gamma(alpha)) + (alpha - 1) * log(x) - beta * x;
}
