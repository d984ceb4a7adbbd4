// rbf: squared exponential (Gaussian) covariance, infinitely smooth
// used for: smooth functions, as the usual first choice
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation    lengthscale: positive
// covariance: amplitude**2 * exp(-sqdist / (2 * lengthscale**2))
// source: Rasmussen & Williams (2006), eq. 4.9
__device__ real rbf_cov(real sqdist, real amplitude, real lengthscale)
{
    return amplitude * amplitude * exp(sqdist * (-0.5 / (lengthscale * lengthscale)));
}
