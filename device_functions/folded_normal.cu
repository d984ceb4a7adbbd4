// folded_normal: absolute value of a normal variable
// used for: sizes of deviations whose sign is lost
// x: nonnegative    mu: real, mean of the normal variable    sigma: positive, its standard deviation
// density: (phi((x - mu) / sigma) + phi((x + mu) / sigma)) / sigma
// source: Leone, Nelson & Nottingham (1961), The folded normal distribution
__device__ real folded_normal_logpdf(real x, real mu, real sigma)
{
    real z = (x - fabs(mu)) * (1 / sigma), other = 2 * (x * (1 / sigma) * (fabs(mu) * (1 / sigma)));
    return isinf(z) ? -INFINITY : -(log(sigma) + HALF_LOG_2PI) - 0.5 * z * z + log1p_unit(exp(-other));
}

// In x; and, with both exchanged, in mu
__device__ real slope(real x, real mu, real sigma)
{
    real z = x * (1 / sigma), c = mu * (1 / sigma);
    return isinf(z) || isinf(c) ? 0 : (c * log_2cosh_slope(z * c) - z) * (1 / sigma);
}

__device__ real folded_normal_logpdf_grad_x(real x, real mu, real sigma) { return slope(x, mu, sigma); }
__device__ real folded_normal_logpdf_grad_mu(real x, real mu, real sigma) { return slope(mu, x, sigma); }

__device__ real folded_normal_logcdf(real x, real mu, real sigma)
{
    real z = x * (1 / sigma), above = (x - fabs(mu)) * (1 / sigma), mode = fmin(above, (real)0);
    return log(normal_integral(-z - fabs(mu) * (1 / sigma), above, 2 * z)) - (0.5 * mode * mode + HALF_LOG_2PI);
}

__device__ real folded_normal_logsf(real x, real mu, real sigma)
{
    return logaddexp(log_ndtr((mu - x) * (1 / sigma)), log_ndtr(-(mu + x) * (1 / sigma)));
}

__device__ real folded_normal_sample(rng_t *rng, real mu, real sigma)
{
    return fabs(mu + sigma * normal(rng));
}

// The mean's distance from |mu|, relative to sigma
__device__ real shift(real c)
{
    return exp(-0.5 * c * c) * scaled_erfc_slope(c / SQRT_2) / SQRT_2;
}

__device__ real folded_normal_mean(real mu, real sigma) { return fabs(mu) + sigma * shift(fabs(mu) / sigma); }

__device__ real folded_normal_var(real mu, real sigma)
{
    real c = fabs(mu) / sigma, d = shift(c);
    return sigma * sigma * (1 - d * (2 * c + d));
}
