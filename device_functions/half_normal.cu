// half_normal: absolute value of a normal variable with mean 0
// x: nonnegative    sigma: positive, scale
// source: Johnson, Kotz & Balakrishnan (1994), ch. 13
__device__ real half_normal_logpdf(real x, real sigma)
{
    real z = x * (1 / sigma);
    return log(SQRT_2_OVER_PI / sigma) - 0.5 * z * z;
}
