// hypergeometric: number of successes among n objects drawn without replacement
// used for: sampling without replacement: defects in a lot, Fisher's exact test
// x: nonnegative integer    N: nonnegative integer, objects in all    k: nonnegative integer, successes among them
// n: nonnegative integer, objects drawn
// mass: binomial(k, x) * binomial(N - k, n - x) / binomial(N, n) if max(0, n - N + k) <= x <= min(n, k) else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6; in the form of Loader (2000)
__device__ real hypergeometric_logpmf(real x, real N, real k, real n)
{
    if (k > N || n > N) return NAN;
    if (x > k || x > n || n - x > N - k) return -INFINITY;
    if (n == 0 || n == N) return 0;
    // Whatever p is: at n / N, none of the three is far out where the whole is not.
    real p = n / N;
    return binomial_logpmf(x, k, p) + binomial_logpmf(n - x, N - k, p) - binomial_logpmf(n, N, p);
}

// log of the probabilities of 0, …, x, or of x and all above, relative to that of x, by the ratios of neighbouring ones
__device__ real log_sum(real x, real N, real k, real n, int above)
{
    real sum = 1, term = 1, steps = above ? fmin(k, n) - x : x - fmax(n - (N - k), (real)0);
    int done = 0, count = (int)steps;
    for (int i = 0; i < count && !done; i++) {
        real j = above ? x + i + 1 : x - i, odds = j * (N - k - n + j) / ((k - j + 1) * (n - j + 1));
        real ratio = above ? 1 / odds : odds;
        done = ratio < 1 && term * ratio < 0.1 * EPSILON * (1 - ratio) * sum;
        term *= ratio;
        sum += term;
    }
    return log(sum);
}

// Whether P(X <= x), and not P(X > x), is what is computed.
__device__ int from_below(real x, real N, real k, real n)
{
    return (x + 0.5) * N < n * k;
}

// log P(X <= x), or log P(X >= x), x in the support
__device__ real log_tail(real x, real N, real k, real n, int above)
{
    return hypergeometric_logpmf(x, N, k, n) + log_sum(x, N, k, n, above);
}

__device__ real hypergeometric_logcdf(real x, real N, real k, real n)
{
    if (x >= fmin(k, n)) return 0;
    if (n - x > N - k) return -INFINITY;
    return from_below(x, N, k, n) ? log_tail(x, N, k, n, 0) : log1mexp(log_tail(x + 1, N, k, n, 1));
}

__device__ real hypergeometric_logsf(real x, real N, real k, real n)
{
    if (x >= fmin(k, n)) return -INFINITY;
    if (n - x > N - k) return 0;
    return from_below(x, N, k, n) ? log1mexp(log_tail(x, N, k, n, 0)) : log_tail(x + 1, N, k, n, 1);
}

__device__ real hypergeometric_mode(real N, real k, real n)
{
    return fmin(floor((n + 1) * ((k + 1) / (N + 2))), fmin(k, n));
}

// Rejection from a bound on all log-concave distributions of whole numbers.
// Source: Devroye (1987), A simple generator for discrete log-concave distributions.
__device__ real hypergeometric_sample(rng_t *rng, real N, real k, real n)
{
    if (k > N || n > N) return NAN;
    real mode = hypergeometric_mode(N, k, n), top = hypergeometric_logpmf(mode, N, k, n), peak = exp(top);
    real width = 1 + 0.5 * peak, value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real u = uniform(rng), v = uniform(rng), w = uniform(rng), e = exponential(rng), side = uniform(rng);
        int flat = u < width / (1 + width);
        real y = floor((flat ? v * width : width + e) / peak + 0.5), at = mode + (side < 0.5 ? -y : y);
        real log_ratio = at < 0 || at > fmin(k, n) ? -INFINITY : hypergeometric_logpmf(at, N, k, n) - top;
        if (log(w) + (flat ? 0 : -e) <= log_ratio) value = at;
    }
    return value;
}

__device__ real hypergeometric_mean(real N, real k, real n) { return n * (k / N); }

__device__ real hypergeometric_var(real N, real k, real n)
{
    return n * (k / N) * ((N - k) / N) * ((N - n) / (N - 1));
}

__device__ real hypergeometric_skewness(real N, real k, real n)
{
    return (N - 2 * k) / (N - 2) * sqrt((N - 1) / (n * k)) * ((N - 2 * n) / sqrt((N - k) * (N - n)));
}

__device__ real hypergeometric_kurtosis(real N, real k, real n)
{
    real a = k / N * ((N - k) / N), b = n / N * ((N - n) / N), v = 1 / N;
    return ((1 - v) * (1 + v - 6 * (a + b)) + 6 * a * b * (5 - 6 * v)) / (a * b * (1 - 2 * v) * (N - 3));
}

__device__ real hypergeometric_lower(real N, real k, real n) { return fmax(n - (N - k), (real)0); }
__device__ real hypergeometric_upper(real N, real k, real n) { return fmin(k, n); }
