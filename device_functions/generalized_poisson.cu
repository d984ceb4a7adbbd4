// generalized_poisson: a Poisson number of founders and all their descendants, a Poisson number of children each
// used for: counts whose variance is larger than their mean because events breed events
// x: nonnegative integer    mu: positive, mean number of founders    lam: unit, mean number of children
// mass: mu * (mu + lam * x)**(x - 1) * exp(-mu - lam * x) / factorial(x)
// source: Consul & Jain (1973), A generalization of the Poisson distribution; in the form of Loader (2000)

// log P(X = x) for any number x >= 3, and for whole ones: a Poisson probability of mean mu + lam x, times mu over that mean
__device__ real generalized_poisson_logpmf(real x, real mu, real lam)
{
    real rest = 1 - lam, lost = (1 - rest) - lam, m = fma(lam, x, mu), deviation = fma(-rest, x, mu) - lost * x;
    if (isinf(mu)) return NAN;
    return (x == 0 ? -mu : x * log_ratio_excess(m / x, deviation / x) - factorial_remainder(x)) - log1p(lam * x / mu);
}

// Whether P(X = x + 1) < P(X = x): x is not below the mode.
__device__ int falls(real x, real mu, real lam)
{
    return generalized_poisson_logpmf(x + 1, mu, lam) < generalized_poisson_logpmf(x, mu, lam);
}

// log P(X <= x), x below the mode
__device__ real log_below(real x, real mu, real lam)
{
    real top = generalized_poisson_logpmf(x, mu, lam), sum = 1, last = 1;
    int done = 0, below = (int)x;
    for (int i = 0; i < below && !done; i++) {
        real term = exp(generalized_poisson_logpmf(x - i - 1, mu, lam) - top);
        done = term * term < 0.01 * EPSILON * (last - term) * sum;
        sum += term;
        last = term;
    }
    return top + log(sum);
}

// log P(X > x), x not below the mode: a sum, and where that is long, an integral of the rest, by quadrature
__device__ real log_above(real x, real mu, real lam)
{
    real top = generalized_poisson_logpmf(x + 1, mu, lam), sum = 1, last = 1, f_3 = 0, f_2 = 0, f_1 = 0;
    int done = 0;
    for (int i = 1; i < 1000 && !done; i++) {
        real term = exp(generalized_poisson_logpmf(x + 1 + i, mu, lam) - top);
        done = term * term < 0.01 * EPSILON * (last - term) * sum;
        sum += term;
        last = term;
        f_3 = f_2;
        f_2 = f_1;
        f_1 = term;
    }
    if (!done) {
        real a = x + 1001, f0 = 0, f1 = 0, f2 = 0, at = a - 0.5, part = 1;
        for (int i = 0; i < 3; i++) {
            f0 = f1;
            f1 = f2;
            f2 = exp(generalized_poisson_logpmf(a + i, mu, lam) - top);
        }
        sum += midpoint_correction(f_3, f_2, f_1, f0, f1, f2);
        for (int panel = 0; panel < 500 && part > 0.01 * EPSILON * sum; panel++) {
            real slope = generalized_poisson_logpmf(at + 0.5, mu, lam) - generalized_poisson_logpmf(at - 0.5, mu, lam);
            real width = fmin(panel_width(slope, sqrt(at) * (1 + lam * at / mu)), 0.4 * at);
            part = 0;
            for (int k = 0; k < 8; k++) {
                real y = at + 0.5 * width * (1 + legendre_node(k));
                part += 0.5 * width * legendre_weight(k) * exp(generalized_poisson_logpmf(y, mu, lam) - top);
            }
            sum += part;
            at += width;
        }
    }
    return top + log(sum);
}

__device__ real generalized_poisson_logcdf(real x, real mu, real lam)
{
    return falls(x, mu, lam) ? log1mexp(log_above(x, mu, lam)) : log_below(x, mu, lam);
}

__device__ real generalized_poisson_logsf(real x, real mu, real lam)
{
    return falls(x, mu, lam) ? log_above(x, mu, lam) : log1mexp(log_below(x, mu, lam));
}

// Generation by generation
__device__ real generalized_poisson_sample(rng_t *rng, real mu, real lam)
{
    real born = poisson_sample(rng, mu), sum = born;
    for (int i = 0; i < 1000000 && born > 0; i++) {
        born = poisson_sample(rng, lam * born);
        sum += born;
    }
    return sum;
}

__device__ real generalized_poisson_mean(real mu, real lam) { return mu / (1 - lam); }
__device__ real generalized_poisson_var(real mu, real lam) { return mu / (1 - lam) / (1 - lam) / (1 - lam); }
__device__ real generalized_poisson_skewness(real mu, real lam) { return (1 + 2 * lam) / sqrt(mu * (1 - lam)); }

__device__ real generalized_poisson_kurtosis(real mu, real lam)
{
    return (1 + lam * (8 + 6 * lam)) / (mu * (1 - lam));
}
