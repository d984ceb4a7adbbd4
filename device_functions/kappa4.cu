// kappa4: the four-parameter kappa distribution
// used for: regional frequencies of floods and rain: it contains the generalized extreme value, logistic and Pareto ones
// x: real    h: real, shape    k: real, shape    mu: real, location    sigma: positive, scale
// density: t**(1 - k) * F**(1 - h) / sigma if k * z <= 1 and h * t <= 1 else 0    z = (x - mu) / sigma
// t = exp(-z) if k == 0 else (1 - k * z)**(1 / k)    F = exp(-t) if h == 0 else (1 - h * t)**(1 / h)
// source: Hosking (1994), The four-parameter kappa distribution

// -log(t) where the distribution function is (1 - h t)^(1 / h), t = (1 - k z)^(1 / k); infinite at and beyond the ends that k makes,
// where 1 - k z is rounded once; z = d / sigma
__device__ real exponent(real d, real k, real sigma)
{
    return fma(-k, d, sigma) <= 0 ? (k > 0 ? INFINITY : -INFINITY) : k == 0 && isinf(d) ? d : log1p_over(d, sigma, -k);
}

// -log of the distribution function, as a function of w = -log(t)
__device__ real minus_log_cdf(real w, real h)
{
    if (h < 0 && w < 0) return log1pexp(log(-h) - w) / -h;  // exp(-w) may overflow
    real t = exp(-w);
    return h * t >= 1 ? INFINITY : log1p_quotient(-h, t);
}

__device__ real kappa4_lower(real h, real k, real mu, real sigma)
{
    return h > 0 ? mu + sigma * expm1_quotient(-k, log(h)) : k < 0 ? mu + sigma / k : -INFINITY;
}

// The same at x. Near the lower end that h makes, where 1 - h t would be lost, it follows from the distance to that end.
__device__ real minus_log_cdf_at(real x, real w, real h, real k, real mu, real sigma)
{
    real distance = x - kappa4_lower(h, k, mu, sigma), scale = sigma * exp(-k * log(h));
    if (h > 0 && h * exp(-w) > 0.5 && distance > 0 && scale > 0)
        return log1mexp(-exponent(distance, k, scale)) / -h;
    return minus_log_cdf(w, h);
}

__device__ real kappa4_logpdf(real x, real h, real k, real mu, real sigma)
{
    real d = x - mu, w = exponent(d, k, sigma), y = minus_log_cdf_at(x, w, h, k, mu, sigma);
    if (isinf(d) || fma(-k, d, sigma) < 0 || h * exp(-w) > 1) return -INFINITY;
    if (w == -INFINITY) return h * k > 1 ? INFINITY : -INFINITY;  // the lower end, where k < 0 and h <= 0
    return -weighted(1 - k, w) - weighted(1 - h, y) - log(sigma);
}

__device__ real kappa4_logcdf(real x, real h, real k, real mu, real sigma)
{
    if (x <= kappa4_lower(h, k, mu, sigma)) return -INFINITY;
    return -minus_log_cdf_at(x, exponent(x - mu, k, sigma), h, k, mu, sigma);
}

// Where t is small, the distribution function is exp(-t).
__device__ real kappa4_logsf(real x, real h, real k, real mu, real sigma)
{
    real w = exponent(x - mu, k, sigma);
    if (exp(-w) * (1 + fabs(h)) < EPSILON) return -w;
    return x <= kappa4_lower(h, k, mu, sigma) ? 0 : log1mexp(-minus_log_cdf_at(x, w, h, k, mu, sigma));
}

// The z at which the distribution function is exp(-y)
__device__ real quantile(real y, real h, real k, real sigma)
{
    return expm1_over(-log_expm1_quotient(-h, y), sigma, -k);
}

__device__ real kappa4_ppf(real q, real h, real k, real mu, real sigma) { return mu + quantile(-log(q), h, k, sigma); }
__device__ real kappa4_isf(real q, real h, real k, real mu, real sigma) { return mu + quantile(-log1p(-q), h, k, sigma); }

__device__ real kappa4_sample(rng_t *rng, real h, real k, real mu, real sigma)
{
    return mu + quantile(exponential(rng), h, k, sigma);
}

__device__ real kappa4_upper(real h, real k, real mu, real sigma) { return k > 0 ? mu + sigma / k : INFINITY; }
