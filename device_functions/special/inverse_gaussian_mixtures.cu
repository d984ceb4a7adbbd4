// The generalised inverse Gaussian distribution, and normal mixtures by it

//
// W has a density proportional to w^(p - 1) exp(-(delta^2 / w + gamma^2 w) / 2), and X is normal with mean beta W and variance W:
// a generalised hyperbolic variable. Let p >= 0; with -p, 1 / W is distributed like that. The density of log(W) is proportional to
// exp(-h), h being a convex function whose smallest value is 0; and the integral of exp(-h) is exp(w) (b / (p + w))^p 2 K_p(b),
// b = delta gamma, w = sqrt(p^2 + b^2), which is finite where b = 0 and p > 0, too: 1 / W or W is a gamma variable then.

// h(v) as a function of exp(v) = r and r - 1 = d, in which nothing cancels, r being W relative to where h is 0
// reference: tests/test_densities.py
__device__ real gig_height(real r, real d, real p, real b)
{
    real rest = b * (b / (p + hypot(p, b)));  // w - p
    return 0.5 * d * (rest * d / r) - p * log_ratio_excess(r, d);  // 1 / r^2 would overflow in its derivative
}

// The logarithm of the integral of exp(order v - h(v)), by the trapezoidal rule, all of whose digits are right for such functions:
// Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule. Scaled error 20.
// reference: tests/test_densities.py
__device__ real gig_log_integral(real order, real p, real b)
{
    if (b == 0 && order == 0) return HALF_LOG_2PI - 0.5 * log(p) + stirling_error(p);  // of small p it would have no end
    real w = hypot(p, b), rest = b * (b / (p + w)), step = 0.6 / sqrt(w + 7), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 6000 && term > 0.01 * EPSILON * sum; i++) {
            real v = side * i * step, s = rest > 0 ? sinh(0.5 * v) : 0;  // whose square may overflow
            term = exp(order * v - p * expm1_excess(-v) - 2 * rest * s * s);
            sum += term;
        }
    }
    return log(step) + log(sum);
}

// The w at which h is 0, for p of either sign
// reference: tests/test_densities.py
__device__ real gig_peak(real p, real delta, real gamma)
{
    real size = fabs(p) + hypot(p, delta * gamma);
    return p < 0 ? delta * (delta / size) : size / gamma / gamma;
}

// h at log(w), for p of either sign
// reference: tests/test_densities.py
__device__ real gig_height_at(real w, real p, real delta, real gamma)
{
    real b = delta * gamma, size = fabs(p) + hypot(p, b);
    real r = p < 0 ? delta / size * (delta / w) : w / size * gamma * gamma;
    return gig_height(r, r - 1, fabs(p), b);
}

// sqrt(alpha^2 - beta^2), for those who have alpha
// reference: tests/test_densities.py
__device__ real gig_mixture_gamma(real alpha, real beta) { return sqrt((alpha - beta) * (alpha + beta)); }

// The logarithm of the density of X. With the normal density, too, the integrand is one of log(w), of p - 1/2, and with x and beta.
// reference: tests/test_densities.py
__device__ real log_gig_mixture_at(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), w = gig_peak(p - 0.5, q, alpha), z = (x - beta * w) / sqrt(w);
    return gig_log_integral(0, fabs(p - 0.5), alpha * q) - (gig_log_integral(0, fabs(p), delta * gamma) + HALF_LOG_2PI)
         - gig_height_at(w, p, delta, gamma) - 0.5 * z * z - 0.5 * log(w);
}

// The same where alpha q is small. The derivative of q^v K_v(alpha q) in q is -alpha q^v K_(v - 1)(alpha q), so that nothing cancels.
// reference: tests/test_densities.py
__device__ real log_gig_mixture_near(real x, real p, real beta, real gamma, real delta)
{
    return log_gig_mixture_at(x, p, beta, gamma, delta);
}

