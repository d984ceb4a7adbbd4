// noncentral_t: Student's t distribution whose numerator has a mean, with location and scale
// used for: the power of t tests, and confidence limits of effect sizes
// x: real    nu: positive, degrees of freedom    delta: real, noncentrality    mu: real, location    sigma: positive, scale
// density: (2 * (nu / 2)**(nu / 2) / (Gamma(nu / 2) * sigma) *
// Integral(s**nu * exp(-nu * s**2 / 2) * phi(z * s - delta), s, 0, inf))    z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 31
//
// With s = exp(u), the square root of a chi-squared variable over nu, the density is the mean of s phi(t s - delta), and the
// distribution function that of Phi(t s - delta). Both are integrals over u from the peak outwards, by the trapezoidal rule, all of
// whose digits are right for such functions: Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule.

// Where n log(w) - w^2 / 2 + w b is largest: at s = w / r lies the peak of n log(s) - nu s^2 / 2 - (t s - delta)^2 / 2, where
// r = sqrt(nu + t^2), whose square may overflow, and b = delta t / r.
__device__ real peak(real n, real b)
{
    real root = sqrt(b * b + 4 * n);
    return b < 0 ? 2 * n / (root - b) : 0.5 * (b + root);
}

// The logarithm of the density of u = log(s)
__device__ real log_chi(real s, real nu)
{
    real d = s - 1;
    return LOG_2 - HALF_LOG_2PI + 0.5 * log(0.5 * nu) - stirling_error(0.5 * nu) + nu * (log_ratio_excess(s, d) - 0.5 * d * d);
}

__device__ real noncentral_t_logpdf(real x, real nu, real delta, real mu, real sigma)
{
    if (isinf(nu) || isinf(delta)) return NAN;
    if (isinf(x)) return -INFINITY;
    real t = (x - mu) * (1 / sigma), n = nu + 1, r = hypot(t, sqrt(nu)), share = t / r;
    real w = peak(n, share * delta), s = w / r, a = w * w, z = share * w - delta;
    real step = 0.55 / sqrt(a + n + 24), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 4000 && term > 0.01 * EPSILON * sum; i++) {
            real v = side * i * step, d = expm1(v);
            term = exp(-0.5 * a * d * d - n * expm1_excess(-v));
            sum += term;
        }
    }
    return log_chi(s, nu) + log(s) - 0.5 * z * z - HALF_LOG_2PI + log(step) + log(sum) - log(sigma);
}

// log P(T <= t). The step of the sum is that of the integrand's width at s. Towards s = 0, where Phi is constant, the terms fall
// like s^nu, by a constant factor: their sum is known.
__device__ real log_tail(real t, real nu, real delta)
{
    real r = hypot(t, sqrt(nu)), share = t / r, w = peak(nu, share * delta), s = w / r;
    real step = 0.5 / sqrt(2 * w * w + 2 * nu + 24), center = log_ndtr(share * w - delta), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1, v = 0;
        for (int i = 1; i < 20000 && term > 0.01 * EPSILON * sum && v > -80; i++) {
            v = side * i * step;
            real d = expm1(v);
            // nu (log(r) - s^2 (r^2 - 1) / 2) where r = exp(v)
            real log_ratio = nu * (v * (1 - s) * (1 + s) - s * s * (expm1_excess(-v) + 0.5 * d * d));
            term = exp(log_ratio + log_ndtr(share * (w * (1 + d)) - delta) - center);
            sum += term;
        }
        if (v <= -80) sum += term / expm1(nu * step);
    }
    return log_chi(s, nu) + center + log(step) + log(sum);
}

__device__ real log_below(real t, real nu, real delta)
{
    int below = t < delta;
    real tail = log_tail(below ? t : -t, nu, below ? delta : -delta);
    if (tail > -LOG_2) {  // of few degrees of freedom the other one may be smaller
        below = !below;
        tail = log_tail(below ? t : -t, nu, below ? delta : -delta);
    }
    return below ? tail : log1mexp(tail);
}

__device__ real noncentral_t_logcdf(real x, real nu, real delta, real mu, real sigma)
{
    if (isinf(x)) return x > 0 ? 0 : -INFINITY;
    return log_below((x - mu) * (1 / sigma), nu, delta);
}

__device__ real noncentral_t_logsf(real x, real nu, real delta, real mu, real sigma)
{
    if (isinf(x)) return x > 0 ? -INFINITY : 0;
    return log_below((mu - x) * (1 / sigma), nu, -delta);
}

__device__ real noncentral_t_sample(rng_t *rng, real nu, real delta, real mu, real sigma)
{
    real z = normal(rng), log_ratio = gamma_logarithm(rng, 0.5 * nu) - log(0.5 * nu);
    return mu + sigma * ((z + delta) * exp(-0.5 * log_ratio));
}

// The mean where mu = 0 and sigma = 1, over delta
__device__ real factor(real nu)
{
    return sqrt(0.5 * nu) * exp(-log_rising(0.5 * nu - 0.5, (real)0.5));
}

__device__ real noncentral_t_mean(real nu, real delta, real mu, real sigma)
{
    return nu > 1 ? mu + sigma * (delta * factor(nu)) : NAN;
}

__device__ real noncentral_t_var(real nu, real delta, real mu, real sigma)
{
    real m = delta * factor(nu);
    return nu > 2 ? sigma * sigma * ((1 + delta * delta) * (nu / (nu - 2)) - m * m) : nu > 1 ? INFINITY : NAN;
}
