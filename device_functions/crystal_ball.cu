// crystal_ball: the Crystal Ball distribution: normal above mu - beta sigma, a power law below
// used for: peaks of particle masses, when a part of the energy is lost in the detector
// x: real    beta: positive, where the power law begins, in standard deviations below mu
// m: real, greater than 1, the power    mu: real, mean of the normal part    sigma: positive, its standard deviation
// density: h / (sigma * C)    z = (x - mu) / sigma
// h = exp(-z**2 / 2) if z > -beta else exp(-beta**2 / 2) * (1 - beta / m * (z + beta))**(-m)
// C = m / (beta * (m - 1)) * exp(-beta**2 / 2) + sqrt(2 * pi) * Phi(beta)
// source: Skwarnicki (1986), A study of the radiative cascade transitions between the Upsilon-prime and Upsilon resonances

// The logarithms of the integrals of the power law, of the normal part, and of both, relative to the largest density
__device__ real log_power_part(real beta, real m)
{
    return log(m / (beta * (m - 1))) - 0.5 * beta * beta;
}

__device__ real log_whole(real beta, real m)
{
    return logaddexp(log_power_part(beta, m), HALF_LOG_2PI + log_ndtr(beta));
}

// The logarithm of the share of the power law
__device__ real log_share(real beta, real m)
{
    return log_expit(log_power_part(beta, m) - (HALF_LOG_2PI + log_ndtr(beta)));
}

// The power law is exp(-m log_fall), x <= mu - beta sigma.
__device__ real log_fall(real x, real beta, real m, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), rise = -(z + beta) * (beta / m);
    return isinf(rise) ? log_quotient(mu - x, sigma) + log(beta / m) : log1p(rise);
}

__device__ real crystal_ball_logpdf(real x, real beta, real m, real mu, real sigma)
{
    if (!(m > 1)) return NAN;
    real z = (x - mu) * (1 / sigma);
    real value = z > -beta ? -0.5 * z * z : -0.5 * beta * beta - m * log_fall(x, beta, m, mu, sigma);
    return value - (log_whole(beta, m) + log(sigma));
}

__device__ real crystal_ball_logcdf(real x, real beta, real m, real mu, real sigma)
{
    if (!(m > 1)) return NAN;
    real z = (x - mu) * (1 / sigma), below = log_share(beta, m);
    if (z <= -beta) return below - (m - 1) * log_fall(x, beta, m, mu, sigma);
    return logaddexp(below, HALF_LOG_2PI + log_ndtr_difference(-beta, z) - log_whole(beta, m));
}

__device__ real crystal_ball_logsf(real x, real beta, real m, real mu, real sigma)
{
    if (!(m > 1)) return NAN;
    real z = (x - mu) * (1 / sigma);
    if (z <= -beta) return log1mexp(crystal_ball_logcdf(x, beta, m, mu, sigma));
    return HALF_LOG_2PI + log_ndtr(-z) - log_whole(beta, m);
}

__device__ real crystal_ball_sample(rng_t *rng, real beta, real m, real mu, real sigma)
{
    if (!(m > 1)) return NAN;
    real u = uniform(rng), e = exponential(rng), below = exp(log_share(beta, m));
    if (u < below) return mu - sigma * (beta + m / beta * expm1(e / (m - 1)));
    return truncated_normal_sample(rng, mu, sigma, mu - beta * sigma, INFINITY);
}

__device__ real crystal_ball_mode(real beta, real m, real mu, real sigma) { return mu; }
