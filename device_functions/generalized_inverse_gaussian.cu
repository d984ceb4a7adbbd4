// generalized_inverse_gaussian: the generalised inverse Gaussian distribution
// used for: waiting times, and variances in mixtures of normal distributions
// x: nonnegative    p: real, shape    b: positive, concentration    sigma: positive, scale
// density: z**(p - 1) * exp(-b / 2 * (z + 1 / z)) / (2 * sigma * K(p, b))    z = x / sigma
// source: Jørgensen (1982), Statistical Properties of the Generalized Inverse Gaussian Distribution
//
// What gig_height and gig_log_integral are, is told in special/inverse_gaussian_mixtures.cu: the negative logarithm of the density of log(x), 0 at its peak,
// and what makes it a density.

// x / sigma, or sigma / x where p < 0
__device__ real oriented(real x, real p, real sigma) { return p < 0 ? sigma / x : x / sigma; }

// h(v) at exp(v) = b z / (p + w)
__device__ real height_at(real z, real p, real b)
{
    real s = p + hypot(p, b);
    return gig_height(z * (b / s), fma(b, z, -s) / s, p, b);
}

__device__ real height_at_grad_p(real z, real p, real b) { return -log(z * (b / (p + hypot(p, b)))); }

__device__ real generalized_inverse_gaussian_logpdf(real x, real p, real b, real sigma)
{
    if (isinf(p) || isinf(b)) return NAN;
    if (x == 0 || isinf(x)) return -INFINITY;
    return -height_at(oriented(x, p, sigma), fabs(p), b) - gig_log_integral(0, fabs(p), b) - log(x);
}

// log P(Z <= z) where z lies below the peak, else log P(Z > z), p >= 0, by quadrature in log(z)
__device__ real log_tail(real z, real p, real b)
{
    real w = hypot(p, b), r = z * (b / (p + w)), away = r < 1 ? -1 : 1, at = height_at(z, p, b), sum = 0, last = 1;
    real slope = p * (r - 1) + 0.5 * b * (b / (p + w)) * (r - 1 / r), width = panel_width(slope, 1 / sqrt(w + 1));
    for (int panel = 0; panel < 2000 && last > 0.01 * EPSILON; panel++) {
        last = 0;
        for (int k = 0; k < 8; k++) {
            real d = width * (panel + 0.5 * (1 + legendre_node(k)));
            last += legendre_weight(k) * exp(at - height_at(z * exp(away * d), p, b));
        }
        sum += last;
        last /= sum;
    }
    return log(0.5 * width) + log(sum) - at - gig_log_integral(0, p, b);
}

// log P(Z <= z), or log P(Z > z) if `above`
__device__ real log_either(real z, int above, real p, real b)
{
    if (z == 0 || isinf(z)) return above == (z == 0) ? 0 : -INFINITY;
    real tail = log_tail(z, p, b);
    return above == (z * (b / (p + hypot(p, b))) >= 1) ? tail : log1mexp(tail);
}

__device__ real generalized_inverse_gaussian_logcdf(real x, real p, real b, real sigma)
{
    return log_either(oriented(x, p, sigma), p < 0, fabs(p), b);
}

__device__ real generalized_inverse_gaussian_logsf(real x, real p, real b, real sigma)
{
    return log_either(oriented(x, p, sigma), !(p < 0), fabs(p), b);
}

// Source: Devroye (2014), Random variate generation for the generalized inverse Gaussian distribution.
__device__ real standard(rng_t *rng, real p, real b)
{
    real w = hypot(p, b), rest = b * (b / (p + w)), right = 1, left = 1, v = NAN;
    real at_right = gig_height(exp((real)1), expm1((real)1), p, b), at_left = gig_height(exp((real)-1), expm1((real)-1), p, b);
    if (at_right > 2) right = sqrt(2 / w);
    if (at_right < 0.5) right = log(4 / (rest + 2 * p));
    if (at_left > 2) left = sqrt(4 / (rest * cosh((real)1) + p));
    if (at_left < 0.5) left = fmin(1 / p, log1p(1 / rest + sqrt((1 / rest + 2) / rest)));
    at_right = gig_height(exp(right), expm1(right), p, b);
    at_left = gig_height(exp(-left), expm1(-left), p, b);
    real beyond = 1 / (rest * sinh(right) + p * expm1(right)), before = -1 / (rest * sinh(-left) + p * expm1(-left));
    real to = right - beyond * at_right, from = before * at_left - left, inside = to - from;
    for (int i = 0; i < 1000 && isnan(v); i++) {
        real u = uniform(rng) * (inside + beyond + before), e = exponential(rng), t = uniform(rng);
        real x = u < inside ? from + inside * t : u < inside + beyond ? to + beyond * e : from - before * e;
        real hat = x > to ? -at_right - (x - right) / beyond : x < from ? -at_left + (x + left) / before : 0;
        real f = exponential(rng);
        if (hat - f <= -gig_height(exp(x), expm1(x), p, b)) v = x;
    }
    return v + log(p + w) - log(b);
}

__device__ real generalized_inverse_gaussian_sample(rng_t *rng, real p, real b, real sigma)
{
    real log_z = standard(rng, fabs(p), b);
    return scaled_exp(sigma, p < 0 ? -log_z : log_z);
}

__device__ real generalized_inverse_gaussian_mean(real p, real b, real sigma)
{
    real a = fabs(p), peak = (a + hypot(a, b)) / b, sign = p < 0 ? -1 : 1;
    real ratio = exp(gig_log_integral(sign, a, b) - gig_log_integral(0, a, b));
    return sigma * (p < 0 ? ratio / peak : ratio * peak);
}

__device__ real generalized_inverse_gaussian_mode(real p, real b, real sigma)
{
    real w = hypot(p - 1, b);
    return sigma * (p < 1 ? b / (1 - p + w) : (p - 1 + w) / b);
}
