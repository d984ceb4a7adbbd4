// student_t_identity: Student's t distribution by its location, the linear predictor of robust regression
// x: real    nu: positive, degrees of freedom    eta: real, location    sigma: positive, scale
// source: Lange, Little & Taylor (1989), Robust statistical modeling using the t distribution
__device__ real student_t_identity_logpdf(real x, real nu, real eta, real sigma)
{
    return student_t_logpdf(x, nu, eta, sigma);
}

__device__ real student_t_identity_sample(rng_t *rng, real nu, real eta, real sigma)
{
    return student_t_sample(rng, nu, eta, sigma);
}
