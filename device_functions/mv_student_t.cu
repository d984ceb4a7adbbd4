// mv_student_t: the multivariate Student t distribution
// used for: vectors with outliers, such as returns of several stocks
// x: vector    nu: positive, degrees of freedom    mu: vector, location    cov: covariance, scale matrix
// density: Gamma((nu + dim) / 2) / (Gamma(nu / 2) * sqrt((pi * nu)**dim * det(cov))) * (1 + q / nu)**(-(nu + dim) / 2)
// q = (x - mu) @ inv(cov) @ (x - mu)
// source: Kotz & Nadarajah (2004), ch. 1
// sqdist is (x - mu)' cov^-1 (x - mu), logdet is log det cov
__device__ real mv_student_t_logpdf(real sqdist, real logdet, real nu, int dim)
{
    if (isinf(nu)) return -0.5 * (dim * LOG_2PI + logdet) - 0.5 * sqdist;
    return (log_gamma(0.5 * dim) - lbeta(0.5 * dim, 0.5 * nu) - 0.5 * (dim * (log(nu) + LOG_PI) + logdet))
         - 0.5 * (nu + dim) * log1p(sqdist / nu);
}

// The factor by which a draw differs from mu + L z, z standard normal, L L' = cov
__device__ real mv_student_t_sample(rng_t *rng, real nu)
{
    if (isinf(nu)) return 1;
    return sqrt(0.5 * nu / gamma_sample(rng, 0.5 * nu, 1));
}
