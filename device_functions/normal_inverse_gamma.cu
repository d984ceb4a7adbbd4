// normal_inverse_gamma: a mean and a variance: the variance is inverse gamma, the mean normal with the variance divided by lam
// used for: the joint prior of a mean and a variance, conjugate to the normal distribution
// x: vector, the mean and the variance    mu: real    lam: positive    alpha: positive, shape    beta: positive, scale
// density: (sqrt(lam / (2 * pi * x[1])) * exp(-lam * (x[0] - mu)**2 / (2 * x[1])) * beta**alpha * x[1]**(-alpha - 1) *
// exp(-beta / x[1]) / Gamma(alpha) if x[1] > 0 else 0)
// source: Bernardo & Smith (1994), Bayesian Theory, ch. 3; the conjugate prior of a normal distribution
__device__ real normal_inverse_gamma_logpdf(const real *x, real mu, real lam, real alpha, real beta, int dim)
{
    if (dim != 2) return NAN;
    if (!(x[1] > 0)) return -INFINITY;
    return inverse_gamma_logpdf(x[1], alpha, beta) + normal_logpdf(x[0], mu, sqrt(x[1] / lam));
}

__device__ void normal_inverse_gamma_sample(rng_t *rng, real mu, real lam, real alpha, real beta, real *x, int dim)
{
    x[1] = inverse_gamma_sample(rng, alpha, beta);
    x[0] = mu + sqrt(x[1] / lam) * normal(rng);
}
