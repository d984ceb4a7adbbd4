// binomial: number of successes in n independent trials
// x: nonnegative integer    n: nonnegative integer, number of trials    p: unit, probability of success
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
