// matern32: Matérn covariance of order 3/2, once differentiable
// used for: spatial fields and series that are continuous but not very smooth
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation    lengthscale: positive
// covariance: amplitude**2 * (1 + r) * exp(-r)    r = sqrt(3 * sqdist) / lengthscale
// source: Rasmussen & Williams (2006), eq. 4.17
__device__ real matern32_cov(real sqdist, real amplitude, real lengthscale)
{
    real r = sqrt(sqdist) * (sqrt(3.0) / lengthscale);
    return amplitude * amplitude * (1 + r) * exp(-r);
}

__device__ real matern32_cov_grad_sqdist(real sqdist, real amplitude, real lengthscale)
{
    real scale = sqrt(3.0) / lengthscale;
    return -0.5 * (amplitude * amplitude * scale * scale) * exp(-sqrt(sqdist) * scale);
}
