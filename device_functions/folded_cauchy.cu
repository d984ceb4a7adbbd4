// folded_cauchy: absolute value of a Cauchy variable
// used for: sizes of deviations whose sign is lost, with wild outliers
// x: nonnegative    mu: real, location of the Cauchy variable    sigma: positive, scale
// density: (1 / (1 + ((x - mu) / sigma)**2) + 1 / (1 + ((x + mu) / sigma)**2)) / (pi * sigma)
// source: Johnson, Kotz & Balakrishnan (1994), ch. 16
__device__ real folded_cauchy_logpdf(real x, real mu, real sigma)
{
    real below = (x + mu) * (1 / sigma), above = (x - mu) * (1 / sigma);
    real both = log1p_square(hypot(x, mu) * (1 / sigma)) - (log1p_square(below) + log1p_square(above));
    return isinf(x) ? -INFINITY : both + (LOG_2 - LOG_PI - log(sigma));
}

// In x; and, with both exchanged, in mu. Near 0 nothing cancels.
__device__ real slope(real x, real mu, real sigma)
{
    real z = x * (1 / sigma), below = (x + mu) * (1 / sigma), above = (x - mu) * (1 / sigma);
    real b = hypot((real)1, below), a = hypot((real)1, above), whole = hypot((real)1, hypot(z, mu * (1 / sigma)));
    real apart = 1 / b * (1 / a) + below / b * (above / a);
    return isinf(whole) ? 0 : 2 / sigma * (z / whole / whole - 2 * apart * (z / fmax(a, b)) / fmin(a, b));
}

__device__ real folded_cauchy_logpdf_grad_x(real x, real mu, real sigma) { return slope(x, mu, sigma); }
__device__ real folded_cauchy_logpdf_grad_mu(real x, real mu, real sigma) { return slope(mu, x, sigma); }

__device__ real folded_cauchy_logpdf_grad_sigma(real x, real mu, real sigma)
{
    real below = (x + mu) * (1 / sigma), above = (x - mu) * (1 / sigma), whole = hypot(x, mu) * (1 / sigma);
    return (1 + 2 / (1 + whole * whole) - 2 / (1 + below * below) - 2 / (1 + above * above)) * (1 / sigma);
}

// atan(below) + atan(above), as the angle of the product of two complex numbers, divided by the largest of what it is made of
__device__ real folded_cauchy_logcdf(real x, real mu, real sigma)
{
    real z = x * (1 / sigma), c = fabs(mu) * (1 / sigma), largest = fmax(z + c, (real)1);
    if (isinf(largest)) return 0;
    real height = 2 * (z / largest), width = 1 / largest + (c - z) * ((c + z) / largest);
    return (height < EPSILON * width ? log(height) - log(width) : log(atan2(height, width))) - LOG_PI;  // or it may underflow
}

__device__ real folded_cauchy_logsf(real x, real mu, real sigma)
{
    if (fabs(mu) < 0.5 * x) return logaddexp(log_arc(x + mu, sigma), log_arc(x - mu, sigma)) - LOG_PI;
    return log(atan2(1, (x + mu) * (1 / sigma)) + atan2(1, (x - mu) * (1 / sigma))) - LOG_PI;
}

// The smaller one of P(X <= x) and P(X > x) is `tail`: the root of a quadratic equation.
__device__ real quantile(real tail, int above, real mu, real sigma)
{
    real s = sin(PI * tail), c = cos(PI * tail), slope = hypot((real)1, mu / sigma), root = hypot(c, s * slope);
    return sigma * (above ? (c + root) / s : s * slope * slope / (c + root));
}

__device__ real folded_cauchy_ppf(real q, real mu, real sigma) { return quantile(fmin(q, 1 - q), q > 0.5, mu, sigma); }
__device__ real folded_cauchy_isf(real q, real mu, real sigma) { return quantile(fmin(q, 1 - q), q < 0.5, mu, sigma); }
__device__ real folded_cauchy_sample(rng_t *rng, real mu, real sigma) { return fabs(cauchy_sample(rng, mu, sigma)); }
__device__ real folded_cauchy_mean(real mu, real sigma) { return INFINITY; }
__device__ real folded_cauchy_var(real mu, real sigma) { return INFINITY; }
__device__ real folded_cauchy_skewness(real mu, real sigma) { return NAN; }
__device__ real folded_cauchy_kurtosis(real mu, real sigma) { return NAN; }
