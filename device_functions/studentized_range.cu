// studentized_range: the range of k standard normal variables over an independent estimate of their standard deviation, Tukey's q
// used for: Tukey's comparisons of all pairs of means
// x: nonnegative    k: positive, number of variables, > 1, not necessarily whole    nu: positive, degrees of freedom of the estimate
// density: 2 * (nu / 2)**(nu / 2) / Gamma(nu / 2) * k * (k - 1) * Integral(s**nu * exp(-nu * s**2 / 2) *
// Integral(phi(z) * phi(z + x * s) * (Phi(z + x * s) - Phi(z))**(k - 2), z, -inf, inf), s, 0, inf)
// source: Lund & Lund (1983), Algorithm AS 190: Probabilities and upper quantiles for the studentized range
//
// Density and probabilities of the range are integrals over its middle, u, those of the ratio integrals over v, the logarithm of the
// estimate. Both are taken by the trapezoidal rule from about the peak outwards: Trefethen & Weideman (2014), The exponentially
// convergent trapezoidal rule. All terms are positive, in either tail.

// log P(|Z - u| < r / 2), Z being a standard normal variable, u >= 0
__device__ real log_between(real u, real r)
{
    real half = 0.5 * r, beyond = 0.5 * (erfc((half - u) / SQRT_2) + erfc((half + u) / SQRT_2)), near = fmax(u - half, (real)0);
    return beyond < 0.5 ? log1p(-beyond) : log(normal_integral(u - half, u + half, r)) - (0.5 * near * near + HALF_LOG_2PI);
}

// The derivative of log P(|Z| < r / 2) in log(r)
__device__ real central_slope(real r)
{
    return r > 0 ? r * exp(-0.125 * r * r) / (SQRT_2 * SQRT_PI * erf(r / (2 * SQRT_2))) : 1;
}

// How fast an integrand varies where it is a power of the normal distribution function: about as the largest of k variables does
__device__ real rate_of_largest(real k) { return fmax((real)2.9, 4.3 * (sqrt(2 * log(k)) - 1.1)); }

// The logarithm of the integrand of P(R > r)
__device__ real log_above(real u, real r, real k)
{
    real below = log_ndtr(0.5 * r - u), log_share = fmin(log_ndtr(-0.5 * r - u) - below, (real)0), d = u - 0.5 * r, value;
    if (log_share + log(k) < 2 * log(EPSILON))
        value = log_share + log(k - 1);
    else
        value = log1mexp((k - 1) * (log_share < -LOG_2 ? log1p(-exp(log_share)) : log_between(fabs(u), r) - below));
    return (k - 1) * below + value - 0.5 * d * d;
}

// Whether P(R <= r) is small, or near 1/2: by Laplace's approximation of its integral
__device__ int is_low(real r, real k)
{
    real variance = 1 + (k - 1) * central_slope(r) - 0.25 * r * r;
    return variance > 0 && log(k) + (k - 1) * log_between(0, r) - 0.125 * r * r - 0.5 * log(variance) < -LOG_2;
}

// Of the range, what: 0: the logarithm of its density, 1: of P(R <= r), 2: of P(R > r)
__device__ real log_range(int what, real r, real k)
{
    if (r < ldexp((real)1, EPSILON < 1e-10 ? -1015 : -120)) return what == 2 ? 0 : -INFINITY;
    real spread = (EPSILON < 1e-10 ? 0.6 : 0.8) / sqrt(2 + fabs(k - 2) * central_slope(r));
    real step = panel_width(3 * fmax(1 / spread, (EPSILON < 1e-10 ? 1 : 0.75) * rate_of_largest(k)), 1), sum = 1;
    if (what == 0) {
        real center = log_between(0, r), term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum; i++) {
            real u = i * step;
            term = 2 * exp((k - 2) * (log_between(u, r) - center) - u * u);
            sum += term;
        }
        return log(k) + log(k - 1) - LOG_2PI + (k - 2) * center - 0.25 * r * r + log(step * sum);
    }
    real center, term;
    if (is_low(r, k)) {
        center = (k - 1) * log_between(0, r) - 0.125 * r * r;
        term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum; i++) {
            real u = i * step, d = u - 0.5 * r;
            term = (1 + exp(-u * r)) * exp((k - 1) * log_between(u, r) - 0.5 * d * d - center);
            sum += term;
        }
    } else {
        center = log_above(0, r, k);
        for (int side = -1; side < 2; side += 2) {
            term = 1;
            for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum; i++) {
                term = exp(log_above(side * i * step, r, k) - center);
                sum += term;
            }
        }
    }
    real value = log(k) - HALF_LOG_2PI + center + log(step * sum);
    return is_low(r, k) == (what == 1) ? value : log1mexp(value);
}

// What all integrands over v are of: the step that is short enough for their curvature and for powers of normal probabilities
__device__ real step_of(real curvature, real k)
{
    real rate = fmax(2 * sqrt(curvature + 24), sqrt(2 * log(k)) * rate_of_largest(k));
    return panel_width(3 * (EPSILON < 1e-10 ? 1 : 0.75) * rate, 1);
}

