// cauchy: the Cauchy (Lorentz) distribution
// used for: data with wild outliers and resonance lines, and as a prior with very heavy tails
// x: real    alpha: real, location    beta: positive, scale
// density: 1 / (pi * beta * (1 + z**2))    z = (x - alpha) / beta
// source: Johnson, Kotz & Balakrishnan (1994), ch. 16
__device__ real cauchy_logpdf(real x, real alpha, real beta)
{
    return -(LOG_PI + log(beta)) - log1p_square((x - alpha) * (1 / beta));
}

__device__ real cauchy_logpdf_grad_beta(real x, real alpha, real beta)
{
    real z = (x - alpha) * (1 / beta);
    return (1 - 2 / (1 + z * z)) * (1 / beta);
}

__device__ real cauchy_logcdf(real x, real alpha, real beta)
{
    real z = (x - alpha) * (1 / beta);
    return z < 0 ? log_arc(alpha - x, beta) - LOG_PI : log1p(-atan2(1, z) / PI);
}

__device__ real cauchy_logsf(real x, real alpha, real beta)
{
    return cauchy_logcdf(-x, -alpha, beta);
}

// tan(PI (u - 1/2)), which loses the tails where it is computed like that
__device__ real cauchy_sample(rng_t *rng, real alpha, real beta)
{
    real u = uniform(rng), tail = u < 0.5 ? u : 1 - u;
    real z = tail < 0.25 ? 1 / tan(PI * tail) : tan(PI * (0.5 - tail));
    return alpha + (u < 0.5 ? -beta : beta) * z;
}

// tan(PI (q - 1/2)), whose tails need another form
__device__ real cauchy_ppf(real q, real alpha, real beta)
{
    real tail = fmin(q, 1 - q), z = tail < 0.25 ? 1 / tan(PI * tail) : tan(PI * (0.5 - tail));
    return q < 0.5 ? alpha - beta * z : alpha + beta * z;
}

__device__ real cauchy_isf(real q, real alpha, real beta)
{
    return -cauchy_ppf(q, -alpha, beta);
}

__device__ real cauchy_mean(real alpha, real beta) { return NAN; }
__device__ real cauchy_var(real alpha, real beta) { return NAN; }
__device__ real cauchy_skewness(real alpha, real beta) { return NAN; }
__device__ real cauchy_kurtosis(real alpha, real beta) { return NAN; }
__device__ real cauchy_entropy(real alpha, real beta) { return log(4 * PI * beta); }
__device__ real cauchy_mode(real alpha, real beta) { return alpha; }
