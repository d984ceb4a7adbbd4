// Owen's T function and the skew normal distribution function

// exp(h^2 / 2) T(h, a), 0 <= a <= 1, T(h, a) being the integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) / (2 pi) for x from
// 0 to a
// reference: tests/language/test_integrals.py
__device__ real scaled_owens_t(real h, real a)
{
    real width = fmin(panel_width(0, 1 / fabs(h)), (real)0.4), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < a && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, a - left);
        for (int k = 0; k < 8; k++) {
            real x = left + half * (1 + legendre_node(k)), density = exp(-0.5 * h * h * x * x) / (1 + x * x);
            sum += half * legendre_weight(k) * density;
            last = density;
        }
    }
    return sum / (2 * PI);
}

// log(exp(h^2 / 2) (T(h, infinity) - T(h, a))), h >= 0, a >= 0
// reference: tests/language/test_integrals.py
__device__ real log_scaled_owens_rest(real h, real a)
{
    real g = a * h, radius = hypot(g, h), left = 0, sum = 0, last = 1;
    if (radius < 1) {
        if (a < 1) return log(0.25 * scaled_erfc(h / SQRT_2) - scaled_owens_t(h, a));
        real below = 0.25 * scaled_erfc(g / SQRT_2) * erf(h / SQRT_2);
        return log(exp(0.5 * (h - g) * (h + g)) * (scaled_owens_t(g, 1 / a) - below));
    }
    // the integrand has poles at -g + i h and -g - i h
    for (int panel = 0; panel < 40 && last > 0.01 * EPSILON; panel++) {
        real half = 0.5 * fmin(panel_width(g + left, 1), 0.4 * hypot(g + left, h));
        for (int k = 0; k < 8; k++) {
            real w = left + half * (1 + legendre_node(k)), slope = a + w / h;
            real density = exp(-w * (g + 0.5 * w)) / (1 + slope * slope);
            sum += half * legendre_weight(k) * density;
            last = density / sum;
        }
        left += 2 * half;
    }
    return log(sum / (2 * PI * h)) - 0.5 * g * g;
}

// What stands for infinity, so that it may be multiplied by 0 and squared: 8e93 in float64, 7e13 in float32.
// reference: tests/language/test_integrals.py
__device__ real largest_slope()
{
    real root = 1 / EPSILON;
    return EPSILON < 1e-10 ? root * root * (root * root) * (root * root) : root * root;
}

// Owen's T function, any h and a: Owen (1956), Tables for computing bivariate normal probabilities.
// derivative: exp(-0.5 * h * h) * (exp(-0.5 * h * h * a * a) / (2 * PI * (1 + a * a)) * da - erf(h * a / SQRT_2) / (2 * SQRT_2
//     * SQRT_PI) * dh)
// reference: tests/language/test_integrals.py
__device__ real owens_t(real h, real a)
{
    real size = fmin(fabs(h), (real)100), slope = fmin(fabs(a), largest_slope()), scale = exp(-0.5 * h * h);
    if (isnan(h) || isnan(a)) return NAN;
    real value = slope <= 1 ? scaled_owens_t(size, slope)
               : 0.25 * scaled_erfc(size / SQRT_2) - exp(log_scaled_owens_rest(size, slope));
    return (a < 0 ? -scale : scale) * value;
}

// log P(X <= x), X being a skew normal variable of location 0 and scale 1, any x and alpha; log P(X > x) is
// log_skew_ndtr(-x, -alpha). Source: Azzalini (1985), A class of distributions which includes the normal ones.
// reference: tests/language/test_integrals.py
__device__ real log_skew_ndtr(real x, real alpha)
{
    if (isnan(x) || isnan(alpha)) return NAN;
    real h = fabs(x), a = fmin(fabs(alpha), largest_slope()), square = 0.5 * x * x;
    if (isinf(square)) return x < 0 ? -INFINITY : 0;
    // P(X <= x) where alpha >= 0; by symmetry P(X > x) where alpha < 0
    int falls = alpha < 0 ? x > 0 : x < 0;
    if (falls || a > 1) {
        real rest = log_scaled_owens_rest(h, a), tail = rest + LOG_2 - square;
        if (falls) return alpha < 0 ? log1mexp(tail) : tail;
        real above = exp(-square) * (scaled_erfc(h / SQRT_2) - 2 * exp(rest));
        if (alpha < 0) return log(scaled_erfc(h / SQRT_2) - 2 * exp(rest)) - square;
        if (above < 0.5) return log1p(-above);
        real g = a * h, scale = exp(-0.5 * g * g);
        return log((1 - 0.5 * scale * scaled_erfc(g / SQRT_2)) * erf(h / SQRT_2) + 2 * scale * scaled_owens_t(g, 1 / a));
    }
    real scaled = 0.5 * scaled_erfc(h / SQRT_2) + 2 * scaled_owens_t(h, a);
    return alpha < 0 ? log(scaled) - square : log1p(-scaled * exp(-square));
}

// reference: tests/language/test_integrals.py
__device__ real log_skew_ndtr_grad_x(real x, real alpha, real value)
{
    return isinf(0.5 * x * x) ? 0 : exp((LOG_2 - HALF_LOG_2PI) - 0.5 * x * x + log_ndtr(alpha * x) - value);
}

// reference: tests/language/test_integrals.py
__device__ real log_skew_ndtr_grad_alpha(real x, real alpha, real value)
{
    return isinf(0.5 * x * x) ? 0 : -exp(-0.5 * x * x * (1 + alpha * alpha) - value) / (PI * (1 + alpha * alpha));
}
