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
