// gamma_log: the gamma distribution by the logarithm of its mean; the variance is mean^2 / nu
// x: nonnegative    eta: real, logarithm of the mean    nu: positive, shape
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 8; in the form of Loader (2000)

// x / mean - 1; the root of the mean neither overflows nor underflows where x / mean does not
__device__ real excess(real x, real eta)
{
    real root = exp(-0.5 * eta);
    return fma(x * root, root, -1);
}

__device__ real gamma_log_logpdf(real x, real eta, real nu)
{
    real value = (0.5 * log(nu) - HALF_LOG_2PI - stirling_error(nu)) - log(x)
               + nu * log_excess(log(x) - eta, excess(x, eta));
    real at_zero = nu < 1 ? INFINITY : nu > 1 ? -INFINITY : -eta - x * exp(-eta);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real gamma_log_sample(rng_t *rng, real eta, real nu)
{
    real x = gamma_standard(rng, nu < 1 ? nu + 1 : nu) / nu;
    return nu < 1 ? exp(eta + (log(x) - exponential(rng) / nu)) : exp(eta) * x;
}
