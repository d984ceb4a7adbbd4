// cauchy: the Cauchy (Lorentz) distribution
// x: real    alpha: real, location    beta: positive, scale
// source: Johnson, Kotz & Balakrishnan (1994), ch. 16
__device__ real cauchy_logpdf(real x, real alpha, real beta)
{
    return -(LOG_PI + log(beta)) - log1p_square((x - alpha) * (1 / beta));
}
