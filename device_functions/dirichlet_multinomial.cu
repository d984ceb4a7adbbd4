// dirichlet_multinomial: multinomial whose probabilities have a Dirichlet distribution
// used for: counts by category in groups whose proportions differ, such as species, alleles or words by topic
// x: nonnegative integer vector    n: nonnegative integer, number of trials
// a: positive vector, concentration of each outcome
// mass: (factorial(n) * Gamma(A) / Gamma(n + A) * Product(Gamma(x[i] + a[i]) / (factorial(x[i]) * Gamma(a[i])), i)
// if Sum(x[i], i) == n else 0)    A = Sum(a[i], i)
// source: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 35; in the form of Loader (2000)
__device__ real dirichlet_multinomial_logpmf(const real *x, real n, const real *a, int dim)
{
    real counted = 0, sum = 0;
    for (int i = 0; i < dim; i++) {
        counted += x[i];
        sum += a[i];
    }
    if (counted != n) return -INFINITY;
    real total = n + sum, value = factorial_remainder(n) - stirling_error(total) + 0.5 * log(total);
    real prior = stirling_error(sum) - 0.5 * log(sum);
    for (int i = 0; i < dim; i++)
        prior += 0.5 * log(a[i]) - stirling_error(a[i]);
    for (int i = 0; i < dim; i++) {
        // Around the posterior mean of p, n p[i] - x[i] and a[i] - sum p[i] are the same deviation.
        real log_p = log(x[i] + a[i]) - log(total), product = x[i] * sum;
        real deviation = (fma(n, a[i], -product) + fma(-x[i], sum, product)) * (1 / total);
        value += stirling_error(x[i] + a[i]) - 0.5 * log(x[i] + a[i]) - factorial_remainder(x[i])
               + (x[i] == 0 ? -deviation : x[i] * log_excess(log_p + log(n) - log(x[i]), deviation * (1 / x[i])))
               + a[i] * log_excess(log_p - log(a[i] / sum), -deviation * (1 / a[i]));
    }
    return value + prior;
}

// Each count is beta-binomial, given those before it.
__device__ void dirichlet_multinomial_sample(rng_t *rng, real n, const real *a, real *x, int dim)
{
    real rest = 0, left = n;
    for (int i = dim - 1; i >= 0; i--) {  // the concentrations of what follows
        x[i] = rest;
        rest += a[i];
    }
    for (int i = 0; i < dim; i++) {
        real k = i < dim - 1 ? beta_binomial_sample(rng, a[i], x[i], left) : left;
        x[i] = k;
        left -= k;
    }
}
