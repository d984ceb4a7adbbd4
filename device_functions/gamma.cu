// gamma: the gamma distribution
// x: nonnegative    alpha: positive, shape    beta: positive, rate
// source: Johnson, Kotz & Balakrishnan (1994), ch. 17; for large shapes, Loader (2000)
__device__ real gamma_logpdf(real x, real alpha, real beta)
{
    real value;
    if (large_shape(alpha)) {
        real u = fma(beta, x, -alpha) * (1 / alpha);
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_ratio_excess(x * (beta / alpha), u);
    } else {
        value = (alpha * log(beta) - log_gamma(alpha)) + (alpha - 1) * log(x) - beta * x;
    }
    real at_zero = alpha < 1 ? INFINITY : alpha > 1 ? -INFINITY : log(beta) - beta * x;
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real gamma_logpdf_grad_alpha(real x, real alpha, real beta)
{
    return isinf(x) ? 0 : log(x) + (log(beta) - digamma(alpha));
}

__device__ real gamma_logpdf_grad_beta(real x, real alpha, real beta)
{
    return isinf(x) ? 0 : -fma(beta, x, -alpha) * (1 / beta);
}
