// fisher_noncentral_hypergeometric: successes among n objects drawn independently of one another, given that n are drawn
// used for: two-by-two tables with known margins and an odds ratio, as in case-control studies
// x: nonnegative integer    N: nonnegative integer, objects in all    k: nonnegative integer, successes among them
// n: nonnegative integer, objects drawn    omega: positive, odds of a success over those of a failure
// mass: w[x] / Sum(w[j], j, max(0, n - N + k), min(n, k)) if max(0, n - N + k) <= x <= min(n, k) else 0
// w[j] = binomial(k, j) * binomial(N - k, n - j) * omega**j
// source: Fog (2008), Sampling methods for Wallenius' and Fisher's noncentral hypergeometric distributions

// P(X = j + 1) / P(X = j)
__device__ real ratio_at(real j, real N, real k, real n, real omega)
{
    return (k - j) / (j + 1) * ((n - j) / (N - k - n + j + 1)) * omega;
}

__device__ real fisher_noncentral_hypergeometric_mode(real N, real k, real n, real omega)
{
    real rest = N - k - n, b = (k + n + 2) * omega + rest, c = (k + 1) * (n + 1) * omega;
    real root = sqrt(fmax(b * b - 4 * (omega - 1) * c, (real)0));
    return fmin(fmax(floor(2 * c / (b + root)), fmax(-rest, (real)0)), fmin(k, n));
}

// The sum of (j - start)^power P(X = j) / P(X = start) for j from `start` in steps of 1 or -1; all probabilities rise
// before the mode, and fall behind it.
__device__ real sum_from(real start, real step, int power, real N, real k, real n, real omega)
{
    real sum = power == 0 ? 1 : 0, term = 1, end = step > 0 ? fmin(k, n) : fmax(n - (N - k), (real)0);
    int steps = (int)fabs(end - start), done = 0;
    for (int i = 0; i < steps && !done; i++) {
        real j = start + step * i;
        real ratio = step > 0 ? ratio_at(j, N, k, n, omega) : 1 / ratio_at(j - 1, N, k, n, omega);
        done = ratio < 1 && term * ratio < 0.01 * EPSILON * (1 - ratio) * sum;
        term *= ratio;
        sum += power == 0 ? term : step * (i + 1) * term;
    }
    return sum;
}

__device__ real fisher_noncentral_hypergeometric_logpmf(real x, real N, real k, real n, real omega)
{
    if (k > N || n > N || isinf(omega)) return NAN;
    if (x > k || x > n || n - x > N - k) return -INFINITY;
    real mode = fisher_noncentral_hypergeometric_mode(N, k, n, omega);
    real sum = sum_from(mode, 1, 0, N, k, n, omega) + (sum_from(mode, -1, 0, N, k, n, omega) - 1);
    return hypergeometric_logpmf(x, N, k, n) - hypergeometric_logpmf(mode, N, k, n) + (x - mode) * log(omega) - log(sum);
}

__device__ real fisher_noncentral_hypergeometric_mean(real N, real k, real n, real omega)
{
    real mode = fisher_noncentral_hypergeometric_mode(N, k, n, omega);
    real sum = sum_from(mode, 1, 0, N, k, n, omega) + (sum_from(mode, -1, 0, N, k, n, omega) - 1);
    return mode + (sum_from(mode, 1, 1, N, k, n, omega) + sum_from(mode, -1, 1, N, k, n, omega)) / sum;
}

// log P(X <= x) and log P(X >= x), x in the support
__device__ real log_below(real x, real N, real k, real n, real omega)
{
    return fisher_noncentral_hypergeometric_logpmf(x, N, k, n, omega) + log(sum_from(x, -1, 0, N, k, n, omega));
}

__device__ real log_from(real x, real N, real k, real n, real omega)
{
    return fisher_noncentral_hypergeometric_logpmf(x, N, k, n, omega) + log(sum_from(x, 1, 0, N, k, n, omega));
}

__device__ real fisher_noncentral_hypergeometric_logcdf(real x, real N, real k, real n, real omega)
{
    if (x >= fmin(k, n)) return 0;
    if (n - x > N - k) return -INFINITY;
    return x < fisher_noncentral_hypergeometric_mode(N, k, n, omega) ? log_below(x, N, k, n, omega)
         : log1mexp(log_from(x + 1, N, k, n, omega));
}

__device__ real fisher_noncentral_hypergeometric_logsf(real x, real N, real k, real n, real omega)
{
    if (x >= fmin(k, n)) return -INFINITY;
    if (n - x > N - k) return 0;
    return x < fisher_noncentral_hypergeometric_mode(N, k, n, omega) ? log1mexp(log_below(x, N, k, n, omega))
         : log_from(x + 1, N, k, n, omega);
}

// Rejection from a bound on all log-concave distributions of whole numbers.
// Source: Devroye (1987), A simple generator for discrete log-concave distributions.
__device__ real fisher_noncentral_hypergeometric_sample(rng_t *rng, real N, real k, real n, real omega)
{
    real mode = fisher_noncentral_hypergeometric_mode(N, k, n, omega), log_omega = log(omega);
    real top = fisher_noncentral_hypergeometric_logpmf(mode, N, k, n, omega), peak = exp(top);
    real center = hypergeometric_logpmf(mode, N, k, n), width = 1 + 0.5 * peak, value = NAN;
    for (int i = 0; i < 1000 && isnan(value) && !isnan(top); i++) {
        real u = uniform(rng), v = uniform(rng), w = uniform(rng), e = exponential(rng), side = uniform(rng);
        int flat = u < width / (1 + width);
        real y = floor((flat ? v * width : width + e) / peak + 0.5), at = mode + (side < 0.5 ? -y : y);
        real log_ratio = at < 0 || at > fmin(k, n) ? -INFINITY
                       : hypergeometric_logpmf(at, N, k, n) - center + (at - mode) * log_omega;
        if (log(w) + (flat ? 0 : -e) <= log_ratio) value = at;
    }
    return value;
}

__device__ real fisher_noncentral_hypergeometric_lower(real N, real k, real n, real omega)
{
    return fmax(n - (N - k), (real)0);
}

__device__ real fisher_noncentral_hypergeometric_upper(real N, real k, real n, real omega) { return fmin(k, n); }
