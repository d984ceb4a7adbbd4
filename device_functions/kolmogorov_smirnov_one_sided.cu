// kolmogorov_smirnov_one_sided: the largest distance by which the empirical distribution function of n observations lies above the
// used for: exact p-values of the one-sided test of Kolmogorov and Smirnov
// true one
// x: unit    n: positive integer, number of observations
// density: Sum(binomial(n, j) * a[j]**(j - 2) * b[j]**(n - j - 1) *
// (x * (n - j) * a[j] - x * (j - 1) * b[j] - a[j] * b[j]), j, 0, floor(n * (1 - x)))    a[j] = x + j / n
// b[j] = 1 - x - j / n
// source: Birnbaum & Tingey (1951), One-sided confidence contours for probability distribution functions
//
// Sums of up to n terms: those of P(X > x) are all positive. Where n x is small, P(X <= x) is an alternating sum of a few terms,
// in which few digits cancel; further on it is large enough to be the complement, and its logarithm is right to 12 digits for n up
// to 10000.

// The n x up to which the alternating sum is better
__device__ real few() { return EPSILON < 1e-10 ? 5 : 2; }

// Whether P(X > x) is its first term, (1 - x)^n, in which n x is not close enough to n
__device__ int is_alone(real x, real n) { return n * (1 - x) <= 1; }

// log of the binomial probability of j successes out of n where the expected numbers are j + d and n - j - d, d < n - j
__device__ real log_binomial(real n, real j, real d)
{
    real k = n - j;
    if (j == 0) return n * log1p(-d / n);
    real errors = stirling_error(n) - stirling_error(j) - stirling_error(k);
    return errors + 0.5 * log(n / (j * k)) - HALF_LOG_2PI + j * log1pmx(d / j) + k * log1pmx(-d / k);
}

// log P(X > x), or the logarithm of the density where `slope`, d = n x; relative to the largest term, which may underflow
__device__ real log_above(real n, real d, int slope)
{
    real sum = 0, largest = -INFINITY;
    for (int j = 0; j < n - d; j++) {
        real log_term = log_binomial(n, j, d), before = largest, weight = d / (d + j);
        largest = fmax(before, log_term);
        sum = sum * exp(before - largest)
            + weight * (slope ? n * (d / (n - j - d) + (1 + d) / (j + d) - 1 / d) : 1) * exp(log_term - largest);
    }
    return largest + log(sum);
}

// P(X <= x), or the density where `slope`, d = n x < few()
__device__ real sum_below(real n, real d, int slope)
{
    real sum = 0, binomial = 1;
    for (int k = 0; k < 5 && k < d && k < n; k++) {
        real power = k == 0 ? 1 : pow((d - k) / n, (real)k - 1), rest = 1 + (d - k) / n;  // and k factors (d - k) / n in all
        real factor = binomial * power * exp((n - k - 2) * log1p((d - k) / n)), gap = k == 0 ? 1 : (d - k) / n, x = d / n;
        sum += slope ? factor * (gap * rest + x * gap * (n - k - 1) + x * rest * k) : factor * gap * rest * x;
        binomial *= -(n - k) / (k + 1);
    }
    return sum;
}

__device__ real kolmogorov_smirnov_one_sided_logpdf(real x, real n)
{
    real d = n * x;
    if (n == 1 || x == 0) return 0;
    if (is_alone(x, n)) return log(n) + (n - 1) * log1p(-x);
    return d < few() && x < 0.5 ? log(sum_below(n, d, 1)) : log_above(n, d, 1);  // near 1 the sum from below has no digits
}

__device__ real kolmogorov_smirnov_one_sided_logcdf(real x, real n)
{
    real d = n * x;
    return x == 1 ? 0 : d < few() ? log(sum_below(n, d, 0)) : log1mexp(log_above(n, d, 0));
}

__device__ real kolmogorov_smirnov_one_sided_logsf(real x, real n)
{
    return x == 0 ? 0 : is_alone(x, n) ? n * log1p(-x) : log_above(n, n * x, 0);
}

// Sorted uniform variables, from the largest one down
__device__ real kolmogorov_smirnov_one_sided_sample(rng_t *rng, real n)
{
    real u = 1, largest = 0;
    for (int i = (int)n; i > 0; i--) {
        u *= exp(-exponential(rng) / i);
        largest = fmax(largest, i / n - u);
    }
    return largest;
}

__device__ real kolmogorov_smirnov_one_sided_upper(real n) { return 1; }
