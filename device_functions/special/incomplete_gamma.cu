// The incomplete gamma function

//
// P(a, x) = 1 - Q(a, x) is the distribution function of a gamma variable of shape a, Q(a, x) is that of a Poisson variable of
// mean x at a - 1. Computed is the logarithm of one of the two, from which the other follows without loss of digits.

// log Gamma(1 + x), x >= 0, also relative to x where x is small. Error 4.
// derivative: digamma(1 + x) * dx
// reference: log_gamma_1p(x) = loggamma(1 + x), x in (0.1, 9)
__device__ real log_gamma_1p(real x)
{
    return x <= 1 ? log_gamma_near_two(x) - log1p(x) : log_gamma(1 + x);
}

// log(x^a exp(-x) / Gamma(1 + a)), a > 0, x > 0
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_power(real a, real x)
{
    real power = a * log_ratio_excess(x / a, (x - a) / a);
    return fmax(power, x > a ? -x : -INFINITY) - (0.5 * log(a) + HALF_LOG_2PI + stirling_error(a));  // x / a may overflow
}

// sqrt(2 (u - log(1 + u))) with the sign of u, |u / (2 + u)| <= 1/3
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_eta(real u)
{
    real r = u / (2 + u);
    return r * sqrt(2 * (2 + u - 2 * r * atanh_remainder(r * r)));
}

// Below it P is computed, from it on Q, which is not so small there that the difference would lose digits.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_middle(real a)
{
    return a < 1 ? 1.5 : a > 20 ? a : a + sqrt(a);
}

// The logarithm of P(a, a (1 + u)) where u < 0, else of Q, where a >= 20 and |u| < 0.33 (2 + u).
// Source: Temme (1979), The asymptotic expansion of the incomplete gamma functions; with the recurrence for the coefficients of
// Gil, Segura & Temme (2012), Efficient and accurate algorithms for the computation and inversion of the incomplete gamma
// function ratios, eq. 2.21. In it, eta / (lambda - 1) is expanded in powers of eta.
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_tail_near(real a, real u)
{
    real eta = gamma_eta(u), s = eta * eta, v = 1 / a;
    real odd = -1.392388722418162066e-13, even = 3.371763262400985379e-13;
    real sum_odd = odd, sum_even = even;
    odd = 1.100439203195613477e-13 + 21 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -5.027669280114175589e-12 + 20 * v * even;  sum_even = even + s * sum_even;
    odd = 2.436194802066741624e-11 + 19 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -5.830772132550425067e-11 + 18 * v * even;  sum_even = even + s * sum_even;
    odd = -2.551419399494624977e-11 + 17 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 9.147699582236790234e-10 + 16 * v * even;  sum_even = even + s * sum_even;
    odd = -4.382036018453353187e-9 + 15 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 1.026180978424030804e-8 + 14 * v * even;  sum_even = even + s * sum_even;
    odd = 6.70785354340149858e-9 + 13 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -1.76659527368260793e-7 + 12 * v * even;  sum_even = even + s * sum_even;
    odd = 8.296711340953086005e-7 + 11 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.000001854062210715159961 + 10 * v * even;  sum_even = even + s * sum_even;
    odd = -0.000002185448510679992161 + 9 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 0.00003919263178522437782 + 8 * v * even;  sum_even = even + s * sum_even;
    odd = -0.0001787551440329218107 + 7 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 0.0003527336860670194004 + 6 * v * even;  sum_even = even + s * sum_even;
    odd = 0.001157407407407407407 + 5 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.01481481481481481481 + 4 * v * even;  sum_even = even + s * sum_even;
    odd = 0.08333333333333333333 + 3 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.3333333333333333333 + 2 * v * even;  sum_even = even + s * sum_even;
    real series = (sum_even + eta * sum_odd) / ((1 + v * odd) * sqrt(2 * PI * a));
    real sign = u < 0 ? -1 : 1;
    return log(0.5 * scaled_erfc(sign * eta * sqrt(0.5 * a)) + sign * series) - 0.5 * a * s;
}

// The logarithm of the smaller one of P and Q where a >= 20 and x lies near a
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_tail_uniform(real a, real x)
{
    return log_gamma_tail_near(a, (x - a) / a);
}

// log P(a, x) by the power series in -x, x < 1.5, also relative to itself where P is near 1: Abramowitz & Stegun (1964),
// 6.5.29.
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_p_near_zero(real a, real x)
{
    real power = -x, sum = 0;
    int turns = EPSILON < 1e-10 ? 24 : 14;
    for (int k = 1; k < (turns < 24 ? turns : 24); k++) {
        sum += power / (a + k);
        power *= -x / (k + 1);
    }
    return a * log(x) - log_gamma_1p(a) + log1p(a * sum);
}

