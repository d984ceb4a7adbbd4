// beta_binomial: binomial whose probability of success has a beta distribution
// x: nonnegative integer    n: nonnegative integer, number of trials
// alpha: positive, shape of the beta distribution at 0    beta: positive, its shape at 1
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6
__device__ real beta_binomial_logpmf(real x, real n, real alpha, real beta)
{
    if (x > n) return -INFINITY;
    real y = n - x, sum = alpha + beta, total = n + sum;
    if (large_shape(total)) {
        // Loader's saddle-point forms of the binomial and of both beta functions, at the posterior mean of p.
        real log_p = log((x + alpha) / total), log_q = log((y + beta) / total);
        real product = x * beta;
        real deviation = (fma(y, alpha, -product) + fma(-x, beta, product)) * (1 / total);
        return (factorial_remainder(n) - factorial_remainder(x) - factorial_remainder(y))
             + (0.5 * (log(alpha) + log(beta / sum)) + stirling_error(sum)
                - stirling_error(alpha) - stirling_error(beta))
             + (stirling_error(x + alpha) + stirling_error(y + beta) - stirling_error(total))
             - 0.5 * (log_p + log_q + log(total))
             + (x == 0 ? -deviation : x * log_excess(log_p + log(n / x), deviation * (1 / x)))
             + (y == 0 ? deviation : y * log_excess(log_q + log(n / y), -deviation * (1 / y)))
             + alpha * log_excess(log_p + log(sum / alpha), -deviation * (1 / alpha))
             + beta * log_excess(log_q + log(sum / beta), deviation * (1 / beta));
    }
    return (log_factorial(n) - log_factorial(x) - log_factorial(y))
         + (log_gamma(x + alpha) + log_gamma(y + beta) - log_gamma(total)) - lbeta(alpha, beta);
}
