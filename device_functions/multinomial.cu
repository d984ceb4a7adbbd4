// multinomial: counts of dim outcomes in n independent trials
// x: nonnegative integer vector    n: nonnegative integer, number of trials    p: simplex, probability of each outcome
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
