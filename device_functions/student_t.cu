// student_t: Student's t distribution with location and scale
// x: real    nu: positive, degrees of freedom    mu: real, location    sigma: positive, scale
// source: Johnson, Kotz & Balakrishnan (1995), ch. 28
__device__ real student_t_logpdf(real x, real nu, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    if (isinf(nu)) return -(log(sigma) + HALF_LOG_2PI) - 0.5 * z * z;
    real y = (x - mu) * (1 / (sigma * sqrt(nu)));
    return -(lbeta(0.5, 0.5 * nu) + 0.5 * log(nu) + log(sigma)) - 0.5 * (nu + 1) * log1p_square(y);
}

// The logarithm of the chi-squared variable, which may underflow.
__device__ real student_t_sample(rng_t *rng, real nu, real mu, real sigma)
{
    real z = normal(rng);
    if (isinf(nu)) return mu + sigma * z;
    real log_ratio = gamma_logarithm(rng, 0.5 * nu) - log(0.5 * nu);
    return mu + sigma * (z * exp(-0.5 * log_ratio));
}
