// half_cauchy: absolute value of a Cauchy variable
// used for: weak priors of standard deviations
// x: nonnegative    beta: positive, scale
// density: 2 / (pi * beta * (1 + (x / beta)**2))
// source: Gelman (2006), Prior distributions for variance parameters in hierarchical models
__device__ real half_cauchy_logpdf(real x, real beta)
{
    return LOG_2 - LOG_PI - log(beta) - log1p_square(x * (1 / beta));
}

__device__ real half_cauchy_logpdf_grad_beta(real x, real beta) { return cauchy_logpdf_grad_beta(x, 0, beta); }

__device__ real half_cauchy_logcdf(real x, real beta)
{
    real z = x * (1 / beta);
    return z < 1 ? LOG_2 - LOG_PI + log(atan(z)) : log1p(-2 / PI * atan2(1, z));
}

__device__ real half_cauchy_logsf(real x, real beta)
{
    real z = x * (1 / beta);
    return z < 1 ? log1p(-2 / PI * atan(z)) : LOG_2 - LOG_PI + log_arc(x, beta);
}

__device__ real half_cauchy_sample(rng_t *rng, real beta)
{
    real u = uniform(rng);
    return beta * (u < 0.5 ? 1 / tan(0.5 * PI * u) : tan(0.5 * PI * (1 - u)));
}

__device__ real half_cauchy_ppf(real q, real beta)
{
    return q < 0.5 ? beta * tan(0.5 * PI * q) : beta / tan(0.5 * PI * (1 - q));
}

__device__ real half_cauchy_isf(real q, real beta)
{
    return q < 0.5 ? beta / tan(0.5 * PI * q) : beta * tan(0.5 * PI * (1 - q));
}

__device__ real half_cauchy_mean(real beta) { return INFINITY; }
__device__ real half_cauchy_var(real beta) { return INFINITY; }
__device__ real half_cauchy_skewness(real beta) { return NAN; }
__device__ real half_cauchy_kurtosis(real beta) { return NAN; }
__device__ real half_cauchy_entropy(real beta) { return log(2 * PI * beta); }
__device__ real half_cauchy_mode(real beta) { return 0; }
