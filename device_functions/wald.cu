// wald: the Wald (inverse Gaussian) distribution
// x: nonnegative    mu: positive, mean    lam: positive, shape
// source: Johnson, Kotz & Balakrishnan (1994), ch. 15
__device__ real wald_logpdf(real x, real mu, real lam)
{
    if (x == 0 || isinf(x)) return -INFINITY;
    real d = x - mu;
    return (0.5 * log(lam) - HALF_LOG_2PI) - 1.5 * log(x) - 0.5 * (d * (lam / mu)) * (d * (1 / mu) * (1 / x));
}
