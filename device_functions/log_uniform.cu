// log_uniform: the log-uniform (reciprocal) distribution, whose logarithm has a uniform one
// used for: scale parameters of which the order of magnitude alone is known
// x: nonnegative    lower: positive, lower bound    upper: positive, upper bound
// density: 1 / (x * log(upper / lower)) if lower <= x <= upper else 0
// source: Hamming (1970), On the distribution of numbers
__device__ real range(real lower, real upper)
{
    real excess = (upper - lower) / lower;
    return isinf(excess) ? log(upper) - log(lower) : log1p(excess);
}

__device__ real log_uniform_logpdf(real x, real lower, real upper)
{
    if (!(lower < upper && upper < INFINITY)) return NAN;
    return x < lower || x > upper ? -INFINITY : -log(range(lower, upper)) - log(x);
}

__device__ real log_uniform_logcdf(real x, real lower, real upper)
{
    if (!(lower < upper && upper < INFINITY)) return NAN;
    return x <= lower ? -INFINITY : x >= upper ? 0 : log(range(lower, x) / range(lower, upper));
}

__device__ real log_uniform_logsf(real x, real lower, real upper)
{
    if (!(lower < upper && upper < INFINITY)) return NAN;
    return x <= lower ? 0 : x >= upper ? -INFINITY : log(range(x, upper) / range(lower, upper));
}

__device__ real log_uniform_ppf(real q, real lower, real upper)
{
    return q < 0.5 ? lower * exp(q * range(lower, upper)) : upper * exp(-(1 - q) * range(lower, upper));
}

__device__ real log_uniform_isf(real q, real lower, real upper)
{
    return q < 0.5 ? upper * exp(-q * range(lower, upper)) : lower * exp((1 - q) * range(lower, upper));
}

__device__ real log_uniform_sample(rng_t *rng, real lower, real upper)
{
    if (!(lower < upper && upper < INFINITY)) return NAN;
    return fmin(fmax(lower * exp(uniform(rng) * range(lower, upper)), lower), upper);
}

__device__ real log_uniform_mean(real lower, real upper) { return (upper - lower) / range(lower, upper); }

__device__ real log_uniform_entropy(real lower, real upper)
{
    return 0.5 * (log(lower) + log(upper)) + log(range(lower, upper));
}

__device__ real log_uniform_mode(real lower, real upper) { return lower; }
__device__ real log_uniform_lower(real lower, real upper) { return lower; }
__device__ real log_uniform_upper(real lower, real upper) { return upper; }
