// inverse_gamma: 1 / x has a gamma distribution
// x: nonnegative    alpha: positive, shape    beta: positive, scale
// source: Gelman et al. (2013), Bayesian Data Analysis, appendix A; for large shapes, Loader (2000)
__device__ real inverse_gamma_logpdf(real x, real alpha, real beta)
{
    real value;
    if (large_shape(alpha)) {
        real u = fma(-alpha, x, beta) * (1 / x) * (1 / alpha);
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_ratio_excess((beta / alpha) * (1 / x), fmax(u, (real)-1));
    } else {
        value = (alpha * log(beta) - log_gamma(alpha)) - (alpha + 1) * log(x) - beta * (1 / x);
    }
    return x == 0 || isinf(x) ? -INFINITY : value;
}

__device__ real inverse_gamma_sample(rng_t *rng, real alpha, real beta)
{
    if (alpha < 1) return exp(log(beta) - gamma_logarithm(rng, alpha));  // the gamma variable may underflow
    return beta / gamma_sample(rng, alpha, 1);
}
