// asymmetric_laplace: Laplace with a different scale on each side
// x: real    kappa: positive, asymmetry    mu: real, location    b: positive, inverse scale
// source: Kotz, Kozubowski & Podgórski (2001), ch. 3
__device__ real asymmetric_laplace_logpdf(real x, real kappa, real mu, real b)
{
    real rate = x < mu ? -b / kappa : b * kappa;
    return log(b / (kappa + 1 / kappa)) - (x - mu) * rate;
}
