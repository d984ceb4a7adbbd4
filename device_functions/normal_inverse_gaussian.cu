// normal_inverse_gaussian: normal with a mean and a variance that an inverse Gaussian variable multiplies
// used for: returns of stocks and turbulence, with heavy, skewed tails
// x: real    alpha: positive, steepness of the tails    beta: real, asymmetry, |beta| < alpha    mu: real, location
// delta: positive, scale
// density: alpha * delta * K(1, alpha * s) / (pi * s) * exp(delta * sqrt(alpha**2 - beta**2) + beta * (x - mu))
// s = sqrt(delta**2 + (x - mu)**2)
// source: Barndorff-Nielsen (1997), Normal inverse Gaussian distributions and stochastic volatility modelling
//
// It is the generalised hyperbolic distribution of p = -1/2: special/inverse_gaussian_mixtures.cu has the integrals.
__device__ real normal_inverse_gaussian_logpdf(real x, real alpha, real beta, real mu, real delta)
{
    if (!(fabs(beta) < alpha && alpha < INFINITY)) return NAN;
    if (isinf(x)) return -INFINITY;
    return log_gig_mixture_density(x - mu, -0.5, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real normal_inverse_gaussian_logcdf(real x, real alpha, real beta, real mu, real delta)
{
    return log_gig_mixture(x - mu, 0, -0.5, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real normal_inverse_gaussian_logsf(real x, real alpha, real beta, real mu, real delta)
{
    return log_gig_mixture(x - mu, 1, -0.5, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real normal_inverse_gaussian_sample(rng_t *rng, real alpha, real beta, real mu, real delta)
{
    real w = wald_sample(rng, delta / gig_mixture_gamma(alpha, beta), delta * delta), z = normal(rng);
    return mu + (beta * w + sqrt(w) * z);
}

__device__ real normal_inverse_gaussian_mean(real alpha, real beta, real mu, real delta)
{
    return mu + delta * (beta / gig_mixture_gamma(alpha, beta));
}

__device__ real normal_inverse_gaussian_var(real alpha, real beta, real mu, real delta)
{
    real gamma = gig_mixture_gamma(alpha, beta), ratio = alpha / gamma;
    return delta / gamma * ratio * ratio;
}

__device__ real normal_inverse_gaussian_skewness(real alpha, real beta, real mu, real delta)
{
    return 3 * (beta / alpha) / sqrt(delta * gig_mixture_gamma(alpha, beta));
}

__device__ real normal_inverse_gaussian_kurtosis(real alpha, real beta, real mu, real delta)
{
    real ratio = beta / alpha;
    return (3 + 12 * ratio * ratio) / (delta * gig_mixture_gamma(alpha, beta));
}
