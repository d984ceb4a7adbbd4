// fisher_snedecor: the F distribution, of the ratio of two chi-squared variables, each divided by its degrees of freedom
// used for: analysis of variance and comparisons of two variances
// x: nonnegative    d1: positive, degrees of freedom of the numerator    d2: positive, degrees of freedom of the denominator
// density: (d1 / d2)**(d1 / 2) * x**(d1 / 2 - 1) * (1 + d1 * x / d2)**(-(d1 + d2) / 2) / B(d1 / 2, d2 / 2)
// source: Johnson, Kotz & Balakrishnan (1995), ch. 27
__device__ real fisher_snedecor_logpdf(real x, real d1, real d2) { return beta_prime_logpdf(x, 0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_logcdf(real x, real d1, real d2) { return beta_prime_logcdf(x, 0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_logsf(real x, real d1, real d2) { return beta_prime_logsf(x, 0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_ppf(real q, real d1, real d2) { return beta_prime_ppf(q, 0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_isf(real q, real d1, real d2) { return beta_prime_isf(q, 0.5 * d1, 0.5 * d2, d2 / d1); }

__device__ real fisher_snedecor_sample(rng_t *rng, real d1, real d2)
{
    return beta_prime_sample(rng, 0.5 * d1, 0.5 * d2, d2 / d1);
}

__device__ real fisher_snedecor_mean(real d1, real d2) { return beta_prime_mean(0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_var(real d1, real d2) { return beta_prime_var(0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_entropy(real d1, real d2) { return beta_prime_entropy(0.5 * d1, 0.5 * d2, d2 / d1); }
__device__ real fisher_snedecor_mode(real d1, real d2) { return beta_prime_mode(0.5 * d1, 0.5 * d2, d2 / d1); }
