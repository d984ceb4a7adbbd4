// beta_binomial: binomial whose probability of success has a beta distribution
// x: nonnegative integer    n: nonnegative integer, number of trials
// alpha: positive, shape of the beta distribution at 0    beta: positive, its shape at 1
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6; in the form of Loader (2000)
__device__ real beta_binomial_logpmf(real x, real n, real alpha, real beta)
{
    if (x > n) return -INFINITY;
    real y = n - x, sum = alpha + beta, total = n + sum;
    // Around the posterior mean of p, n p - x and alpha - sum p are the same deviation.
    real log_p = log(x + alpha) - log(total), log_q = log(y + beta) - log(total);
    real product = x * beta;
    real deviation = (fma(y, alpha, -product) + fma(-x, beta, product)) * (1 / total);
    return (factorial_remainder(n) - factorial_remainder(x) - factorial_remainder(y))
         + (stirling_error(x + alpha) + stirling_error(y + beta) - stirling_error(total))
         - (stirling_error(alpha) + stirling_error(beta) - stirling_error(sum) - 0.5 * (log(alpha) + log(beta / sum)))
         - 0.5 * (log_p + log_q + log(total))
         + (x == 0 ? -deviation : x * log_excess(log_p + log(n) - log(x), deviation * (1 / x)))
         + (y == 0 ? deviation : y * log_excess(log_q + log(n) - log(y), -deviation * (1 / y)))
         + alpha * log_excess(log_p - log(alpha / sum), -deviation * (1 / alpha))
         + beta * log_excess(log_q - log(beta / sum), deviation * (1 / beta));
}

__device__ real beta_binomial_sample(rng_t *rng, real n, real alpha, real beta)
{
    real p = beta_sample(rng, alpha, beta);
    return binomial_sample(rng, n, p);
}
