// periodic: covariance of a function that repeats itself
// used for: seasons, tides and days
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation
// lengthscale: positive, relative to the period    period: positive
// covariance: amplitude**2 * exp(-2 * sin(pi * sqrt(sqdist) / period)**2 / lengthscale**2)
// source: Rasmussen & Williams (2006), eq. 4.31, with a period
__device__ real periodic_cov(real sqdist, real amplitude, real lengthscale, real period)
{
    real s = sin(sqrt(sqdist) * (PI / period)) * (1 / lengthscale);
    return amplitude * amplitude * exp(-2 * s * s);
}

__device__ real periodic_cov_grad_sqdist(real sqdist, real amplitude, real lengthscale, real period)
{
    real frequency = PI / period, r = sqrt(sqdist) * frequency, s = sin(r);
    real slope = r > 0 ? s * cos(r) / r : 1;
    return -2 * frequency * frequency / (lengthscale * lengthscale) * amplitude * amplitude * slope
           * exp(-2 * s * s / (lengthscale * lengthscale));
}
