// yule_simon: Yule-Simon, geometric whose logarithm of the probability is exponential
// used for: numbers of species by genus, of papers by author, of links by page
// x: positive integer    alpha: positive, exponent of the tail
// mass: alpha * B(x, alpha + 1)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6
__device__ real yule_simon_logpmf(real x, real alpha)
{
    return log(alpha) + lbeta(x, alpha + 1);
}

// log(x B(x, alpha + 1)), also relative to alpha where that is small
__device__ real yule_simon_logsf(real x, real alpha)
{
    if (alpha < 0.5) return log_gamma_1p(alpha) - log_rising(x + 1, alpha);
    return log(x) + lbeta(x, alpha + 1);
}

__device__ real yule_simon_logcdf(real x, real alpha)
{
    return log1mexp(yule_simon_logsf(x, alpha));
}

// Source: Devroye (1986), Non-Uniform Random Variate Generation, ch. X.6
__device__ real yule_simon_sample(rng_t *rng, real alpha)
{
    real e = exponential(rng), f = exponential(rng);
    return fmax(ceil(-e / log1mexp(-f / alpha)), (real)1);
}

__device__ real yule_simon_mean(real alpha) { return alpha > 1 ? alpha / (alpha - 1) : INFINITY; }

__device__ real yule_simon_var(real alpha)
{
    real ratio = alpha / (alpha - 1);
    return alpha > 2 ? ratio * ratio / (alpha - 2) : alpha > 1 ? INFINITY : NAN;
}

__device__ real yule_simon_skewness(real alpha)
{
    real a = alpha + 1;
    return alpha > 3 ? sqrt(alpha - 2) * a * (a / (alpha * (alpha - 3))) : alpha > 2 ? INFINITY : NAN;
}

__device__ real yule_simon_kurtosis(real alpha)
{
    real s = 1 / alpha, excess = (11 - s * s * (49 + 22 * s)) / ((1 - 4 * s) * (1 - 3 * s));
    return alpha > 4 ? alpha + 3 + excess : alpha > 2 ? INFINITY : NAN;
}

__device__ real yule_simon_mode(real alpha) { return 1; }
