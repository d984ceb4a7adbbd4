// multinomial: counts of dim outcomes in n independent trials
// used for: counts of several outcomes in a fixed number of trials: votes, genotypes, dice
// x: nonnegative integer vector    n: nonnegative integer, number of trials    p: simplex, probability of each outcome
// mass: factorial(n) * Product(p[i]**x[i] / factorial(x[i]), i) if Sum(x[i], i) == n else 0
// source: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 35; Loader (2000)
__device__ real multinomial_logpmf(const real *x, real n, const real *p, int dim)
{
    real total = 0, log_factorials = 0, remainders = 0;
    for (int i = 0; i < dim; i++) {
        total += x[i];
        log_factorials += log_factorial(x[i]);
        remainders += factorial_remainder(x[i]);
    }
    if (total != n) return -INFINITY;
    real value = 0, deviations = 0;
    if (large_shape(n)) {
        for (int i = 0; i < dim; i++) {
            if (x[i] > 0) {
                real deviation = fma(n, p[i], -x[i]);
                deviations += deviation;
                value += x[i] * log_ratio_excess(n * p[i] / x[i], deviation / x[i]);
            }
        }
        return factorial_remainder(n) - remainders + value + deviations;
    }
    for (int i = 0; i < dim; i++)
        value += xlogy(x[i], p[i]);
    return log_factorial(n) - log_factorials + value;
}

// Each count is binomial, given those before it. Source: Devroye (1986), Non-Uniform Random Variate Generation, ch. XI.
__device__ void multinomial_sample(rng_t *rng, real n, const real *p, real *x, int dim)
{
    real rest = 0, left = n;
    for (int i = dim - 1; i >= 0; i--) {  // the probability of what follows, exactly 0 where nothing does
        x[i] = rest;
        rest += p[i];
    }
    for (int i = 0; i < dim; i++) {
        real k = p[i] > 0 ? binomial_sample(rng, left, p[i] / (p[i] + x[i])) : 0;
        x[i] = k;
        left -= k;
    }
}
