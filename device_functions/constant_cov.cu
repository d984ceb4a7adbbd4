// constant: covariance of an unknown constant
// used for: an unknown offset, as one term of a sum
// sqdist: nonnegative, squared distance of two points    amplitude: positive, standard deviation
// covariance: amplitude**2
// source: Rasmussen & Williams (2006), table 4.1
__device__ real constant_cov(real sqdist, real amplitude)
{
    return amplitude * amplitude;
}
