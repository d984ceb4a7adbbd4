// beta_negative_binomial: negative binomial whose probability of success has a beta distribution; generalised Waring
// used for: counts with very heavy tails, such as accidents of people who differ in their risk
// x: nonnegative integer, failures before n successes    n: positive, number of successes, whole or not
// alpha: positive, shape of the beta distribution at 0, exponent of the tail    beta: positive, its shape at 1
// mass: binomial(n + x - 1, x) * B(alpha + n, beta + x) / B(alpha, beta)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6; in the form of Loader (2000)
__device__ real beta_negative_binomial_logpmf(real x, real alpha, real beta, real n)
{
    real sum = alpha + beta, trials = n + x, total = trials + sum;
    // Around the posterior mean of p, (n + x) p - n and alpha - sum p are the same deviation.
    real log_p = log(alpha + n) - log(total), log_q = log(beta + x) - log(total);
    real product = n * beta;
    real deviation = (fma(x, alpha, -product) + fma(-n, beta, product)) * (1 / total);
    return (stirling_error(trials) - (stirling_error(n) - 0.5 * log(n)) - factorial_remainder(x))
         + (stirling_error(alpha + n) + stirling_error(beta + x) - stirling_error(total))
         - (stirling_error(alpha) + stirling_error(beta) - stirling_error(sum) - 0.5 * (log(alpha) + log(beta / sum)))
         - 0.5 * (log_p + log_q + log(total) + log(trials))
         + n * log_excess(log_p + log(trials) - log(n), deviation * (1 / n))
         + (x == 0 ? deviation : x * log_excess(log_q + log(trials) - log(x), -deviation * (1 / x)))
         + alpha * log_excess(log_p - log(alpha / sum), -deviation * (1 / alpha))
         + beta * log_excess(log_q - log(beta / sum), deviation * (1 / beta));
}

// Below it probabilities rise where n and beta are larger than 1: a root of P(X = x + 1) = P(X = x).
__device__ real peak(real alpha, real beta, real n) { return (n - 1) * ((beta - 1) / (alpha + 1)) - 1; }

// log P(X <= x), by the ratios of neighbouring probabilities
__device__ real log_below(real x, real alpha, real beta, real n)
{
    real sum = 1, term = 1;
    int one_mode = n >= 1 && beta >= 1, done = 0, below = (int)x;
    for (int i = 0; i < below && !done; i++) {
        real k = x - i, ratio = k / (n + k - 1) * ((alpha + beta + n + (k - 1)) / (beta + k - 1));
        done = one_mode && ratio < 1 && term * ratio < 0.01 * EPSILON * (1 - ratio) * sum;
        term *= ratio;
        sum += term;
    }
    return beta_negative_binomial_logpmf(x, alpha, beta, n) + log(sum);
}

// log P(X > x), x not below the peak. What lies beyond 50, n, beta and the peak is a hypergeometric series 3F2(1) that
// Thomae's transformation makes converge quickly: Slater (1966), Generalized Hypergeometric Functions, 4.3.
__device__ real log_above(real x, real alpha, real beta, real n)
{
    real first = x + 1, start = fmax(fmax((real)50, fmax(n, beta)), peak(alpha, beta, n)), sum = 0, term = 1;
    int direct = (int)fmax(ceil(start - first), (real)0);
    for (int i = 0; i < direct; i++) {
        real k = first + i;
        sum += term;
        term *= (n + k) / (k + 1) * ((beta + k) / (alpha + beta + n + k));
    }
    real last = first + direct, series = 1, part = 1, size = 1;
    for (int j = 0; j < 60000 && size > 0.01 * EPSILON * series; j++) {
        real over = 1 / ((last + 1 + j) * (alpha + 1 + j)), up = n - 1 - j, other = beta - 1 - j;
        part *= up * other * over;
        series += part;
        size *= fmax(fabs(up), (real)1) * fmax(fabs(other), (real)1) * over;  // derivatives go on where a part is 0
    }
    sum += term * series * ((alpha + beta + n + last - 1) / alpha);
    return beta_negative_binomial_logpmf(first, alpha, beta, n) + log(sum);
}

__device__ real beta_negative_binomial_logcdf(real x, real alpha, real beta, real n)
{
    if (isinf(x)) return 0;
    if (x < peak(alpha, beta, n)) return log_below(x, alpha, beta, n);
    real above = log_above(x, alpha, beta, n);
    return above < -LOG_2 ? log1mexp(above) : log_below(x, alpha, beta, n);
}

__device__ real beta_negative_binomial_logsf(real x, real alpha, real beta, real n)
{
    return x < peak(alpha, beta, n) ? log1mexp(log_below(x, alpha, beta, n)) : log_above(x, alpha, beta, n);
}

// The odds of a failure are the ratio of two gamma variables.
__device__ real beta_negative_binomial_sample(rng_t *rng, real alpha, real beta, real n)
{
    real log_success = gamma_logarithm(rng, alpha), log_failure = gamma_logarithm(rng, beta), mean = gamma_sample(rng, n, 1);
    return poisson_sample(rng, mean * exp(log_failure - log_success));
}

__device__ real beta_negative_binomial_mean(real alpha, real beta, real n)
{
    return alpha > 1 ? n * (beta / (alpha - 1)) : INFINITY;
}

__device__ real beta_negative_binomial_var(real alpha, real beta, real n)
{
    real a = alpha - 1;
    return alpha > 2 ? n * (beta / a) * ((n + a) / a) * ((beta + a) / (alpha - 2)) : INFINITY;
}

__device__ real beta_negative_binomial_skewness(real alpha, real beta, real n)
{
    real a = alpha - 1;
    if (alpha <= 3) return INFINITY;
    return (2 * n + a) / (alpha - 3) * ((2 * beta + a) / sqrt(n * beta)) * sqrt((alpha - 2) / ((n + a) * (beta + a)));
}

// In terms of n (n + a) and beta (beta + a), a = alpha - 1
__device__ real beta_negative_binomial_kurtosis(real alpha, real beta, real n)
{
    real a = alpha - 1, s = n * (n + a), t = beta * (beta + a);
    if (alpha <= 4) return INFINITY;
    return (alpha - 2) / ((alpha - 3) * (alpha - 4)) * (a * a * (a * (alpha / (s * t)) + 6 / s + 6 / t) + 3 * (alpha + 5)) - 3;
}

__device__ real beta_negative_binomial_mode(real alpha, real beta, real n)
{
    return n > 1 && beta > 1 ? fmax(floor(peak(alpha, beta, n)) + 1, (real)0) : 0;
}
