// cauchy: the Cauchy (Lorentz) distribution
// x: real    alpha: real, location    beta: positive, scale
// source: Johnson, Kotz & Balakrishnan (1994), ch. 16
__device__ real cauchy_logpdf(real x, real alpha, real beta)
{
    return -(LOG_PI + log(beta)) - log1p_square((x - alpha) * (1 / beta));
}

__device__ real cauchy_logcdf(real x, real alpha, real beta)
{
    real z = (x - alpha) * (1 / beta);
    return z < 0 ? log(atan2(1, -z)) - LOG_PI : log1p(-atan2(1, z) / PI);
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
