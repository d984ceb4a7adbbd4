// generalized_hyperbolic: normal with a mean and a variance that a generalised inverse Gaussian variable multiplies
// used for: returns of stocks and sizes of sand grains, with heavy and skewed tails
// x: real    p: real, shape    alpha: nonnegative, steepness of the tails    beta: real, asymmetry, |beta| < alpha, or
// |beta| <= alpha where p < 0    mu: real, location    delta: positive, scale
// density: ((gamma / delta)**p * exp(beta * (x - mu)) * K(p - 1 / 2, alpha * s) * (s / alpha)**(p - 1 / 2) /
// (sqrt(2 * pi) * K(p, delta * gamma)))    s = sqrt(delta**2 + (x - mu)**2)    gamma = sqrt(alpha**2 - beta**2)
// source: Barndorff-Nielsen (1977), Exponentially decreasing distributions for the logarithm of particle size
//
// Special cases: p = 1 the hyperbolic, p = -1/2 the normal inverse Gaussian, alpha = beta = 0 Student's t distribution of -2 p degrees
// of freedom, |beta| = alpha a skewed one: Aas & Haff (2006), The generalized hyperbolic skew Student's t-distribution.
// special/inverse_gaussian_mixtures.cu has the integrals.
__device__ int valid(real p, real alpha, real beta)
{
    return (fabs(beta) < alpha || (fabs(beta) == alpha && p < 0)) && alpha < INFINITY && fabs(p) < INFINITY;
}

__device__ real generalized_hyperbolic_logpdf(real x, real p, real alpha, real beta, real mu, real delta)
{
    if (!valid(p, alpha, beta)) return NAN;
    if (isinf(x)) return -INFINITY;
    return log_gig_mixture_density(x - mu, p, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real generalized_hyperbolic_logcdf(real x, real p, real alpha, real beta, real mu, real delta)
{
    return log_gig_mixture(x - mu, 0, p, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real generalized_hyperbolic_logsf(real x, real p, real alpha, real beta, real mu, real delta)
{
    return log_gig_mixture(x - mu, 1, p, beta, gig_mixture_gamma(alpha, beta), delta);
}

__device__ real generalized_hyperbolic_sample(rng_t *rng, real p, real alpha, real beta, real mu, real delta)
{
    real gamma = gig_mixture_gamma(alpha, beta), w, z = normal(rng);
    if (gamma == 0)
        w = inverse_gamma_sample(rng, -p, 0.5 * delta * delta);
    else
        w = generalized_inverse_gaussian_sample(rng, p, delta * gamma, delta / gamma);
    return mu + (beta * w + sqrt(w) * z);
}

// The standard deviation of the normal variable where W has its peak: the moments are computed in this unit, with W relative to it.
__device__ real unit_of(real p, real alpha, real beta, real delta)
{
    return delta * sqrt(gig_peak(p, 1, gig_mixture_gamma(delta * alpha, delta * beta)));
}

// The moments are those of beta W + sqrt(W) Z; a moment of W is infinite where gamma = 0 and its order is not below -p.
__device__ real generalized_hyperbolic_mean(real p, real alpha, real beta, real mu, real delta)
{
    real b = gig_mixture_gamma(delta * alpha, delta * beta), unit = unit_of(p, alpha, beta, delta);
    if (!valid(p, alpha, beta)) return NAN;
    if (b == 0 && p >= -1) return beta > 0 ? INFINITY : beta < 0 ? -INFINITY : p < -0.5 ? mu : NAN;
    return mu + beta * unit * (unit * gig_moment(1, 0, p, b));
}

// The variance in this unit
__device__ real relative_var(real p, real b, real drift)
{
    real mean = gig_moment(1, 0, p, b);
    return mean + (drift == 0 ? 0 : drift * drift * gig_moment(2, mean, p, b));
}

__device__ real generalized_hyperbolic_var(real p, real alpha, real beta, real mu, real delta)
{
    real b = gig_mixture_gamma(delta * alpha, delta * beta), unit = unit_of(p, alpha, beta, delta);
    if (!valid(p, alpha, beta)) return NAN;
    if (b == 0 && p >= (beta == 0 ? -1 : -2)) return p < (beta == 0 ? -0.5 : -1) ? INFINITY : NAN;
    return unit * (unit * relative_var(p, b, beta * unit));
}

__device__ real generalized_hyperbolic_skewness(real p, real alpha, real beta, real mu, real delta)
{
    real b = gig_mixture_gamma(delta * alpha, delta * beta), drift = beta * unit_of(p, alpha, beta, delta);
    if (!valid(p, alpha, beta)) return NAN;
    if (b == 0 && p >= (beta == 0 ? -1.5 : -3)) return NAN;
    if (beta == 0) return 0;
    real mean = gig_moment(1, 0, p, b), var = relative_var(p, b, drift), share = drift / sqrt(var);
    return share * (share * share * gig_moment(3, mean, p, b) + 3 * gig_moment(2, mean, p, b) / var);
}

__device__ real generalized_hyperbolic_kurtosis(real p, real alpha, real beta, real mu, real delta)
{
    real b = gig_mixture_gamma(delta * alpha, delta * beta), drift = beta * unit_of(p, alpha, beta, delta);
    if (!valid(p, alpha, beta)) return NAN;
    if (b == 0 && p >= (beta == 0 ? -2 : -4)) return p < (beta == 0 ? -1 : -2) ? INFINITY : NAN;
    real mean = gig_moment(1, 0, p, b), var = relative_var(p, b, drift), share = drift / sqrt(var);
    real second = gig_moment(2, mean, p, b), value = 3 * second / var / var;
    if (beta != 0)
        value += share * share * (share * share * (gig_moment(4, mean, p, b) - 3 * second * second)
                                  + 6 * gig_moment(3, mean, p, b) / var);
    return value;
}
