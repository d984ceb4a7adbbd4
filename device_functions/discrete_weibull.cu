// discrete_weibull: Weibull variables, rounded down to whole numbers
// used for: lifetimes counted in whole cycles, shocks or periods
// x: nonnegative integer    q: positive unit, below 1, P(X > 0)    beta: positive, shape
// mass: q**(x**beta) - q**((x + 1)**beta)
// source: Nakagawa & Osaki (1975), The discrete Weibull distribution
__device__ real discrete_weibull_logpmf(real x, real q, real beta)
{
    if (q == 1) return NAN;
    real power = pow(x, beta), step = x == 0 ? 1 : power * expm1(beta * log1p(1 / x));  // (x + 1)^beta - x^beta
    return power * log(q) + log1mexp(fmax(step * log(q), (real)-200));  // of an infinite step 0, and so is its derivative
}

__device__ real discrete_weibull_logcdf(real x, real q, real beta)
{
    return log1mexp(pow(x + 1, beta) * log(q));
}

__device__ real discrete_weibull_logsf(real x, real q, real beta)
{
    return pow(x + 1, beta) * log(q);
}

__device__ real discrete_weibull_ppf(real p, real q, real beta)
{
    return fmax(ceil(pow(log1p(-p) / log(q), 1 / beta)) - 1, (real)0);
}

__device__ real discrete_weibull_isf(real p, real q, real beta)
{
    return fmax(ceil(pow(log(p) / log(q), 1 / beta)) - 1, (real)0);
}

__device__ real discrete_weibull_sample(rng_t *rng, real q, real beta)
{
    real u = uniform(rng);
    return discrete_weibull_isf(u, q, beta);
}
