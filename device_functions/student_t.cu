// student_t: Student's t distribution with location and scale
// used for: errors with outliers, and means of small normal samples
// x: real    nu: positive, degrees of freedom    mu: real, location    sigma: positive, scale
// density: Gamma((nu + 1) / 2) / (Gamma(nu / 2) * sqrt(pi * nu) * sigma) * (1 + z**2 / nu)**(-(nu + 1) / 2)
// z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 28
__device__ real student_t_logpdf(real x, real nu, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    if (isinf(nu)) return -(log(sigma) + HALF_LOG_2PI) - 0.5 * z * z;
    real y = (x - mu) * (1 / (sigma * sqrt(nu)));
    return -(lbeta(0.5, 0.5 * nu) + 0.5 * log(nu) + log(sigma)) - 0.5 * (nu + 1) * log1p_square(y);
}

__device__ real student_t_logsf(real x, real nu, real mu, real sigma)
{
    real t = (x - mu) * (1 / (sigma * sqrt(nu)));
    return unlikely(isinf(nu)) ? normal_logsf(x, mu, sigma) : log_student_above(0.5 * nu, t);
}

__device__ real student_t_logcdf(real x, real nu, real mu, real sigma)
{
    return student_t_logsf(-x, nu, -mu, sigma);
}

__device__ real student_t_sf(real x, real nu, real mu, real sigma)
{
    real t = (x - mu) * (1 / (sigma * sqrt(nu))), tail = 0.5 * student_q(0.5 * nu, fabs(t));
    return unlikely(isinf(nu)) ? exp(normal_logsf(x, mu, sigma)) : t < 0 ? 1 - tail : tail;
}

__device__ real student_t_cdf(real x, real nu, real mu, real sigma)
{
    return student_t_sf(-x, nu, -mu, sigma);
}

__device__ real student_t_ppf(real q, real nu, real mu, real sigma)
{
    real tail = fmin(q, 1 - q), distance = student_quantile(0.5 * nu, 1 - 2 * tail, 2 * tail, sigma * sqrt(nu));
    return unlikely(isinf(nu)) ? normal_ppf(q, mu, sigma) : q < 0.5 ? mu - distance : mu + distance;
}

__device__ real student_t_isf(real q, real nu, real mu, real sigma)
{
    return -student_t_ppf(q, nu, -mu, sigma);
}

// The logarithm of the chi-squared variable, which may underflow.
__device__ real student_t_sample(rng_t *rng, real nu, real mu, real sigma)
{
    real z = normal(rng);
    if (isinf(nu)) return mu + sigma * z;
    real log_ratio = gamma_logarithm(rng, 0.5 * nu) - log(0.5 * nu);
    return mu + sigma * (z * exp(-0.5 * log_ratio));
}

__device__ real student_t_mean(real nu, real mu, real sigma) { return nu > 1 ? mu : NAN; }

__device__ real student_t_var(real nu, real mu, real sigma)
{
    return nu > 2 ? sigma * sigma / (1 - 2 / nu) : nu > 1 ? INFINITY : NAN;
}

__device__ real student_t_skewness(real nu, real mu, real sigma) { return nu > 3 ? 0 : NAN; }

__device__ real student_t_kurtosis(real nu, real mu, real sigma)
{
    return nu > 4 ? 6 / (nu - 4) : nu > 2 ? INFINITY : NAN;
}

__device__ real student_t_entropy(real nu, real mu, real sigma)
{
    if (isinf(nu)) return normal_entropy(mu, sigma);
    real a = 0.5 * nu, half = a + 0.5;
    return half * (log1p(0.5 / a) + log_minus_digamma(a) - log_minus_digamma(half))
         + (0.5 * log(nu) + lbeta(a, (real)0.5) + log(sigma));
}

__device__ real student_t_mode(real nu, real mu, real sigma) { return mu; }
