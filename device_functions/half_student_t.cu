// half_student_t: absolute value of a Student's t variable
// used for: priors of standard deviations whose tail is chosen
// x: nonnegative    nu: positive, degrees of freedom    sigma: positive, scale
// density: 2 * Gamma((nu + 1) / 2) / (Gamma(nu / 2) * sqrt(pi * nu) * sigma) * (1 + z**2 / nu)**(-(nu + 1) / 2)
// z = x / sigma
// source: Gelman (2006), Prior distributions for variance parameters in hierarchical models
__device__ real half_student_t_logpdf(real x, real nu, real sigma)
{
    real y = x * (1 / (sigma * sqrt(nu)));
    if (isinf(nu)) return log(SQRT_2_OVER_PI / sigma) - 0.5 * (x / sigma) * (x / sigma);
    return LOG_2 - (lbeta(0.5, 0.5 * nu) + 0.5 * log(nu) + log(sigma)) - 0.5 * (nu + 1) * log1p_square(y);
}

__device__ real half_student_t_logcdf(real x, real nu, real sigma)
{
    return isinf(nu) ? half_normal_logcdf(x, sigma) : log_student_p(0.5 * nu, x * (1 / (sigma * sqrt(nu))));
}

__device__ real half_student_t_logsf(real x, real nu, real sigma)
{
    return isinf(nu) ? half_normal_logsf(x, sigma) : log_student_q(0.5 * nu, x * (1 / (sigma * sqrt(nu))));
}

__device__ real half_student_t_ppf(real q, real nu, real sigma)
{
    if (isinf(nu)) return gamma_quantile_power((real)0.5, q, 1 - q, 0.5, SQRT_2 * sigma);
    return student_quantile(0.5 * nu, q, 1 - q, sigma * sqrt(nu));
}

__device__ real half_student_t_isf(real q, real nu, real sigma)
{
    if (isinf(nu)) return gamma_quantile_power((real)0.5, 1 - q, q, 0.5, SQRT_2 * sigma);
    return student_quantile(0.5 * nu, 1 - q, q, sigma * sqrt(nu));
}

__device__ real half_student_t_sample(rng_t *rng, real nu, real sigma)
{
    return fabs(student_t_sample(rng, nu, 0, sigma));
}

__device__ real half_student_t_mean(real nu, real sigma)
{
    if (isinf(nu)) return half_normal_mean(sigma);
    return nu > 1 ? 2 * sigma * exp(0.5 * log(nu) - lbeta(0.5 * nu, (real)0.5)) / (nu - 1) : INFINITY;
}

__device__ real half_student_t_var(real nu, real sigma)
{
    real mean = half_student_t_mean(nu, sigma);
    return nu > 2 ? sigma * sigma / (1 - 2 / nu) - mean * mean : nu > 1 ? INFINITY : NAN;
}

__device__ real half_student_t_entropy(real nu, real sigma) { return student_t_entropy(nu, 0, sigma) - LOG_2; }
__device__ real half_student_t_mode(real nu, real sigma) { return 0; }
