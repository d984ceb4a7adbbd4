// The incomplete beta function

//
// I_x(a, b) is the distribution function of a beta variable, and 1 - I_x(a, b) = I_y(b, a) where y = 1 - x: the caller passes
// both x and y, as near 0 neither is known from the other. Computed is the logarithm of one of the two.

// log_rising where n <= 0.35 (1 + x), also relative to n where n is small: Stirling's formula for both, in which the difference of the
// remainders is a Gauss-Legendre integral where it would lose digits. A shape below 3 goes up by the recurrence of Gamma.
// reference: tests/language/test_incomplete_functions.py
__device__ real log_rising_little(real x, real n)
{
    real z = x < 3 ? x + 3 : x, u = n / z, excess = log_excess(0, u);
    real shift = n * ((x + 1) * (x + 2) + (x + n) * (2 * x + 3 + n)) / (x * (x + 1) * (x + 2));
    real slope = stirling_series_derivative(z + 0.2113248654051871177 * n) + stirling_series_derivative(z + 0.7886751345948128823 * n);
    real rest = n < 0.005 ? 0.5 * n * slope : stirling_series(z + n) - stirling_series(z);
    return (n * log(z + n) + (z - 0.5) * excess - 0.5 * u + rest) - (x < 3 ? log1p(shift) : 0);
}

// log(Gamma(x + n) / Gamma(x)), x > 0, n >= 0, also relative to n where n is small
// reference: log_rising(x, n) = loggamma(x + n) - loggamma(x), x in (0.2, 9), n in (0.1, 9)
__device__ real log_rising(real x, real n)
{
    return likely(n > 0.35 * (1 + x)) ? log_gamma(x + n) - log_gamma(x) : log_rising_little(x, n);
}

// a y - b x, from the smaller one of x and y, the other being rounded to 1 - x, and without the rounding error of a + b
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_gap(real a, real b, real x, real y)
{
    real n = a + b, rest = fmin(a, b) - (n - fmax(a, b));
    return x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest;
}

// log(x^a y^b / B(a, b)), y = 1 - x, from the deviances of x and y: see bd0.
// reference: tests/language/test_incomplete_functions.py
__device__ real log_beta_power(real a, real b, real x, real y)
{
    real n = a + b, gap = beta_gap(a, b, x, y);
    return a * log_ratio_excess(x * (n / a), -gap / a) + b * log_ratio_excess(y * (n / b), gap / b)
         + (0.5 * (log(a) + log(b / n)) - HALF_LOG_2PI - (stirling_error(a) + (stirling_error(b) - stirling_error(n))));
}

// Whether there are x at which the continued fraction converges slowly, or gives a probability near 1.
// reference: tests/language/test_incomplete_functions.py
__device__ int beta_needs_series(real a, real b)
{
    real smaller = fmin(a, b);
    return smaller < 0.5 || (smaller < 1.5 && fmax(a, b) > 5);
}

// Whether I_x(a, b), and not I_y(b, a), is what is computed: the one whose power series converges quickly, or the smaller one.
// reference: tests/language/test_incomplete_functions.py
__device__ int beta_from_below(real a, real b, real x, real y)
{
    int series = beta_needs_series(a, b), below = series && x <= 0.5 && b * x < 1.5, above = series && y <= 0.5 && a * y < 1.5;
    return below || (!above && b * x <= a * y);
}

// log(a B(a, b)), to which log I_x(a, b) is a log(x) in the limit at 0; also relative to a where a is small
// reference: tests/language/test_incomplete_functions.py
__device__ real log_beta_scale(real a, real b)
{
    return log_gamma_1p(a) - log_rising(b, a);
}

