// skew_student_t: the skew Student's t distribution of Jones & Faddy, of 2 a degrees of freedom on the left, 2 b on the right
// used for: returns and other data with heavy tails that differ in weight
// x: real    a: positive, shape of the left tail    b: positive, shape of the right tail    mu: real, location
// sigma: positive, scale
// density: (1 + r)**(a + 1 / 2) * (1 - r)**(b + 1 / 2) / (2**(a + b - 1) * B(a, b) * sqrt(a + b) * sigma)
// z = (x - mu) / sigma    r = z / sqrt(a + b + z**2)
// source: Jones & Faddy (2003), A skew extension of the t-distribution, with applications

// The logit of a beta variable of shapes a and b, z = (x - mu) / sigma
__device__ real log_odds(real z, real a, real b)
{
    return 2 * asinh(z / sqrt(a + b));
}

// Where the logit is large, one of the beta variable and its complement may underflow, but follows a power law.
__device__ real skew_student_t_logpdf(real x, real a, real b, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), v = log_odds(z, a, b), constant = LOG_2 - log(sigma);
    if (isinf(z)) return -INFINITY;
    if (fabs(v) > 40) {
        real far = log_quotient(fabs(x - mu), sigma);
        return constant - lbeta(a, b) - (v < 0 ? a : b) * (2 * (far + LOG_2) - log(a + b)) - far;
    }
    return log_beta_power(a, b, expit(v), expit(-v)) + constant - log(hypot(z, sqrt(a + b)));
}

__device__ real skew_student_t_logcdf(real x, real a, real b, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return isinf(z) ? (z < 0 ? -INFINITY : 0) : log_beta_p_logit(a, b, log_odds(z, a, b));
}

__device__ real skew_student_t_logsf(real x, real a, real b, real mu, real sigma)
{
    return skew_student_t_logcdf(-x, b, a, -mu, sigma);
}

__device__ real skew_student_t_ppf(real q, real a, real b, real mu, real sigma)
{
    return mu + scaled_sinh(sigma * sqrt(a + b), 0.5 * beta_quantile_logit(a, b, q, 1 - q));
}

__device__ real skew_student_t_isf(real q, real a, real b, real mu, real sigma)
{
    return -skew_student_t_ppf(q, b, a, -mu, sigma);
}

__device__ real skew_student_t_sample(rng_t *rng, real a, real b, real mu, real sigma)
{
    real left = gamma_logarithm(rng, a), right = gamma_logarithm(rng, b);
    return mu + sigma * (sqrt(a + b) * sinh(0.5 * (left - right)));
}

// Gamma(s - 1/2) / Gamma(s), s > 1/2
__device__ real half_step(real s)
{
    return exp(-log_rising(s - 0.5, 0.5));
}

__device__ real skew_student_t_mean(real a, real b, real mu, real sigma)
{
    if (a <= 0.5 || b <= 0.5) return a > 0.5 ? INFINITY : b > 0.5 ? -INFINITY : NAN;
    return mu + sigma * (0.5 * sqrt(a + b) * (a - b) * (half_step(a) * half_step(b)));
}

__device__ real skew_student_t_var(real a, real b, real mu, real sigma)
{
    if (a <= 1 || b <= 1) return a <= 0.5 && b <= 0.5 ? NAN : INFINITY;
    real n = a + b, shift = 0.5 * sqrt(n) * (a - b) * (half_step(a) * half_step(b));
    return sigma * sigma * (0.25 * n * ((a - b) * (a - b) + n - 2) / ((a - 1) * (b - 1)) - shift * shift);
}

__device__ real skew_student_t_mode(real a, real b, real mu, real sigma)
{
    return mu + sigma * ((a - b) * sqrt(a + b) / (sqrt(2 * a + 1) * sqrt(2 * b + 1)));
}