// About the v at which log_term is largest: the logarithm of the density of the range is about (k - 2) log P(|Z| < r / 2) - r^2 / 4
__device__ real peak(int what, real q, real k, real nu)
{
    real low = -0.5 * log1p_square(q / sqrt(2 * nu)), high = 0.5 * log1p(k / nu);
    if (what == 1) low = fmin((real)0, 0.5 * log(2 * fmin(k - 1, (real)1)) - log(q));
    if (what == 2) high = fmax((real)0, 0.5 * log(2 * k) - log(q));
    for (int i = 0; i < 30; i++) {
        real v = 0.5 * (low + high), r = q * exp(v), slope = -nu * expm1(2 * v);
        slope = what == 1 ? fmin(slope, (real)0) : what == 2 ? fmax(slope, (real)0) : slope;
        int rises = slope + 1 + (k - 2) * central_slope(r) - 0.5 * r * r > 0;
        low = rises ? v : low;
        high = rises ? high : v;
    }
    return 0.5 * (low + high);
}

// The logarithm of the density of the range at r = q exp(v), over v, times the density of v, or P(V > v) or P(V < v), what as above
__device__ real log_term(int what, real v, real q, real k, real nu)
{
    real a = 0.5 * nu, value = log_range(0, q * exp(v), k) + v;
    if (what == 0) return value - a * expm1_excess(-2 * v);
    return value + (what == 1 ? log_gamma_q(a, a * exp(2 * v)) : log_gamma_p_of_power(a, a * exp(2 * v), log(a) + 2 * v));
}

// The logarithm of the sum of log_term; far down, v falls exponentially, so that a small power of exp(v) is no long sum
__device__ real log_sum(int what, real q, real k, real nu)
{
    real at = peak(what, q, k, nu), r = q * exp(at), square = exp(2 * at), center = log_term(what, at, q, k, nu), sum = 0;
    real wide = 0.1 / (1 + 2 * r), step = step_of(2 * nu * (what == 2 ? fmin(square, (real)1) : square) + r * r
                                                  + fabs(k - 2) * central_slope(r) * (1 + 0.25 * r * r), k);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 0; i < 2000 && (term > 0.01 * EPSILON * sum || i < 2); i++) {
            real y = (side < 0 ? -i : i + 1) * step;
            term = (1 + wide * exp(-y)) * exp(log_term(what, at + (y - wide * expm1(-y)), q, k, nu) - center);
            sum += term;
        }
    }
    return center + log(step * sum);
}

// log P(Q <= q), or log P(Q > q) where what = 2, for large nu: the mean of that of the range
__device__ real log_mean(int what, real q, real k, real nu)
{
    real at = -0.5 * log1p_square(q / sqrt(2 * nu)), sum = 0;
    if (what == 1) {
        real low = 0, high = 0.5 * log1p(k / nu);
        for (int i = 0; i < 30; i++) {
            at = 0.5 * (low + high);
            int rises = (k - 1) * central_slope(q * exp(at)) > nu * expm1(2 * at);
            low = rises ? at : low;
            high = rises ? high : at;
        }
    }
    real r = q * exp(at), center = log_range(what, r, k) - 0.5 * nu * expm1_excess(-2 * at);
    real step = step_of(2 * nu * exp(2 * at) + (what == 1 ? (k - 1) * central_slope(r) * (1 + 0.25 * r * r) : r * r), k);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 0; i < 2000 && (term > 0.01 * EPSILON * sum || i < 2); i++) {
            real v = at + (side < 0 ? -i : i + 1) * step;
            term = exp(log_range(what, q * exp(v), k) - 0.5 * nu * expm1_excess(-2 * v) - center);
            sum += term;
        }
    }
    return center + log(step * sum);
}

// Of V, but for what log_term and log_mean take of it
__device__ real log_scale(real nu) { return LOG_2 - HALF_LOG_2PI + 0.5 * log(0.5 * nu) - stirling_error(0.5 * nu); }

__device__ real studentized_at(int what, real q, real k, real nu)
{
    if (nu > 1 / (EPSILON * EPSILON)) return log_range(what, q, k);
    if (what == 0) return log_sum(0, q, k, nu) + log_scale(nu);
    return nu > 100 ? log_mean(what, q, k, nu) + log_scale(nu) : log_sum(what, q, k, nu) + log(q);
}

// Near 0, where integrands would underflow, density and probability follow power laws.
__device__ real studentized(int what, real q, real k, real nu)
{
    if (!(k > 1) || isinf(k)) return NAN;
    if (q == 0) return what == 2 ? 0 : -INFINITY;
    real edge = ldexp((real)1, EPSILON < 1e-10 ? -400 : -50), value = studentized_at(what, fmax(q, edge), k, nu);
    if (q >= edge) return value;
    real power = (what == 2 ? log1mexp(value) : value) + (k - (what == 0 ? 2 : 1)) * (log(q) - log(edge));
    return what == 2 ? log1mexp(power) : power;
}

