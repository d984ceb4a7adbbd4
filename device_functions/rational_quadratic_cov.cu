// rational_quadratic: a scale mixture of squared exponential covariances
// used for: functions that vary on several length scales at once
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation    lengthscale: positive
// alpha: positive, the larger, the closer to the squared exponential
// covariance: amplitude**2 * (1 + sqdist / (2 * alpha * lengthscale**2))**(-alpha)
// source: Rasmussen & Williams (2006), eq. 4.19
__device__ real rational_quadratic_cov(real sqdist, real amplitude, real lengthscale, real alpha)
{
    return amplitude * amplitude * exp(-alpha * log1p(sqdist * (0.5 / (alpha * lengthscale * lengthscale))));
}