// P(a, x) / (x^a exp(-x) / Gamma(1 + a)) by the series of positive terms, x < gamma_middle(a), and x < a / 2 where a > 20:
// Abramowitz & Stegun (1964), 6.5.29. As a ratio, so that no term waits for a division; the number of terms is known from a.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_series(real a, real x)
{
    real v = 1 / (a + 1), share = x * v, power = 1, sum = 1, scale = 1;
    int turns = (int)(EPSILON < 1e-10 ? 15 + 10 * sqrt(a) : 9 + 6.6 * sqrt(a));
    for (int k = 0; k < (turns < 60 ? turns : 60); k++) {
        real growth = 1 + k * v;
        power *= share;
        sum = sum * growth + power;
        scale *= growth;
    }
    return sum / scale;
}

// Q(a, x) / (x^a exp(-x) / Gamma(1 + a)) by a continued fraction, x >= gamma_middle(a), and x > 2 a where a > 20: Abramowitz
// & Stegun (1964), 6.5.31, in its even part. It is evaluated from its beginning, by the recurrence of numerators and
// denominators, ibid. 3.10.1; how far is known from a.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_fraction(real a, real x)
{
    real v = 1 / x, b = (x - a + 1) * v, above_before = 0, above = 1, below_before = 1, below = b;
    real shape = fmin(a, (real)20), inverse = 1 / (a < 1 ? 1.5 : a + sqrt(a));
    int turns = (int)(EPSILON < 1e-10 ? 5 + 105 * inverse + 0.6 * shape : 4 + 28 * inverse + 0.4 * shape);
    for (int k = 1; k < (turns < 80 ? turns : 80); k++) {
        real weight = k * (a - k) * (v * v), factor = b + 2 * k * v;
        real next_above = factor * above + weight * above_before, next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return a * v * (above / below);
}

// log P(a, x) where x < gamma_middle(a), else log Q(a, x), a > 0, x > 0
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_tail(real a, real x)
{
    int near_zero = a < 1 && x < 1.5, near_middle = a > 20 && fabs(x - a) < 0.33 * (x + a);
    return unlikely(near_zero) ? log_gamma_p_near_zero(a, x) : unlikely(near_middle) ? log_gamma_tail_uniform(a, x)
         : log_gamma_power(a, x) + log(x < gamma_middle(a) ? gamma_series(a, x) : gamma_fraction(a, x));
}

// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_tail_grad_x(real a, real x, real value)
{
    // Of a constant a, Intel's compiler would take the wrong one of a and -a where neighbours in a vector need the other.
    real slope = a / x * exp(log_gamma_power(a, x) - value);
    return x < gamma_middle(a) ? slope : -slope;
}

// P(a, x), log P(a, x), Q(a, x) or log Q(a, x), which is `value` where the arguments are neither at an end nor beyond it. A
// choice at the end: behind an early return, the compilers of CPUs let each thread of a vector take its own way.
// reference: tests/language/test_incomplete_functions.py
__device__ real within_gamma(real a, real x, real value, real at_zero, real at_infinity)
{
    return !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value;
}

// log P(a, x), P(a, x) being the regularised incomplete gamma function, a >= 0, x >= 0
// reference: log_gamma_p(a, x) = log_gamma_p(a, x), a in (0.3, 40), x in (0.2, 50)
__device__ real log_gamma_p(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? tail : log1mexp(tail), -INFINITY, 0);
}

// log Q(a, x), Q(a, x) = 1 - P(a, x)
// reference: log_gamma_q(a, x) = log_gamma_q(a, x), a in (0.3, 40), x in (0.2, 50)
__device__ real log_gamma_q(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? log1mexp(tail) : tail, 0, -INFINITY);
}

// log_gamma_tail(a, y), y > 0, log_y being log(y): y may underflow. Near 0 P(a, y) is y^a / Gamma(1 + a).
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_tail_of_power(real a, real y, real log_y)
{
    real correction = y < EPSILON ? a * (log_y + (EPSILON < 1e-10 ? 52 : 23) * LOG_2) : 0;
    return log_gamma_tail(a, y < EPSILON ? EPSILON : y) + correction;
}

// log P(a, y), likewise, y >= 0
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_p_of_power(real a, real y, real log_y)
{
    real tail = log_gamma_tail_of_power(a, y, log_y);
    return within_gamma(a, y < EPSILON ? EPSILON : y, y < gamma_middle(a) ? tail : log1mexp(tail), -INFINITY, 0);
}

// log Q(a, y), likewise
// reference: tests/language/test_incomplete_functions.py
__device__ real log_gamma_q_of_power(real a, real y, real log_y)
{
    real tail = log_gamma_tail_of_power(a, y, log_y);
    return within_gamma(a, y < EPSILON ? EPSILON : y, y < gamma_middle(a) ? log1mexp(tail) : tail, 0, -INFINITY);
}

// P(a, x)
// reference: gamma_p(a, x) = exp(log_gamma_p(a, x)), a in (0.3, 40), x in (0.2, 50)
__device__ real gamma_p(real a, real x)
{
    real tail = exp(log_gamma_tail(a, x));
    return within_gamma(a, x, x < gamma_middle(a) ? tail : 1 - tail, 0, 1);
}

