// matern52: Matérn covariance of order 5/2, twice differentiable
// used for: emulation of computer models and optimisation
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation    lengthscale: positive
// covariance: amplitude**2 * (1 + r + r**2 / 3) * exp(-r)    r = sqrt(5 * sqdist) / lengthscale
// source: Rasmussen & Williams (2006), eq. 4.17
__device__ real matern52_cov(real sqdist, real amplitude, real lengthscale)
{
    real r = sqrt(sqdist) * (sqrt(5.0) / lengthscale);
    return amplitude * amplitude * (1 + r + r * r * (1.0 / 3)) * exp(-r);
}

__device__ real matern52_cov_grad_sqdist(real sqdist, real amplitude, real lengthscale)
{
    real scale = sqrt(5.0) / lengthscale, r = sqrt(sqdist) * scale;
    return -1.0 / 6 * (amplitude * amplitude * scale * scale) * (1 + r) * exp(-r);
}
