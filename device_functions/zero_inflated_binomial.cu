// zero_inflated_binomial: binomial with probability psi, else 0
// used for: successes in trials, where some units never succeed
// x: nonnegative integer    psi: unit, proportion of binomial draws
// n: nonnegative integer, number of trials    p: unit, probability of success
// mass: 1 - psi + psi * (1 - p)**n if x == 0 else psi * binomial(n, x) * p**x * (1 - p)**(n - x) if x <= n else 0
// source: Hall (2000), Zero-inflated Poisson and binomial regression with random effects: a case study
__device__ real zero_inflated_binomial_logpmf(real x, real psi, real n, real p)
{
    if (x == 0) return logaddexp(log1p(-psi), log(psi) + xlog1py(n, -p));
    return log(psi) + binomial_logpmf(x, n, p);
}

// The derivative in psi, without the infinite terms that the sum of logarithms has at psi = 0 and 1.
__device__ real zero_inflated_binomial_logpmf_grad_psi(real x, real psi, real n, real p)
{
    if (x > n) return 0;
    return x == 0 ? expm1(xlog1py(n, -p)) * exp(-zero_inflated_binomial_logpmf(x, psi, n, p)) : 1 / psi;
}

__device__ real zero_inflated_binomial_logcdf(real x, real psi, real n, real p)
{
    real log_cdf = binomial_logcdf(x, n, p), value = (1 - psi) + psi * exp(log_cdf);
    return value > EPSILON ? log(value) : logaddexp(log1p(-psi), log(psi) + log_cdf);
}

__device__ real zero_inflated_binomial_logsf(real x, real psi, real n, real p)
{
    return log(psi) + binomial_logsf(x, n, p);
}

__device__ real zero_inflated_binomial_sample(rng_t *rng, real psi, real n, real p)
{
    if (uniform(rng) > psi) return 0;
    return binomial_sample(rng, n, p);
}

__device__ real zero_inflated_binomial_mean(real psi, real n, real p) { return psi * n * p; }

__device__ real zero_inflated_binomial_var(real psi, real n, real p)
{
    return psi * n * p * ((1 - p) + (1 - psi) * n * p);
}

__device__ real zero_inflated_binomial_upper(real psi, real n, real p) { return psi > 0 ? n : 0; }