// Q(a, x)
// reference: gamma_q(a, x) = exp(log_gamma_q(a, x)), a in (0.3, 40), x in (0.2, 50)
__device__ real gamma_q(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? -expm1(tail) : exp(tail), 1, 0);
}

// The y at which F(t - y) is 0, from `newton`, F / F', and from F'' / F' and its derivative, all of them at t: three terms of
// the reversed Taylor series, Abramowitz & Stegun (1964), 3.6.25, or Newton's step where that is far away.
// reference: tests/language/test_incomplete_functions.py
__device__ real inversion_step(real newton, real curvature, real curvature_slope)
{
    real second = 0.5 * curvature, third = 0.16666666666666667 * (curvature * curvature + curvature_slope);
    int far = fabs(newton) * (1 + fabs(curvature)) > 0.7;
    return newton * (1 + (far ? 0 : newton * (second + newton * (2 * second * second - third))));
}

// 0, which has the derivative of x. A search for a root is not differentiated; one step from the root has the first three
// derivatives of the root itself, and nobody computes it where no derivative is wanted.
// derivative: dx
// reference: tests/rewriting/test_derivative_rules.py
__device__ real only_derivative(real x)
{
    return 0;
}

// A step towards the quantile of a gamma variable of shape a, from the logarithms of its probabilities p and q = 1 - p. Solved
// is log P = log p or log Q = log q, whichever is computed at x, as a function of log x, in which it is concave.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile_step(real a, real log_p, real log_q, real x)
{
    int below = x < gamma_middle(a);
    real tail = log_gamma_tail(a, x), sign = below ? 1 : -1, slope = sign * a * exp(log_gamma_power(a, x) - tail);
    real curvature = a - x - slope;
    real step = inversion_step((tail - (below ? log_p : log_q)) / slope, curvature, -x - slope * curvature);
    return x > 0 && x < INFINITY ? x * exp(-fmin(fmax(step, (real)-2), (real)2)) : x;
}

// log(p), where q = 1 - p is known, too, and may be the more accurate one
// reference: tests/language/test_incomplete_functions.py
__device__ real log_probability(real p, real q)
{
    return p < q ? log(p) : log1p(-q);
}

// Where gamma_quantile starts. Sources: DiDonato & Morris (1986), Computation of the incomplete gamma function ratios and their
// inverse, for both tails; Wilson & Hilferty (1931), The distribution of chi-square, between them.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile_start(real a, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p);
    real low = exp((log_p + log_gamma_1p(a)) / a), high = -log_q - log_gamma(a), rough = high + (a - 1) * log(high);
    real x = low * (1 + low / (a + 1) * (1 + (3 * a + 5) * low / (2 * (a + 1) * (a + 2))));
    if (a < 0.3) {
        if (low > 0.2) x = p > q && high > 2 ? rough : low;
    } else {
        real w = 1 - 1 / (9 * a) + (p < q ? 1 : -1) * ndtri(fmin(p, q)) / (3 * sqrt(a));
        if (low > 0.2 * (1 + a)) x = a * w * w * w;
    }
    return high > 6 + 2 * a && rough > 2 ? high + (a - 1) * log(rough) + log1p((a - 1) / rough) : x;
}

// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile_steps(real a, real log_p, real log_q, real x, int turns)
{
    for (int k = 0; k < (turns < 10 ? turns : 10); k++)
        x = gamma_quantile_step(a, log_p, log_q, x);
    return x;
}

// gamma_quantile, without derivatives. From a = 0.3 on two steps lead to all digits; that their number does not depend on p lets
// neighbouring threads take them together.
// derivative: 0
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile_search(real a, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p);
    real x = gamma_quantile_steps(a, log_p, log_q, gamma_quantile_start(a, p, q), 2);
    return likely(a >= 0.3) ? x : gamma_quantile_steps(a, log_p, log_q, x, 10);
}

// The x at which P(a, x) = p and Q(a, x) = q, a > 0, p in [0, 1], q = 1 - p
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile(real a, real p, real q)
{
    real x = gamma_quantile_search(a, p, q);
    real value = x + only_derivative(gamma_quantile_step(a, log_probability(p, q), log_probability(q, p), x));
    return !(a > 0 && p >= 0 && q >= 0) ? NAN : p == 0 ? 0 : q == 0 ? INFINITY : value;
}

// scale x^power, x being gamma_quantile(a, p, q), also where x underflows: P(a, x) is x^a / Gamma(1 + a) near 0.
// reference: tests/language/test_incomplete_functions.py
__device__ real gamma_quantile_power(real a, real p, real q, real power, real scale)
{
    real x = gamma_quantile(a, p, q);
    if (a < 1 && x < EPSILON) {  // where p > x: with x in them, these are not computed ahead for all others
        real shape = fmin(a, 1 - x), log_size = log_gamma_near_two(shape) - log1p(shape);
        return scaled_exp(scale, (log_probability(fmax(p, x), q) + log_size) * (power / shape));
    }
    return power == 1 ? scale * x : power == -1 ? scale / x : power == 0.5 ? scale * sqrt(x) : scaled_exp(scale, power * log(x));
}