// I_x(a, b) / (x^a / (a B(a, b))) - 1 by the power series in x, x <= 1/2, b x < 1.5. Source: DiDonato & Morris (1992),
// Algorithm 708, eq. 7.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_series(real a, real b, real x)
{
    real power = 1, sum = 0, rate = -log(x), shape = fmin(b, (real)3);
    int turns = (int)(EPSILON < 1e-10 ? 8 + 6 * shape + 40 / rate : 6 + 3 * shape + 18 / rate);
    for (int k = 1; k < (turns < 100 ? turns : 100); k++) {
        power *= (k - b) * x * ((real)1 / k);
        sum += power / (a + k);
    }
    return a * sum;
}

// I_x(a, b) / (x^a y^b / B(a, b)) by quadrature, b x <= a y, for large a and b and x within a few standard deviations of a / (a + b), where the
// continued fraction converges slowly.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_integral(real a, real b, real x, real y)
{
    real slope = beta_gap(a, b, x, y) / (x * y), width = panel_width(slope, sqrt(x * y / (a + b))), sum = 0, last = 1;
    for (int panel = 0; panel < 16 && last > 0.01 * EPSILON; panel++) {
        for (int k = 0; k < 8; k++) {
            real d = width * (panel + 0.5 * (1 + legendre_node(k)));
            // log_excess needs no logarithm where its second argument is small.
            real density = exp(a * log_excess(0, -d / x) + b * log_excess(0, d / y) - slope * d) / ((x - d) * (y + d));
            sum += legendre_weight(k) * density;
            last = density * (x * y);
        }
    }
    return 0.5 * width * sum;
}

// How far beta_fraction goes in either direction, known from the shapes: by the rate at which it converges in the end, Lorentzen &
// Waadeland (1992), Continued Fractions with Applications, ch. VI, at the largest x, but large shapes keep it from that for a
// while, and where x is near 1, the smaller one leads to the end. In float32 its terms overflow after about 95 turns of large shapes.
// reference: tests/language/test_incomplete_functions.py
__device__ int beta_fraction_turns(real a, real b)
{
    real smaller = fmin(a, b), y = smaller / (a + b), rate = 4 * sqrt(y) * (1 + y * (0.3333333333333333 + 0.2 * y));  // 4 atanh(sqrt(y))
    real size = sqrt(fmin(smaller, (real)1000)), most = 10 + fmin((real)65, 90 / smaller) + (EPSILON < 1e-10 ? 3.1 : 1.8) * size;
    return (int)fmin(EPSILON < 1e-10 ? 3 + 38 / rate + 1.6 * size : 3 + 18 / rate + 1.2 * size, most);
}

