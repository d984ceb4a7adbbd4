// zero_inflated_negative_binomial: negative binomial with probability psi, else 0
// x: nonnegative integer    psi: unit, proportion of negative binomial draws
// mu: nonnegative, mean of these draws    alpha: positive, shape of the gamma distribution
// source: Greene (1994), Accounting for excess zeros and sample selection in Poisson and negative binomial regression
__device__ real zero_inflated_negative_binomial_logpmf(real x, real psi, real mu, real alpha)
{
    if (x == 0) return logaddexp(log1p(-psi), log(psi) + alpha * negative_binomial_log_share(alpha, mu));
    return log(psi) + negative_binomial_logpmf(x, mu, alpha);
}
