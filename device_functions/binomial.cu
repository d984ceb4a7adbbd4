// binomial: number of successes in n independent trials
// used for: successes among a fixed number of independent trials, such as cures among patients
// x: nonnegative integer    n: nonnegative integer, number of trials    p: unit, probability of success
// mass: binomial(n, x) * p**x * (1 - p)**(n - x) if x <= n else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 3; for many trials, Loader (2000)

// With log(p), log(1 - p) and the deviation n p - x, however the caller comes by them.
__device__ real binomial_kernel(real x, real n, real log_p, real log_q, real deviation)
{
    real y = n - x, value;
    if (large_shape(n))
        value = (factorial_remainder(n) - factorial_remainder(x) - factorial_remainder(y))
              + (x == 0 ? -deviation : x * log_excess(log(n) - log(x) + log_p, deviation * (1 / x)))
              + (y == 0 ? deviation : y * log_excess(log(n) - log(y) + log_q, -deviation * (1 / y)));
    else
        value = (log_factorial(n) - log_factorial(x) - log_factorial(y))
              + (x == 0 ? 0 : x * log_p) + (y == 0 ? 0 : y * log_q);
    return x > n ? -INFINITY : value;
}

__device__ real binomial_logpmf(real x, real n, real p)
{
    return binomial_kernel(x, n, log(p), log1p(-p), fma(n, p, -x));
}

// The derivative in p, x / p - (n - x) / (1 - p), finite where p is 0 or 1 and x is 0 or n.
__device__ real binomial_logpmf_grad_p(real x, real n, real p)
{
    if (x > n) return 0;
    return x == 0 ? -n * (1 / (1 - p)) : x == n ? n * (1 / p) : -fma(n, p, -x) * (1 / (p * (1 - p)));
}

__device__ real binomial_logcdf(real x, real n, real p)
{
    return x >= n ? 0 : log_beta_p(n - x, x + 1, 1 - p, p);
}

__device__ real binomial_logsf(real x, real n, real p)
{
    return x >= n ? -INFINITY : log_beta_p(x + 1, n - x, p, 1 - p);
}

// The number of successes where p <= 1/2: by inversion where it is small, else by transformed rejection, BTRS.
// Source: Hörmann (1993), The generation of binomial random variates.
__device__ real count(rng_t *rng, real n, real p)
{
    if (n * p < 10) {
        real u = uniform(rng), term = exp(n * log1p(-p)), odds = p / (1 - p), k = 0;
        while (u > term && term > 1e-3 * EPSILON) {  // behind the smallest terms, u is what rounding has left
            u -= term;
            k++;
            term *= odds * ((n - k + 1) / k);
        }
        return k;
    }
    real deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    real quick = 0.92 - 4.2 / b, mode = floor((n + 1) * p);
    real log_scale = log((2.83 + 5.1 / b) * deviation) + binomial_logpmf(mode, n, p), value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real u = uniform(rng), v = uniform(rng), tail = 0.5 - fabs(u - 0.5);
        real k = floor((2 * a / tail + b) * (u - 0.5) + n * p + 0.5);
        int accepted = tail >= 0.07 && v <= quick;
        if (unlikely(!accepted && k >= 0 && k <= n))
            accepted = log(v) + log_scale - log(a / (tail * tail) + b) <= binomial_logpmf(k, n, p);
        if (accepted) value = k;
    }
    return value;
}

__device__ real binomial_sample(rng_t *rng, real n, real p)
{
    real k = count(rng, n, fmin(p, 1 - p));
    return p > 0.5 ? n - k : k;
}

__device__ real binomial_mean(real n, real p) { return n * p; }
__device__ real binomial_var(real n, real p) { return n * p * (1 - p); }
__device__ real binomial_skewness(real n, real p) { return (1 - 2 * p) / sqrt(n * p * (1 - p)); }
__device__ real binomial_kurtosis(real n, real p) { return (1 / (p * (1 - p)) - 6) / n; }
__device__ real binomial_mode(real n, real p) { return fmin(floor((n + 1) * p), n); }
__device__ real binomial_upper(real n, real p) { return n; }
