// half_cauchy: absolute value of a Cauchy variable
// x: nonnegative    beta: positive, scale
// source: Gelman (2006), Prior distributions for variance parameters in hierarchical models
__device__ real half_cauchy_logpdf(real x, real beta)
{
    return LOG_2 - LOG_PI - log(beta) - log1p_square(x * (1 / beta));
}
