// half_student_t: absolute value of a Student's t variable
// x: nonnegative    nu: positive, degrees of freedom    sigma: positive, scale
// source: Gelman (2006), Prior distributions for variance parameters in hierarchical models
__device__ real half_student_t_logpdf(real x, real nu, real sigma)
{
    real y = x * (1 / (sigma * sqrt(nu)));
    if (isinf(nu)) return log(SQRT_2_OVER_PI / sigma) - 0.5 * (x / sigma) * (x / sigma);
    return LOG_2 - (lbeta(0.5, 0.5 * nu) + 0.5 * log(nu) + log(sigma)) - 0.5 * (nu + 1) * log1p_square(y);
}

__device__ real half_student_t_sample(rng_t *rng, real nu, real sigma)
{
    return fabs(student_t_sample(rng, nu, 0, sigma));
}
