// zero_inflated_poisson: Poisson with probability psi, else 0
// used for: counts with more zeros than Poisson's law has, such as catches or defects
// x: nonnegative integer    psi: unit, proportion of Poisson draws    mu: nonnegative, mean of the Poisson draws
// mass: 1 - psi + psi * exp(-mu) if x == 0 else psi * mu**x * exp(-mu) / factorial(x)
// source: Lambert (1992), Zero-inflated Poisson regression, with an application to defects in manufacturing
__device__ real zero_inflated_poisson_logpmf(real x, real psi, real mu)
{
    if (x == 0) return logaddexp(log1p(-psi), log(psi) - mu);
    return log(psi) + poisson_logpmf(x, mu);
}

// The derivative in psi, without the infinite terms that the sum of logarithms has at psi = 0 and 1.
__device__ real zero_inflated_poisson_logpmf_grad_psi(real x, real psi, real mu)
{
    return x == 0 ? expm1(-mu) * exp(-zero_inflated_poisson_logpmf(x, psi, mu)) : 1 / psi;
}

__device__ real zero_inflated_poisson_logcdf(real x, real psi, real mu)
{
    real log_cdf = poisson_logcdf(x, mu), value = (1 - psi) + psi * exp(log_cdf);
    return value > EPSILON ? log(value) : logaddexp(log1p(-psi), log(psi) + log_cdf);
}

__device__ real zero_inflated_poisson_logsf(real x, real psi, real mu)
{
    return log(psi) + poisson_logsf(x, mu);
}

__device__ real zero_inflated_poisson_sample(rng_t *rng, real psi, real mu)
{
    if (uniform(rng) > psi) return 0;
    return poisson_sample(rng, mu);
}

__device__ real zero_inflated_poisson_mean(real psi, real mu) { return psi * mu; }
__device__ real zero_inflated_poisson_var(real psi, real mu) { return psi * mu * (1 + (1 - psi) * mu); }
