// planck: discrete exponential, a geometric distribution that starts at 0
// used for: energy levels of an oscillator, and counts of failures before a success by a rate
// x: nonnegative integer    lam: positive, rate
// mass: (1 - exp(-lam)) * exp(-lam * x)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5
__device__ real planck_logpmf(real x, real lam)
{
    return log1mexp(-lam) - lam * x;
}

__device__ real planck_logcdf(real x, real lam)
{
    return log1mexp(-lam * (x + 1));
}

__device__ real planck_logsf(real x, real lam)
{
    return -lam * (x + 1);
}

__device__ real planck_ppf(real q, real lam)
{
    return fmax(ceil(-log1p(-q) / lam) - 1, (real)0);
}

__device__ real planck_isf(real q, real lam)
{
    return fmax(ceil(-log(q) / lam) - 1, (real)0);
}

__device__ real planck_sample(rng_t *rng, real lam)
{
    return floor(-log(uniform(rng)) / lam);
}

__device__ real planck_mean(real lam) { return 1 / expm1(lam); }

__device__ real planck_var(real lam)
{
    real s = sinh(0.5 * lam);
    return 0.25 / s / s;
}

__device__ real planck_skewness(real lam) { return 2 * cosh(0.5 * lam); }
__device__ real planck_kurtosis(real lam) { return 4 + 2 * cosh(lam); }
__device__ real planck_entropy(real lam) { return lam / expm1(lam) - log1mexp(-lam); }
__device__ real planck_mode(real lam) { return 0; }
