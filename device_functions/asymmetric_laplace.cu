// asymmetric_laplace: Laplace with a different scale on each side
// used for: quantile regression, and returns or errors with a sharp peak and unequal tails
// x: real    kappa: positive, asymmetry    mu: real, location    b: positive, inverse scale
// density: b / (kappa + 1 / kappa) * exp(-abs(x - mu) * s)    s = b / kappa if x < mu else b * kappa
// source: Kotz, Kozubowski & Podgórski (2001), ch. 3
__device__ real asymmetric_laplace_logpdf(real x, real kappa, real mu, real b)
{
    real rate = x < mu ? -b / kappa : b * kappa;
    return log(b / (kappa + 1 / kappa)) - (x - mu) * rate;
}

__device__ real asymmetric_laplace_logcdf(real x, real kappa, real mu, real b)
{
    return x < mu ? (x - mu) * (b / kappa) - log1p_square(1 / kappa)
                  : log1mexp((mu - x) * (b * kappa) - log1p_square(kappa));
}

__device__ real asymmetric_laplace_logsf(real x, real kappa, real mu, real b)
{
    return asymmetric_laplace_logcdf(-x, 1 / kappa, -mu, b);
}

__device__ real asymmetric_laplace_sample(rng_t *rng, real kappa, real mu, real b)
{
    real u = uniform(rng), below = 1 / (1 + 1 / kappa / kappa), above = 1 / (1 + kappa * kappa);
    return mu + (u < below ? kappa / b * log(u / below) : -1 / (b * kappa) * log((1 - u) / above));
}

// kappa b (x - mu) for x above mu, where the probability of what lies above x is `tail` = 1 - rest: -log(tail (1 + kappa^2))
__device__ real distance_above(real tail, real rest, real kappa)
{
    real share = rest - kappa * kappa * tail;
    return share < 0.5 ? -log1p(-share) : -log(tail * (1 + kappa * kappa));
}

__device__ real quantile(real below, real above, real kappa, real mu, real b)
{
    return below < kappa * kappa * above ? mu - kappa / b * distance_above(below, above, 1 / kappa)
                                         : mu + distance_above(above, below, kappa) / (kappa * b);
}

__device__ real asymmetric_laplace_ppf(real q, real kappa, real mu, real b) { return quantile(q, 1 - q, kappa, mu, b); }
__device__ real asymmetric_laplace_isf(real q, real kappa, real mu, real b) { return quantile(1 - q, q, kappa, mu, b); }

__device__ real asymmetric_laplace_mean(real kappa, real mu, real b) { return mu + (1 / kappa - kappa) / b; }

__device__ real asymmetric_laplace_var(real kappa, real mu, real b)
{
    return (1 / (kappa * kappa) + kappa * kappa) / (b * b);
}

// Here and below by the cumulants of a difference of two exponential variables
__device__ real asymmetric_laplace_skewness(real kappa, real mu, real b)
{
    real t = fmin(kappa, 1 / kappa), s = t * t, value = 2 * (1 - s * s * s) / pow(1 + s * s, (real)1.5);
    return kappa < 1 ? value : -value;
}

__device__ real asymmetric_laplace_kurtosis(real kappa, real mu, real b)
{
    real t = fmin(kappa, 1 / kappa), s = t * t * t * t;
    return 6 * (1 + s * s) / ((1 + s) * (1 + s));
}

__device__ real asymmetric_laplace_entropy(real kappa, real mu, real b) { return 1 + log((kappa + 1 / kappa) / b); }
__device__ real asymmetric_laplace_mode(real kappa, real mu, real b) { return mu; }
