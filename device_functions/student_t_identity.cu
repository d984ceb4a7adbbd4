// student_t_identity: Student's t distribution by its location, the linear predictor of robust regression
// used for: linear regression that outliers do not upset
// x: real    nu: positive, degrees of freedom    eta: real, location    sigma: positive, scale
// density: Gamma((nu + 1) / 2) / (Gamma(nu / 2) * sqrt(pi * nu) * sigma) * (1 + z**2 / nu)**(-(nu + 1) / 2)
// z = (x - eta) / sigma
// source: Lange, Little & Taylor (1989), Robust statistical modeling using the t distribution
__device__ real student_t_identity_logpdf(real x, real nu, real eta, real sigma)
{
    return student_t_logpdf(x, nu, eta, sigma);
}

__device__ real student_t_identity_logcdf(real x, real nu, real eta, real sigma)
{
    return student_t_logcdf(x, nu, eta, sigma);
}

__device__ real student_t_identity_logsf(real x, real nu, real eta, real sigma)
{
    return student_t_logsf(x, nu, eta, sigma);
}

__device__ real student_t_identity_ppf(real q, real nu, real eta, real sigma)
{
    return student_t_ppf(q, nu, eta, sigma);
}

__device__ real student_t_identity_isf(real q, real nu, real eta, real sigma)
{
    return student_t_isf(q, nu, eta, sigma);
}

__device__ real student_t_identity_sample(rng_t *rng, real nu, real eta, real sigma)
{
    return student_t_sample(rng, nu, eta, sigma);
}

__device__ real student_t_identity_mean(real nu, real eta, real sigma) { return student_t_mean(nu, eta, sigma); }
__device__ real student_t_identity_var(real nu, real eta, real sigma) { return student_t_var(nu, eta, sigma); }

__device__ real student_t_identity_skewness(real nu, real eta, real sigma)
{
    return student_t_skewness(nu, eta, sigma);
}

__device__ real student_t_identity_kurtosis(real nu, real eta, real sigma)
{
    return student_t_kurtosis(nu, eta, sigma);
}

__device__ real student_t_identity_entropy(real nu, real eta, real sigma) { return student_t_entropy(nu, eta, sigma); }
__device__ real student_t_identity_mode(real nu, real eta, real sigma) { return eta; }
