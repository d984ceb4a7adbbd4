// poisson_inverse_gaussian: Poisson whose mean has an inverse Gaussian distribution; the variance is mu + sigma mu^2
// used for: counts with a heavy tail, such as words, claims and citations
// x: nonnegative integer    mu: positive, mean    sigma: positive, dispersion
// mass: sqrt(2 * a / pi) * exp(1 / sigma) * mu**x * K(x - 1 / 2, a) / ((a * sigma)**x * factorial(x))
// a = sqrt(1 / sigma**2 + 2 * mu / sigma)
// source: Rigby, Stasinopoulos, Heller & De Bastiani (2019), Distributions for Modeling Location, Scale, and Shape, ch. 22
//
// Given x, the Poisson mean has a generalised inverse Gaussian distribution of p = x - 1/2, whose normaliser, gig_log_integral,
// is told in special/inverse_gaussian_mixtures.cu.

// log P(X = x) for any number x >= 3, and for whole ones, by the peak of the distribution of the mean's logarithm, given x
__device__ real poisson_inverse_gaussian_logpmf(real x, real mu, real sigma)
{
    real lam = mu / sigma, root = sqrt(1 + 2 * sigma * mu), p = x - 0.5, b = root / sigma, w = hypot(p, b);
    if (isinf(mu) || isinf(sigma)) return NAN;
    if (x == 0) return -2 * mu / (1 + root);
    real rest = b * (b / (p + w)), peak = lam / rest;
    real away = sigma * mu < 1 ? 2 * peak * (mu * sigma) * ((p - peak) / (peak + mu)) : peak - mu, share = away / mu;
    return log_poisson(x, peak) - 0.5 * share * (away / sigma / peak) + 0.5 * (log(lam) - log(peak)) - HALF_LOG_2PI
         + gig_log_integral(0, p, b);
}

// Whether P(X = x + 1) < P(X = x): x is not below the mode.
__device__ int falls(real x, real mu, real sigma)
{
    return poisson_inverse_gaussian_logpmf(x + 1, mu, sigma) < poisson_inverse_gaussian_logpmf(x, mu, sigma);
}

// log P(X <= x), x below the mode
__device__ real log_below(real x, real mu, real sigma)
{
    real top = poisson_inverse_gaussian_logpmf(x, mu, sigma), sum = 1, last = 1;
    int done = 0, below = (int)x;
    for (int i = 0; i < below && !done; i++) {
        real term = exp(poisson_inverse_gaussian_logpmf(x - i - 1, mu, sigma) - top);
        done = term * term < 0.01 * EPSILON * (last - term) * sum;
        sum += term;
        last = term;
    }
    return top + log(sum);
}

// log P(X > x), x not below the mode: a sum, and where that is long, an integral of the rest, by quadrature
__device__ real log_above(real x, real mu, real sigma)
{
    real top = poisson_inverse_gaussian_logpmf(x + 1, mu, sigma), sum = 1, last = 1, f_3 = 0, f_2 = 0, f_1 = 0;
    int done = 0;
    for (int i = 1; i < 500 && !done; i++) {
        real term = exp(poisson_inverse_gaussian_logpmf(x + 1 + i, mu, sigma) - top);
        done = term * term < 0.01 * EPSILON * (last - term) * sum;
        sum += term;
        last = term;
        f_3 = f_2;
        f_2 = f_1;
        f_1 = term;
    }
    if (!done) {
        real a = x + 501, f0 = 0, f1 = 0, f2 = 0, at = a - 0.5, part = 1;
        for (int i = 0; i < 3; i++) {
            f0 = f1;
            f1 = f2;
            f2 = exp(poisson_inverse_gaussian_logpmf(a + i, mu, sigma) - top);
        }
        sum += midpoint_correction(f_3, f_2, f_1, f0, f1, f2);
        for (int panel = 0; panel < 500 && part > 0.01 * EPSILON * sum; panel++) {
            real left = poisson_inverse_gaussian_logpmf(at - 0.5, mu, sigma);
            real slope = poisson_inverse_gaussian_logpmf(at + 0.5, mu, sigma) - left;
            real width = fmin(panel_width(slope, sqrt(at)), 0.4 * at);
            part = 0;
            for (int k = 0; k < 8; k++) {
                real y = at + 0.5 * width * (1 + legendre_node(k));
                part += 0.5 * width * legendre_weight(k) * exp(poisson_inverse_gaussian_logpmf(y, mu, sigma) - top);
            }
            sum += part;
            at += width;
        }
    }
    return top + log(sum);
}

__device__ real poisson_inverse_gaussian_logcdf(real x, real mu, real sigma)
{
    return falls(x, mu, sigma) ? log1mexp(log_above(x, mu, sigma)) : log_below(x, mu, sigma);
}

__device__ real poisson_inverse_gaussian_logsf(real x, real mu, real sigma)
{
    return falls(x, mu, sigma) ? log_above(x, mu, sigma) : log1mexp(log_below(x, mu, sigma));
}

__device__ real poisson_inverse_gaussian_sample(rng_t *rng, real mu, real sigma)
{
    real mean = wald_sample(rng, mu, mu / sigma);
    return poisson_sample(rng, mean);
}

__device__ real poisson_inverse_gaussian_mean(real mu, real sigma) { return mu; }
__device__ real poisson_inverse_gaussian_var(real mu, real sigma) { return mu * (1 + sigma * mu); }

__device__ real poisson_inverse_gaussian_skewness(real mu, real sigma)
{
    real s = sigma * mu;
    return (1 + 3 * s * (1 + s)) / ((1 + s) * sqrt(mu * (1 + s)));
}

__device__ real poisson_inverse_gaussian_kurtosis(real mu, real sigma)
{
    real s = sigma * mu;
    return (1 + s * (7 + s * (18 + 15 * s))) / (mu * (1 + s) * (1 + s));
}
