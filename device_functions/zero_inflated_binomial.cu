// zero_inflated_binomial: binomial with probability psi, else 0
// x: nonnegative integer    psi: unit, proportion of binomial draws
// n: nonnegative integer, number of trials    p: unit, probability of success
// source: Hall (2000), Zero-inflated Poisson and binomial regression with random effects: a case study
__device__ real zero_inflated_binomial_logpmf(real x, real psi, real n, real p)
{
    if (x == 0) return logaddexp(log1p(-psi), log(psi) + xlog1py(n, -p));
    return log(psi) + binomial_logpmf(x, n, p);
}
