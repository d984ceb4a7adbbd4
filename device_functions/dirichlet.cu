// dirichlet: probabilities of dim categories
// used for: compositions, and as a prior of the probabilities of several categories
// x: simplex    a: positive vector, concentration of each category
// density: Gamma(Sum(a[i], i)) * Product(x[i]**(a[i] - 1) / Gamma(a[i]), i)
// source: Kotz, Balakrishnan & Johnson (2000), Continuous Multivariate Distributions, ch. 49; Loader (2000)
__device__ real dirichlet_logpdf(const real *x, const real *a, int dim)
{
    // The sum of a, and by how much rounding makes it too small (Knuth's exact addition).
    real sum = 0, lost = 0;
    for (int i = 0; i < dim; i++) {
        real next = sum + a[i], added = next - sum;
        lost += (sum - (next - added)) + (a[i] - added);
        sum = next;
    }
    real value = 0;
    if (large_shape(sum)) {
        real constant = stirling_error(sum) + HALF_LOG_2PI - 0.5 * log(sum) + lost;
        for (int i = 0; i < dim; i++)
            constant += 0.5 * log(a[i]) - HALF_LOG_2PI - stirling_error(a[i]);
        real deviations = 0;
        for (int i = 0; i < dim; i++) {
            if (x[i] == 0) {
                value += xlogy(a[i] - 1, 0) + a[i] * log(sum / a[i]);
            } else {
                real deviation = fma(x[i], sum, -a[i]);
                deviations += deviation;
                value += a[i] * log_ratio_excess(x[i] * (sum / a[i]), deviation / a[i]) - log(x[i]);
            }
        }
        return value + deviations + constant;
    }
    real log_beta = -log_gamma(sum);
    for (int i = 0; i < dim; i++)
        log_beta += log_gamma(a[i]);
    for (int i = 0; i < dim; i++)
        value += xlogy(a[i] - 1, x[i]);
    return value - log_beta;
}

// The shares of gamma variables in their sum; by their logarithms where all of them may underflow.
// Source: Devroye (1986), Non-Uniform Random Variate Generation, ch. XI.
__device__ void dirichlet_sample(rng_t *rng, const real *a, real *x, int dim)
{
    real largest = 0, most = -INFINITY, sum = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, a[i]);
    if (largest < 1) {
        for (int i = 0; i < dim; i++) {
            x[i] = gamma_logarithm(rng, a[i]);
            most = fmax(most, x[i]);
        }
        for (int i = 0; i < dim; i++)
            x[i] = exp(x[i] - most);
    } else {
        for (int i = 0; i < dim; i++)
            x[i] = gamma_sample(rng, a[i], 1);
    }
    for (int i = 0; i < dim; i++)
        sum += x[i];
    for (int i = 0; i < dim; i++)
        x[i] /= sum;
}
