// birnbaum_saunders: the Birnbaum-Saunders (fatigue life) distribution
// used for: lifetimes of parts that fail when a crack has grown to its limit
// x: nonnegative    alpha: positive, shape    beta: positive, scale
// density: (z + 1) / (2 * alpha * beta * z**(3 / 2)) * phi((sqrt(z) - 1 / sqrt(z)) / alpha)    z = x / beta
// source: Birnbaum & Saunders (1969), A new family of life distributions

// The standard normal variable that x is a function of
__device__ real standardised(real x, real alpha, real beta)
{
    return (x - beta) / (sqrt(x) * (alpha * sqrt(beta)));
}

__device__ real birnbaum_saunders_logpdf(real x, real alpha, real beta)
{
    if (x == 0 || isinf(x)) return -INFINITY;
    real normal = standardised(x, alpha, beta), log_z = log_quotient(x, beta), smaller = x < beta ? x / beta : beta / x;
    return -(LOG_2 + HALF_LOG_2PI + log(alpha) + log(beta)) + (log1p(smaller) - (x < beta ? 1.5 : 0.5) * log_z)
         - 0.5 * normal * normal;
}

__device__ real birnbaum_saunders_logpdf_grad_beta(real x, real alpha, real beta)
{
    if (x == 0 || isinf(x)) return 0;
    return 0.5 * ((x - beta) / beta) * ((1 / x + 1 / beta) / alpha / alpha - 1 / (x + beta));
}

__device__ real birnbaum_saunders_logcdf(real x, real alpha, real beta)
{
    return x == 0 ? -INFINITY : isinf(x) ? 0 : log_ndtr(standardised(x, alpha, beta));
}

__device__ real birnbaum_saunders_logsf(real x, real alpha, real beta)
{
    return x == 0 ? 0 : isinf(x) ? -INFINITY : log_ndtr(-standardised(x, alpha, beta));
}

__device__ real transformed(real normal, real alpha, real beta)
{
    real w = 0.5 * alpha * fabs(normal), root = w + hypot((real)1, w);
    return normal < 0 ? beta / root / root : beta * root * root;
}

__device__ real birnbaum_saunders_ppf(real q, real alpha, real beta) { return transformed(ndtri(q), alpha, beta); }
__device__ real birnbaum_saunders_isf(real q, real alpha, real beta) { return transformed(-ndtri(q), alpha, beta); }
__device__ real birnbaum_saunders_sample(rng_t *rng, real alpha, real beta) { return transformed(normal(rng), alpha, beta); }
__device__ real birnbaum_saunders_mean(real alpha, real beta) { return beta * (1 + 0.5 * alpha * alpha); }

__device__ real birnbaum_saunders_var(real alpha, real beta)
{
    real s = alpha * alpha;
    return beta * beta * s * (1 + 1.25 * s);
}

__device__ real birnbaum_saunders_skewness(real alpha, real beta)
{
    real s = alpha * alpha;
    return 4 * alpha * (11 * s + 6) / ((5 * s + 4) * sqrt(5 * s + 4));
}

__device__ real birnbaum_saunders_kurtosis(real alpha, real beta)
{
    real s = alpha * alpha;
    return 6 * s * (93 * s + 40) / ((5 * s + 4) * (5 * s + 4));
}

__device__ real birnbaum_saunders_median(real alpha, real beta) { return beta; }