__device__ real studentized_range_logpdf(real x, real k, real nu)
{
    if (isinf(x) && k > 1) return -INFINITY;
    real at_zero = (isinf(nu) ? 0 : log_rising(0.5 * nu, (real)0.5) - 0.5 * log(0.5 * nu)) - 0.5 * LOG_PI;  // if k = 2
    if (x == 0 && k > 1 && k < INFINITY) return log_power_at_zero(k - 2, at_zero);
    return studentized(0, x, k, nu);
}

__device__ real studentized_range_logcdf(real x, real k, real nu)
{
    return isinf(x) && k > 1 ? 0 : studentized(1, x, k, nu);
}

__device__ real studentized_range_logsf(real x, real k, real nu) { return studentized(2, x, k, nu); }

// The smallest variable and the largest one, by their order: P(Z > z) of the smallest one is a power of a uniform number.
__device__ real studentized_range_sample(rng_t *rng, real k, real nu)
{
    real first = log(uniform(rng)) / k, second = log(uniform(rng)) / (k - 1);
    real smallest = first < -LOG_2 ? -ndtri(exp(first)) : ndtri(-expm1(first)), log_above_largest = first + log1mexp(second);
    real largest = log_above_largest < -LOG_2 ? -ndtri_exp(log_above_largest) : ndtri(-expm1(log_above_largest));
    real d = exp(first + second + 0.5 * smallest * smallest + HALF_LOG_2PI);  // to first order
    real r = d < 1e-3 * sqrt(EPSILON) ? d : largest - smallest;
    if (nu > 1 / (EPSILON * EPSILON)) return r;
    real log_square = gamma_logarithm(rng, 0.5 * nu) - log(0.5 * nu);
    return r * exp(-0.5 * log_square);
}

// The mean of (R - about)^order
__device__ real range_moment(int order, real about, real k)
{
    real at = peak(0, 1, k, 0.01), wide = 0.1 / (1 + 2 * exp(at)), center = log_range(0, exp(at), k) + at, sum = 0, mass = 0;
    real step = 1 / fmax(sqrt(2 * exp(2 * at) + fabs(k - 2) + 24) / 0.5, sqrt(2 * log(k)) * rate_of_largest(k));
    for (int side = -1; side < 2; side += 2) {
        real weight = 1;
        for (int i = 0; i < 2000 && (weight > 1e-8 * EPSILON || i < 2); i++) {
            real y = (side < 0 ? -i : i + 1) * step, v = at + (y - wide * expm1(-y)), r = exp(v), power = 1;
            weight = (1 + wide * exp(-y)) * exp(log_range(0, r, k) + v - center);
            for (int j = 0; j < 4 && j < order; j++)
                power *= r - about;
            mass += weight;
            sum += weight * power;
        }
    }
    return sum / mass;
}

// The mean of 1 / S^order, S being the estimate
__device__ real inverse_moment(int order, real nu)
{
    real half = 0.5 * order;
    return isinf(nu) ? 1 : nu <= order ? INFINITY : exp(half * log(0.5 * nu) - log_rising(0.5 * nu - half, half));
}

// Those of R / S are made of central moments of R and moments of 1 / S.
__device__ real studentized_range_mean(real k, real nu)
{
    return k > 1 && k < INFINITY ? range_moment(1, 0, k) * inverse_moment(1, nu) : NAN;
}

__device__ real studentized_range_var(real k, real nu)
{
    if (!(k > 1 && k < INFINITY)) return NAN;
    if (nu <= 2) return INFINITY;
    real mean = range_moment(1, 0, k), first = inverse_moment(1, nu), second = inverse_moment(2, nu);
    return second * range_moment(2, mean, k) + mean * mean * (second - first * first);
}

__device__ real studentized_range_skewness(real k, real nu)
{
    if (!(k > 1 && k < INFINITY && nu > 2)) return NAN;
    if (nu <= 3) return INFINITY;
    real mean = range_moment(1, 0, k), square = range_moment(2, mean, k), var = studentized_range_var(k, nu);
    real first = inverse_moment(1, nu), second = inverse_moment(2, nu), third = inverse_moment(3, nu);
    real value = third * range_moment(3, mean, k) + 3 * mean * (third - first * second) * square
               + mean * mean * mean * (third - 3 * first * second + 2 * first * first * first);
    return value / (var * sqrt(var));
}

__device__ real studentized_range_kurtosis(real k, real nu)
{
    if (!(k > 1 && k < INFINITY && nu > 2)) return NAN;
    if (nu <= 4) return INFINITY;
    real mean = range_moment(1, 0, k), square = range_moment(2, mean, k), var = studentized_range_var(k, nu);
    real first = inverse_moment(1, nu), second = inverse_moment(2, nu), third = inverse_moment(3, nu), fourth = inverse_moment(4, nu);
    real value = fourth * range_moment(4, mean, k) + 4 * mean * (fourth - first * third) * range_moment(3, mean, k)
               + 6 * mean * mean * (fourth - 2 * first * third + first * first * second) * square
               + mean * mean * (mean * mean) * (fourth - 4 * first * third + 6 * first * first * second - 3 * first * first * (first * first));
    return value / (var * var) - 3;
}
