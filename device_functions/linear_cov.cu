// linear: covariance of a linear function through the origin, with normal coefficients of standard deviation 1 / lengthscale
// used for: Bayesian linear regression as a process, and trends
// dot: real, scalar product of two points    lengthscale: positive
// covariance: dot / lengthscale**2
// source: Rasmussen & Williams (2006), eq. 4.23
__device__ real linear_cov(real dot, real lengthscale)
{
    return dot * (1 / (lengthscale * lengthscale));
}