// reference: tests/test_densities.py
__device__ real log_gig_mixture_near_grad_x(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), v = p - 0.5, b = alpha * q, size = fabs(v) + hypot(v, b);
    real ratio = exp(gig_log_integral(v < 0 ? 1 : -1, fabs(v), b) - gig_log_integral(0, fabs(v), b));
    return q == 0 ? beta : beta - x / q * (v < 0 ? size / q : alpha * (b / size)) * ratio;
}

// reference: tests/test_densities.py
__device__ real log_gig_mixture_density(real x, real p, real beta, real gamma, real delta)
{
    if (hypot(x, delta) * hypot(beta, gamma) < (EPSILON < 1e-10 ? 0.01 : 0.1)) return log_gig_mixture_near(x, p, beta, gamma, delta);
    return log_gig_mixture_at(x, p, beta, gamma, delta);
}

// log P(X <= x), the mean of Phi((x - beta W) / sqrt(W)), by the trapezoidal rule in log(w), from about the peak outwards. Where
// delta is 0, terms of small w are powers of w, and where gamma is 0, those of large w: these are summed at once, as there are
// very many for p near 0. What has more terms yet is nan.
// reference: tests/test_densities.py
__device__ real log_gig_mixture_below(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), center = gig_peak(p, q, alpha);
    real at_center = log_ndtr((x - beta * center) / sqrt(center)) - gig_height_at(center, p, delta, gamma);
    real step = 0.6 / sqrt(hypot(p, alpha * q) + 7), sum = 1, tiny = exp(EPSILON < 1e-10 ? -667.0 : -80.0);
    real powers = fmax(fmin(x * x / 324, fmin(0.5 * x / fabs(beta), 0.02 * EPSILON / gamma / gamma)), tiny);
    real far = fmax(fmax(1600 / (beta * beta), 4 * fabs(x / beta)), 50 / EPSILON * delta * delta);
    int more = 0;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 400000 && term > 0.01 * EPSILON * sum; i++) {
            real w = center * exp(side * i * step);
            if ((delta == 0 && w < powers) || (gamma == 0 && beta < 0 && w > far)) {
                sum += term / expm1(fabs(p) * step);
                term = 0;
            } else {
                term = exp(log_ndtr((x - beta * w) / sqrt(w)) - gig_height_at(w, p, delta, gamma) - at_center);
                sum += term;
            }
        }
        more = more || term > 0.01 * EPSILON * sum;
    }
    return more ? NAN : at_center + log(step) + log(sum) - gig_log_integral(0, fabs(p), delta * gamma);
}

// log P(X <= x), or log P(X > x) if `above`, from the tail that is small
// reference: tests/test_densities.py
__device__ real log_gig_mixture(real x, int above, real p, real beta, real gamma, real delta)
{
    if (isinf(x)) return (x > 0) == above ? -INFINITY : 0;
    int from_above = x > beta * gig_peak(p, delta, gamma);
    real sign = from_above ? -1 : 1, tail = log_gig_mixture_below(sign * x, p, sign * beta, gamma, delta);
    return from_above == above ? tail : log1mexp(tail);
}

// The mean of (W / peak - about)^order, for p of either sign, where it is finite
// reference: tests/test_densities.py
__device__ real gig_moment(int order, real about, real p, real b)
{
    real size = fabs(p), w = hypot(p, b), rest = b * (b / (size + w)), step = 0.6 / sqrt(w + 7);
    real mass = 1, sum = pow(1 - about, (real)order);  // of the peak
    for (int side = -1; side < 2; side += 2) {
        real term = 1, part = 1;
        for (int i = 1; i < 6000 && (term > 0.01 * EPSILON * mass || fabs(part) > 0.01 * EPSILON * fabs(sum)); i++) {
            real v = side * i * step, s = rest > 0 ? sinh(0.5 * v) : 0, distance = exp(p < 0 ? -v : v) - about;
            term = exp(-size * expm1_excess(-v) - 2 * rest * s * s);
            part = term * pow(distance, (real)order);
            mass += term;
            sum += part;
        }
    }
    return sum / mass;
}
