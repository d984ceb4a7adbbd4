// laplace: the Laplace (double exponential) distribution
// x: real    mu: real, location    b: positive, scale
// source: Johnson, Kotz & Balakrishnan (1995), ch. 24
__device__ real laplace_logpdf(real x, real mu, real b)
{
    return -log(2 * b) - fabs(x - mu) * (1 / b);
}
