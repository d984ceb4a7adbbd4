// pearson3: Pearson's distribution of type III, a gamma variable by its moments; normal where skew = 0
// used for: floods and rainfall, by their mean, variance and skewness
// x: real    skew: real, skewness    mu: real, mean    sigma: positive, standard deviation
// density: (phi(z) / sigma if skew == 0 else abs(skew) * (alpha * y)**alpha * exp(-alpha * y) /
// (2 * sigma * Gamma(alpha) * y) if y > 0 else 0)    z = (x - mu) / sigma    y = 1 + skew * z / 2
// alpha = inf if skew == 0 else 4 / skew**2
// source: Johnson, Kotz & Balakrishnan (1994), ch. 17

// With the shape alpha = 4 / skew^2, alpha (1 + u) is a gamma variable where u = skew / 2 (x - mu) / sigma.
// (log(1 + u) - u) / u^2, -1/2 where u = 0
__device__ real excess_quotient(real u)
{
    real rest = 1 / (2 + u), s = u * rest * (u * rest);
    return s < 0.1111 ? rest * (2 * u * rest * rest * atanh_remainder(s) - 1) : log1pmx(u) / u / u;
}

__device__ real pearson3_logpdf(real x, real skew, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), u = 0.5 * skew * z;
    if (isinf(z) || u < -1) return -INFINITY;
    if (u == -1) return log_power_at_zero(2 - fabs(skew), -log(sigma));
    real stirling = fabs(skew) < 1e-3 ? skew * skew / 48 : stirling_error(4 / (skew * skew));
    return -(HALF_LOG_2PI + log(sigma) + stirling) - log1p(u) + z * (z * excess_quotient(u));
}

// log P(X <= x) where skew > 0. Where the shape is so large that the rounding error of alpha (1 + u) counts, by u alone.
__device__ real log_below(real z, real skew)
{
    real u = 0.5 * skew * z, alpha = 4 / (skew * skew);
    if (u <= -1) return -INFINITY;
    if (alpha > 20 && fabs(u) < 0.33 * (2 + u)) {
        real tail = log_gamma_tail_near(alpha, u);
        return u < 0 ? tail : log1mexp(tail);
    }
    return log_gamma_p(alpha, alpha * (1 + u));
}

__device__ real log_above(real z, real skew)
{
    real u = 0.5 * skew * z, alpha = 4 / (skew * skew);
    if (u <= -1) return 0;
    if (alpha > 20 && fabs(u) < 0.33 * (2 + u)) {
        real tail = log_gamma_tail_near(alpha, u);
        return u < 0 ? log1mexp(tail) : tail;
    }
    return log_gamma_q(alpha, alpha * (1 + u));
}

__device__ real pearson3_logcdf(real x, real skew, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    if (isinf(z)) return z < 0 ? -INFINITY : 0;
    if (fabs(skew) < EPSILON * EPSILON) return log_ndtr(z);
    return skew > 0 ? log_below(z, skew) : log_above(-z, -skew);
}

__device__ real pearson3_logsf(real x, real skew, real mu, real sigma)
{
    return pearson3_logcdf(-x, -skew, -mu, sigma);
}

// For large shapes Marsaglia & Tsang's method for gamma variables, from which the mean is taken before it is large.
__device__ real pearson3_sample(rng_t *rng, real skew, real mu, real sigma)
{
    if (fabs(skew) < EPSILON) return mu + sigma * normal(rng);
    real alpha = 4 / (skew * skew), scale = 0.5 * skew, value = NAN;
    if (alpha < 16) return mu + sigma * (scale * (gamma_sample(rng, alpha, 1) - alpha));
    real d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real z = normal(rng), u = uniform(rng), t = c * z, excess = t * (3 + t * (3 + t));
        if (t > -1 && log(u) < 0.5 * z * z + d * log1pmx(excess)) value = d * excess - 1.0 / 3;
    }
    return mu + sigma * (scale * value);
}

__device__ real pearson3_mean(real skew, real mu, real sigma) { return mu; }
__device__ real pearson3_var(real skew, real mu, real sigma) { return sigma * sigma; }
__device__ real pearson3_skewness(real skew, real mu, real sigma) { return skew; }
__device__ real pearson3_kurtosis(real skew, real mu, real sigma) { return 1.5 * skew * skew; }

__device__ real pearson3_entropy(real skew, real mu, real sigma)
{
    if (skew * skew < EPSILON) return HALF_LOG_2PI + 0.5 + log(sigma);
    real alpha = 4 / (skew * skew);
    return HALF_LOG_2PI + log(sigma) + stirling_error(alpha) + (alpha - 1) * log_minus_digamma(alpha);
}

__device__ real pearson3_mode(real skew, real mu, real sigma)
{
    return mu - sigma * (fabs(skew) < 2 ? 0.5 * skew : 2 / skew);
}

__device__ real pearson3_lower(real skew, real mu, real sigma) { return skew > 0 ? mu - 2 * sigma / skew : -INFINITY; }
__device__ real pearson3_upper(real skew, real mu, real sigma) { return skew < 0 ? mu - 2 * sigma / skew : INFINITY; }
