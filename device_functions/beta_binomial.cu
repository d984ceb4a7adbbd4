// beta_binomial: binomial whose probability of success has a beta distribution
// used for: counts of successes in groups whose chances differ, such as litters, clinics or ballots
// x: nonnegative integer    alpha: positive, shape of the beta distribution at 0    beta: positive, its shape at 1
// n: nonnegative integer, number of trials
// mass: binomial(n, x) * B(alpha + x, beta + n - x) / B(alpha, beta) if x <= n else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6; in the form of Loader (2000)
__device__ real beta_binomial_logpmf(real x, real alpha, real beta, real n)
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

// log of the probabilities of 0, …, x, relative to that of x, by the ratios of neighbouring ones
__device__ real log_sum_below(real x, real alpha, real beta, real n)
{
    real sum = 1, term = 1;
    int one_mode = alpha >= 1 && beta >= 1, done = 0, below = (int)x;
    for (int i = 0; i < below && !done; i++) {
        real k = x - i, ratio = k * (beta + (n - k)) / ((n - k + 1) * (alpha + (k - 1)));
        done = one_mode && ratio < 1 && term < EPSILON * sum;
        term *= ratio;
        sum += term;
    }
    return log(sum);
}

__device__ real log_below(real x, real alpha, real beta, real n)
{
    return beta_binomial_logpmf(x, alpha, beta, n) + log_sum_below(x, alpha, beta, n);
}

// Above the mean from the other tail: the largest probability may be too many times that of x.
__device__ real beta_binomial_logcdf(real x, real alpha, real beta, real n)
{
    if (x >= n) return 0;
    return x * (alpha + beta) > n * alpha ? log1mexp(log_below(n - x - 1, beta, alpha, n)) : log_below(x, alpha, beta, n);
}

// The failures have the distribution with the shapes exchanged.
__device__ real beta_binomial_logsf(real x, real alpha, real beta, real n)
{
    if (x >= n) return -INFINITY;
    return beta_binomial_logcdf(n - x - 1, beta, alpha, n);
}

__device__ real beta_binomial_sample(rng_t *rng, real alpha, real beta, real n)
{
    real p = beta_sample(rng, alpha, beta);
    return binomial_sample(rng, n, p);
}

__device__ real beta_binomial_mean(real alpha, real beta, real n) { return n * (alpha / (alpha + beta)); }

__device__ real beta_binomial_var(real alpha, real beta, real n)
{
    real s = alpha + beta;
    return n * (alpha / s) * (beta / s) * ((s + n) / (s + 1));
}

__device__ real beta_binomial_skewness(real alpha, real beta, real n)
{
    real s = alpha + beta;
    return (s + 2 * n) * (beta - alpha) / (s + 2) * sqrt((1 + s) / (n * alpha * beta * (n + s)));
}

__device__ real beta_binomial_kurtosis(real alpha, real beta, real n)
{
    real s = alpha + beta, ab = alpha * beta;
    return (s * s * (1 + s) / (n * ab * (s + 2) * (s + 3) * (s + n)))
        * (s * (s - 1 + 6 * n) + 3 * ab * (n - 2) + 6 * n * n - 3 * ab / s * n * (6 - n) - 18 * ab / s * (n / s) * n) - 3;
}

__device__ real beta_binomial_upper(real alpha, real beta, real n) { return n; }
