// zero_inflated_negative_binomial: negative binomial with probability psi, else 0
// used for: overdispersed counts with more zeros than their distribution has
// x: nonnegative integer    psi: unit, proportion of negative binomial draws
// mu: nonnegative, mean of these draws    alpha: positive, shape of the gamma distribution
// mass: 1 - psi + psi * q**alpha if x == 0 else psi * binomial(x + alpha - 1, x) * (1 - q)**x * q**alpha
// q = alpha / (mu + alpha)
// source: Greene (1994), Accounting for excess zeros and sample selection in Poisson and negative binomial regression
__device__ real zero_inflated_negative_binomial_logpmf(real x, real psi, real mu, real alpha)
{
    if (x == 0) return logaddexp(log1p(-psi), log(psi) + alpha * negative_binomial_log_share(alpha, mu));
    return log(psi) + negative_binomial_logpmf(x, mu, alpha);
}

// The derivative in psi, without the infinite terms that the sum of logarithms has at psi = 0 and 1.
__device__ real zero_inflated_negative_binomial_logpmf_grad_psi(real x, real psi, real mu, real alpha)
{
    return x == 0 ? expm1(alpha * negative_binomial_log_share(alpha, mu))
                        * exp(-zero_inflated_negative_binomial_logpmf(x, psi, mu, alpha))
                  : 1 / psi;
}

__device__ real zero_inflated_negative_binomial_logcdf(real x, real psi, real mu, real alpha)
{
    real log_cdf = negative_binomial_logcdf(x, mu, alpha), value = (1 - psi) + psi * exp(log_cdf);
    return value > EPSILON ? log(value) : logaddexp(log1p(-psi), log(psi) + log_cdf);
}

__device__ real zero_inflated_negative_binomial_logsf(real x, real psi, real mu, real alpha)
{
    return log(psi) + negative_binomial_logsf(x, mu, alpha);
}

__device__ real zero_inflated_negative_binomial_sample(rng_t *rng, real psi, real mu, real alpha)
{
    if (uniform(rng) > psi) return 0;
    return negative_binomial_sample(rng, mu, alpha);
}

__device__ real zero_inflated_negative_binomial_mean(real psi, real mu, real alpha) { return psi * mu; }

__device__ real zero_inflated_negative_binomial_var(real psi, real mu, real alpha)
{
    return psi * mu * (1 + mu / alpha + (1 - psi) * mu);
}
