// gauss_hypergeometric: a beta distribution times a power of 1 + z x
// used for: utilisation of servers, and proportions for which a beta distribution is too stiff
// x: unit    a: positive, shape    b: positive, shape    c: real, power    z: real, factor, > -1
// density: x**(a - 1) * (1 - x)**(b - 1) / ((1 + z * x)**c * B(a, b) * hyp2f1(c, a, a + b, -z))
// source: Armero & Bayarri (1994), Prior assessments for prediction in queues
//
// The density of v = logit(x) is proportional to exp(h(v)), h(v) = a v - (a + b - c) log(1 + exp(v)) - c log(1 + (1 + z) exp(v)).
// Its integral, of which Gauss's hypergeometric function is a factor, is found by the trapezoidal rule, all of whose digits are
// right for such functions: Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule.

__device__ real height(real v, real a, real b, real c, real log_z)
{
    return a * v - (a + b - c) * log1pexp(v) - c * log1pexp(v + log_z);
}

__device__ real slope_at(real v, real a, real b, real c, real log_z)
{
    return a - (a + b - c) * expit(v) - c * expit(v + log_z);
}

// Where the slope is 0
__device__ real peak(real a, real b, real c, real log_z)
{
    real whole = a + b + 2 * fabs(c), low = fmin(-log_z, (real)0) - log(whole / a) - 1, high = fmax(-log_z, (real)0) + log(whole / b) + 1;
    for (int i = 0; i < 30; i++) {
        real middle = 0.5 * (low + high);
        int rises = slope_at(middle, a, b, c, log_z) > 0;
        low = rises ? middle : low;
        high = rises ? high : middle;
    }
    return 0.5 * (low + high);
}

__device__ real step_at(real center, real a, real b, real c, real log_z)
{
    real bend = (a + b - c) * expit(center) * expit(-center) + c * expit(center + log_z) * expit(-center - log_z);
    return 0.6 / sqrt(fabs(bend) + 7);
}

// The mean of (x - about)^order, or the logarithm of the integral of exp(h) where the order is 0
__device__ real mean_of(int order, real about, real a, real b, real c, real z)
{
    real log_z = log1p(z), center = peak(a, b, c, log_z), step = step_at(center, a, b, c, log_z);
    real at_center = height(center, a, b, c, log_z), mass = 1, sum = order == 0 ? 0 : pow(expit(center) - about, (real)order);
    for (int side = -1; side < 2; side += 2) {
        real term = 1, part = 1;
        for (int i = 1; i < 20000 && (term > 0.01 * EPSILON * mass || fabs(part) > 0.01 * EPSILON * fabs(sum)); i++) {
            real v = center + side * i * step;
            term = exp(height(v, a, b, c, log_z) - at_center);
            part = order == 0 ? 0 : term * pow(expit(v) - about, (real)order);
            mass += term;
            sum += part;
        }
    }
    return order == 0 ? at_center + log(step) + log(mass) : sum / mass;
}

__device__ real log_integral(real a, real b, real c, real z) { return mean_of(0, 0, a, b, c, z); }

__device__ real gauss_hypergeometric_logpdf(real x, real a, real b, real c, real z)
{
    if (!(z > -1 && z < INFINITY) || isinf(a) || isinf(b) || isinf(c)) return NAN;
    return weighted(a - 1, log(x)) + weighted(b - 1, log1p(-x)) - c * log1p(z * x) - log_integral(a, b, c, z);
}

// The logarithm of the integral of exp(h) from v to -INFINITY, or to INFINITY if `above`, by quadrature
__device__ real log_tail(real v, int above, real a, real b, real c, real log_z)
{
    real away = above ? 1 : -1, at_v = height(v, a, b, c, log_z), left = v, sum = 0, last = INFINITY;
    for (int panel = 0; panel < 1000 && last > 0.01 * EPSILON * sum; panel++) {
        real first = hypot(PI, left), second = hypot(PI, left + log_z);  // to the singularities
        real bend = fabs(a + b - c) * fmin(exp(0.45 * first - fabs(left)), (real)0.25)
                  + fabs(c) * fmin(exp(0.45 * second - fabs(left + log_z)), (real)0.25);
        real width = fmin(panel_width(slope_at(left, a, b, c, log_z), 1 / sqrt(bend)), 0.45 * fmin(first, second));
        last = 0;
        for (int k = 0; k < 8; k++) {
            real at = left + away * width * 0.5 * (1 + legendre_node(k));
            last += 0.5 * width * legendre_weight(k) * exp(height(at, a, b, c, log_z) - at_v);
        }
        sum += last;
        left += away * width;
    }
    return at_v + log(sum);
}

// log P(V <= v), or log P(V > v) if `above`; norm is the logarithm of the whole integral
__device__ real log_either(real v, int above, real norm, real a, real b, real c, real log_z)
{
    int from_above = slope_at(v, a, b, c, log_z) < 0;
    real tail = log_tail(v, from_above, a, b, c, log_z) - norm;
    return from_above == above ? fmin(tail, (real)0) : log1mexp(fmin(tail, (real)0));
}

__device__ real gauss_hypergeometric_logcdf(real x, real a, real b, real c, real z)
{
    return x == 0 ? -INFINITY : x == 1 ? 0 : log_either(logit(x), 0, log_integral(a, b, c, z), a, b, c, log1p(z));
}

__device__ real gauss_hypergeometric_logsf(real x, real a, real b, real c, real z)
{
    return x == 0 ? 0 : x == 1 ? -INFINITY : log_either(logit(x), 1, log_integral(a, b, c, z), a, b, c, log1p(z));
}

// The quantile of a uniform variable, by Newton's method on the logarithm of a tail, and by halving where that leads too far
__device__ real gauss_hypergeometric_sample(rng_t *rng, real a, real b, real c, real z)
{
    real u = uniform(rng), log_z = log1p(z), norm = log_integral(a, b, c, z), v = peak(a, b, c, log_z), step = INFINITY;
    real low = v - fabs(log_z) - 40 / a - 5, high = v + fabs(log_z) + 40 / b + 5, log_p = log(fmin(u, 1 - u));
    int above = u > 0.5;
    for (int i = 0; i < 60 && fabs(step) > sqrt(EPSILON); i++) {
        real tail = log_either(v, above, norm, a, b, c, log_z);
        step = (above ? 1 : -1) * (tail - log_p) * exp(tail + norm - height(v, a, b, c, log_z));
        low = step > 0 ? v : low;
        high = step > 0 ? high : v;
        if (!(v + step > low && v + step < high)) step = 0.5 * (low + high) - v;
        v += step;
    }
    return expit(v);
}

__device__ real gauss_hypergeometric_mean(real a, real b, real c, real z)
{
    return z > -1 ? mean_of(1, 0, a, b, c, z) : NAN;
}

__device__ real gauss_hypergeometric_var(real a, real b, real c, real z)
{
    return z > -1 ? mean_of(2, mean_of(1, 0, a, b, c, z), a, b, c, z) : NAN;
}
