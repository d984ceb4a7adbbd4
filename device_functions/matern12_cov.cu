// matern12: Matérn covariance of order 1/2 (exponential), continuous, nowhere differentiable
// used for: rough paths, such as Ornstein and Uhlenbeck's process in time
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation    lengthscale: positive
// covariance: amplitude**2 * exp(-r)    r = sqrt(sqdist) / lengthscale
// source: Rasmussen & Williams (2006), eq. 4.18
__device__ real matern12_cov(real sqdist, real amplitude, real lengthscale)
{
    return amplitude * amplitude * exp(-sqrt(sqdist) * (1 / lengthscale));
}

// 0 where two points meet: there is no derivative, and the mean of those on both sides is 0
__device__ real matern12_cov_grad_sqdist(real sqdist, real amplitude, real lengthscale)
{
    real r = sqrt(sqdist);
    return r > 0 ? -amplitude * amplitude * exp(-r * (1 / lengthscale)) / (2 * lengthscale * r) : 0;
}
