// discrete_laplace: whole numbers whose probabilities fall off geometrically on both sides of 0
// used for: differences of counts, and noise that protects the privacy of published counts
// x: integer    a: positive, rate at which the logarithm of the probability falls
// mass: tanh(a / 2) * exp(-a * abs(x))
// source: Inusah & Kozubowski (2006), A discrete analogue of the Laplace distribution
__device__ real discrete_laplace_logpmf(real x, real a)
{
    return log(tanh(0.5 * a)) - a * fabs(x);
}

// log P(|X| beyond some number on one side), `steps` away from the first number there
__device__ real log_side(real steps, real a)
{
    return -a * steps - log1p(exp(-a));
}

__device__ real discrete_laplace_logcdf(real x, real a)
{
    return x < 0 ? log_side(-x, a) : log1mexp(log_side(x + 1, a));
}

__device__ real discrete_laplace_logsf(real x, real a)
{
    return x < 0 ? log1mexp(log_side(-x, a)) : log_side(x + 1, a);
}

__device__ real discrete_laplace_ppf(real q, real a)
{
    if (q <= 0.5) return ceil((log(q) + log1p(exp(-a))) / a);
    return fmax(ceil(-(log1p(-q) + log1p(exp(-a))) / a) - 1, (real)0);
}

__device__ real discrete_laplace_sample(rng_t *rng, real a)
{
    real u = uniform(rng), size = floor(-(log(fmin(u, 1 - u)) + log1p(exp(-a))) / a);
    return u < 0.5 ? -size : size;
}

__device__ real discrete_laplace_mean(real a) { return 0; }

__device__ real discrete_laplace_var(real a)
{
    real s = sinh(0.5 * a);
    return 0.5 / s / s;
}

__device__ real discrete_laplace_skewness(real a) { return 0; }
__device__ real discrete_laplace_kurtosis(real a) { return 2 + cosh(a); }
__device__ real discrete_laplace_entropy(real a) { return a / sinh(a) - log(tanh(0.5 * a)); }
__device__ real discrete_laplace_median(real a) { return 0; }
__device__ real discrete_laplace_mode(real a) { return 0; }