// I_x(a, b) / (x^a y^b / B(a, b)) by a continued fraction, b x <= a y. Source: DiDonato & Morris (1992), eq. 9; evaluated as in
// gamma_fraction.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_fraction(real a, real b, real x, real y, int turns)
{
    real gap = beta_gap(a, b, x, y), scale = 1 / (1 + gap + turns);  // so that nothing overflows
    real inverse = 1 / (a + 1), above_before = 0, above = 1, below_before = 1, below = a * (gap + 1) * inverse * scale;
    for (int k = 1; k < (turns < 180 ? turns : 180); k++) {
        real share = k * (b - k) * x * inverse, weight = (a + k - 1) * inverse * ((a + b + k - 1) * x * share) * (scale * scale);
        inverse = 1 / (a + 2 * k + 1);
        real factor = (k + share + (a + k) * (gap + 1 + k * (1 + y)) * inverse) * scale;
        real next_above = factor * above + weight * above_before, next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return scale * (above / below);
}

// log I_x(a, b) where beta_from_below(a, b, x, y), else log I_y(b, a), a > 0, b > 0, 0 < x < 1
// reference: tests/language/test_incomplete_functions.py
__device__ real log_beta_tail(real a, real b, real x, real y)
{
    int below = beta_from_below(a, b, x, y);
    real s = below ? a : b, t = below ? b : a, u = below ? x : y, v = below ? y : x;
    int series = beta_needs_series(a, b) && u <= 0.5 && t * u < 1.5;
    int central = a > 1000 && b > 1000 && beta_gap(s, t, u, v) < 3 * sqrt(x * y * (a + b));
    return unlikely(series) ? s * log(u) - (below ? log_beta_scale(a, b) : log_beta_scale(b, a)) + log1p(beta_series(s, t, series ? u : 0))
         : log_beta_power(a, b, x, y)
         + log(unlikely(central) ? beta_integral(s, t, u, v) : beta_fraction(s, t, u, v, beta_fraction_turns(a, b)));
}

// The derivative in x where y = 1 - x, which takes that in y with it.
// reference: tests/language/test_incomplete_functions.py
__device__ real log_beta_tail_grad_x(real a, real b, real x, real y, real value)
{
    return (beta_from_below(a, b, x, y) ? 1 : -1) * exp(log_beta_power(a, b, x, y) - value) / (x * y);
}

// reference: tests/language/test_incomplete_functions.py
__device__ real log_beta_tail_grad_y(real a, real b, real x, real y, real value)
{
    return 0;
}

// I_x(a, b) or its logarithm, which is `value` where the arguments are neither at an end nor beyond it: see within_gamma.
// reference: tests/language/test_incomplete_functions.py
__device__ real within_beta(real a, real b, real x, real y, real value, real at_zero, real at_one)
{
    return !(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN
         : y == 0 || a == 0 || isinf(b) ? at_one : x == 0 || b == 0 || isinf(a) ? at_zero : value;
}

// log I_x(a, b), I_x(a, b) being the regularised incomplete beta function, a >= 0, b >= 0, x in [0, 1], y = 1 - x. The
// logarithm of 1 - I_x(a, b) is log_beta_p(b, a, y, x).
// reference: log_beta_p(a, b, c, 1 - c) = log_beta_p(a, b, c), a in (0.3, 20), b in (0.3, 20), c in (0.1, 0.9)
__device__ real log_beta_p(real a, real b, real x, real y)
{
    real tail = log_beta_tail(a, b, x, y);
    return within_beta(a, b, x, y, beta_from_below(a, b, x, y) ? tail : log1mexp(tail), -INFINITY, 0);
}

// I_x(a, b)
// reference: beta_p(a, b, c, 1 - c) = exp(log_beta_p(a, b, c)), a in (0.3, 20), b in (0.3, 20), c in (0.1, 0.9)
__device__ real beta_p(real a, real b, real x, real y)
{
    real tail = log_beta_tail(a, b, x, y);
    return within_beta(a, b, x, y, beta_from_below(a, b, x, y) ? exp(tail) : -expm1(tail), 0, 1);
}

// log I_x(a, b) by the logit of x, a > 0, b > 0: x or y may underflow, but I_x or I_y follows a power law there.
// reference: log_beta_p_logit(a, b, logit) = log_beta_p(a, b, 1 / (1 + exp(-logit))), a in (0.3, 20), b in (0.3, 20), logit in
//     (-3, 3)
__device__ real log_beta_p_logit(real a, real b, real logit)
{
    if (logit < -80) return a * logit - log_beta_scale(a, b);
    if (logit > 80) return log1mexp(-b * logit - log_beta_scale(b, a));
    return log_beta_p(a, b, expit(logit), expit(-logit));
}

// A step towards the logit of the quantile of a beta variable, from the logarithms of its probabilities p and q = 1 - p. The
// logarithm of either tail is a concave function of the logit.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_quantile_step(real a, real b, real log_p, real log_q, real logit)
{
    real x = expit(logit), y = expit(-logit);
    int below = beta_from_below(a, b, x, y);
    real power = log_beta_power(a, b, x, y), tail = log_beta_tail(a, b, x, y);  // in this order compilers compute the power once
    real slope = (below ? 1 : -1) * exp(power - tail), curvature = a * y - b * x - slope;
    real newton = (tail - (below ? log_p : log_q)) / slope;
    real step = inversion_step(newton, curvature, -(a + b) * (x * y) - slope * curvature);
    int far = fabs(logit) > (EPSILON < 1e-10 ? 700 : 80);  // x or y may underflow, but follows a power law
    return unlikely(far) ? logit < 0 ? (log_p + log_beta_scale(a, b)) / a : -(log_q + log_beta_scale(b, a)) / b
         : logit - fmin(fmax(step, (real)-8), (real)8);
}

// Where beta_quantile_logit starts. Sources: the power laws at 0 and 1, to first order, where they hold; else Abramowitz & Stegun
// (1964), 26.5.22; Wise (1950), The incomplete beta function as a contour integral and a quickly converging series for its
// inverse, where one shape is much larger than the other; or where one is below 1, both power laws as if they met.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_quantile_start(real a, real b, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p), n = a + b, smaller = fmin(a, b), larger = fmax(a, b);
    real low = (log_p + log_beta_scale(a, b)) / a, high = (log_q + log_beta_scale(b, a)) / b, x = exp(low), y = exp(high), logit;
    if (larger > 1 && larger > (smaller < 1.5 ? 1.5 : 2.5) * smaller && smaller < 1000) {
        int low_share = a < b;
        real share = gamma_quantile_start(smaller, low_share ? p : q, low_share ? q : p) / (larger + 0.5 * (smaller - 1));
        logit = (low_share ? 1 : -1) * log(expm1(share));
    } else if (smaller > 1) {
        real z = (p < q ? 1 : -1) * ndtri(fmin(p, q)), s = 1 / (2 * a - 1), t = 1 / (2 * b - 1);
        real l = (z * z - 3) / 6, h = 2 / (s + t);
        logit = log(a / b) + 2 * (z * sqrt(l + h) / h + (t - s) * (l + 0.83333333333333333 - 2 / (3 * h)));
    } else {
        real at_zero = exp(a * log(a / n)) / a, at_one = exp(b * log(b / n)) / b, sum = at_zero + at_one;
        real log_share = p * sum < at_zero ? (log(a * sum) + log_p) / a : (log(b * sum) + log_q) / b;
        logit = (p * sum < at_zero ? 1 : -1) * (log_share - log1mexp(log_share));
    }
    if (x * (fabs(b - 1) + 1) < 0.1 * (a + 1) && x < y) logit = low + x * ((b - 1) / (a + 1) + 1);
    if (y * (fabs(a - 1) + 1) < 0.1 * (b + 1) && y < x) logit = -(high + y * ((a - 1) / (b + 1) + 1));
    return logit;
}

// reference: tests/language/test_incomplete_functions.py
__device__ real beta_quantile_steps(real a, real b, real log_p, real log_q, real logit, int turns)
{
    for (int k = 0; k < (turns < 7 ? turns : 7); k++)
        logit = beta_quantile_step(a, b, log_p, log_q, logit);
    return logit;
}

// beta_quantile_logit, without derivatives. How many steps lead to all digits is known from the shapes: see gamma_quantile_search.
// derivative: 0
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_quantile_search(real a, real b, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p);
    real logit = beta_quantile_steps(a, b, log_p, log_q, beta_quantile_start(a, b, p, q), 2);
    return likely(fmin(a, b) >= 0.4) ? logit : beta_quantile_steps(a, b, log_p, log_q, logit, 6);
}

// The logit of the x at which I_x(a, b) = p, a > 0, b > 0, p in [0, 1], q = 1 - p: log(x / (1 - x)) keeps the digits of x
// near 0 and near 1.
// reference: tests/language/test_incomplete_functions.py
__device__ real beta_quantile_logit(real a, real b, real p, real q)
{
    real logit = beta_quantile_search(a, b, p, q);
    real value = logit + only_derivative(beta_quantile_step(a, b, log_probability(p, q), log_probability(q, p), logit));
    return !(a > 0 && b > 0 && p >= 0 && q >= 0) ? NAN : p == 0 ? -INFINITY : q == 0 ? INFINITY : value;
}
