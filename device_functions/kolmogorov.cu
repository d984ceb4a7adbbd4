// kolmogorov: the limit of the largest distance between an empirical distribution function and the true one, times sqrt(n)
// used for: p-values of Kolmogorov's and Smirnov's test with many observations
// x: nonnegative    sigma: positive, scale: 1 / sqrt(n) for the distance itself
// density: 8 * z / sigma * Sum((-1)**(k - 1) * k**2 * exp(-2 * k**2 * z**2), k, 1, inf)    z = x / sigma
// source: Kolmogorov (1933), Sulla determinazione empirica di una legge di distribuzione
//
// The distribution function is a theta function: one series of it converges where x is small, the other one where x is large.
__device__ real standard_logpdf(real z)
{
    real sum = 0;
    if (z < 1) {
        real rate = 0.125 * PI * PI / (z * z);
        if (isinf(rate)) return -INFINITY;
        for (int k = 5; k > 0; k--)
            sum += (2 * (2 * k - 1) * (2 * k - 1) * rate - 1) * exp(-4 * k * (k - 1) * rate);
        return HALF_LOG_2PI - 2 * log(z) - rate + log(sum);
    }
    for (int k = 5; k > 0; k--)
        sum = k * k * exp(-2 * (k * k - 1) * z * z) - sum;
    return 3 * LOG_2 + log(z) - 2 * z * z + log(sum);
}

// log P(X <= z), z < 1
__device__ real log_below(real z)
{
    real rate = 0.125 * PI * PI / (z * z), sum = 0;
    for (int k = 5; k > 1; k--)
        sum += exp(-4 * k * (k - 1) * rate);
    return HALF_LOG_2PI - log(z) - rate + log1p(sum);
}

// log P(X > z), z >= 1
__device__ real log_above(real z)
{
    real sum = 0;
    for (int k = 5; k > 1; k--)
        sum = exp(-2 * (k * k - 1) * z * z) - sum;
    return LOG_2 - 2 * z * z + log1p(-sum);
}

__device__ real kolmogorov_logpdf(real x, real sigma)
{
    real z = x / sigma;
    return z == 0 || isinf(z) ? -INFINITY : standard_logpdf(z) - log(sigma);
}

__device__ real kolmogorov_logcdf(real x, real sigma)
{
    real z = x / sigma;
    return z == 0 ? -INFINITY : z < 1 ? log_below(z) : log1mexp(log_above(z));
}

__device__ real kolmogorov_logsf(real x, real sigma)
{
    real z = x / sigma;
    return z == 0 ? 0 : z < 1 ? log1mexp(log_below(z)) : log_above(z);
}

// Either logarithm is a concave function: Newton's method approaches the quantile at p = 1 - q from the outside.
__device__ real quantile(real p, real q)
{
    real z = p < 0.5 ? PI / sqrt(8 * (3 - log(p))) : sqrt(-0.5 * log(0.5 * q)), step = INFINITY;
    for (int k = 0; k < 30 && fabs(step) > 2 * EPSILON * z; k++) {
        real value = p < 0.5 ? kolmogorov_logcdf(z, 1) : kolmogorov_logsf(z, 1);
        step = (value - log(p < 0.5 ? p : q)) * exp(value - standard_logpdf(z));
        z += p < 0.5 ? -step : step;
    }
    return z;
}

__device__ real kolmogorov_ppf(real q, real sigma) { return sigma * quantile(q, 1 - q); }
__device__ real kolmogorov_isf(real q, real sigma) { return sigma * quantile(1 - q, q); }

__device__ real kolmogorov_sample(rng_t *rng, real sigma)
{
    real u = uniform(rng);
    return sigma * quantile(u, 1 - u);
}

__device__ real kolmogorov_mean(real sigma) { return SQRT_PI / SQRT_2 * LOG_2 * sigma; }
__device__ real kolmogorov_var(real sigma) { return PI * (PI / 12 - 0.5 * LOG_2 * LOG_2) * (sigma * sigma); }
