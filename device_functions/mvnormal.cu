// mvnormal: the multivariate normal distribution
// used for: correlated measurements, latent variables, and Gaussian processes at given points
// x: vector    mu: vector, mean    cov: covariance, covariance matrix
// density: exp(-q / 2) / sqrt((2 * pi)**dim * det(cov))    q = (x - mu) @ inv(cov) @ (x - mu)
// source: Mardia, Kent & Bibby (1979), ch. 2
// sqdist is (x - mu)' cov^-1 (x - mu), logdet is log det cov
__device__ real mvnormal_logpdf(real sqdist, real logdet, int dim)
{
    return -0.5 * (dim * LOG_2PI + logdet) - 0.5 * sqdist;
}

// The factor by which a draw differs from mu + L z, z standard normal, L L' = cov
__device__ real mvnormal_sample(rng_t *rng)
{
    return 1;
}
