// For families with a power

// log(1 + xi d / scale) / xi, and d / scale where xi = 0, scale > 0, scale + xi d >= 0: the inverse of the Box-Cox
// transformation is its exponential. Error 5. By log(1 + u) = 2 atanh(u / (2 + u)), in which nothing cancels where xi is small:
// Abramowitz & Stegun (1964), 4.1.27.
// reference: log1p_over(d, scale, xi) = log1p(xi * d / scale) / xi, d in (0.1, 1.5), scale in (1, 5), xi in (-0.6, 6)
__device__ real log1p_over(real d, real scale, real xi)
{
    real z = d / scale, u = xi * z, r = u / (2 + u), s = r * r;
    if (s < 0.1111) return z / (1 + 0.5 * u) * (1 + s * atanh_remainder(s));
    real e = EPSILON, e2 = e * e, e4 = e2 * e2, tiny = EPSILON < 1e-10 ? e4 * e4 : e2 * e;  // for what overflows
    int far = !(fabs(u) < INFINITY);
    real ratio = (far ? fabs(d) * tiny * (fabs(xi) * tiny) : fma(xi, d, scale)) / scale;  // near -1 the sum is rounded once
    real value = far ? log(ratio) + (EPSILON < 1e-10 ? 16 * 52 : 6 * 23) * LOG_2 : u < 0 ? log(ratio) : log1p(u);
    return xi == 0 ? z : value / xi;
}

// reference: tests/rewriting/test_derivative_rules.py
__device__ real log1p_over_grad_d(real d, real scale, real xi) { return 1 / fma(xi, d, scale); }

// reference: tests/rewriting/test_derivative_rules.py
__device__ real log1p_over_grad_scale(real d, real scale, real xi)
{
    return isinf(d) ? 0 : -(d / scale / fma(xi, d, scale));
}

// The same with scale = 1
// reference: log1p_quotient(a, x) = log1p(a * x) / a, a in (-0.4, 0.9), x in (0.1, 2.4)
__device__ real log1p_quotient(real a, real x)
{
    return log1p_over(x, 1, a);
}

// (exp(a x) - 1) / a, and x where a = 0: the Box-Cox transformation of exp(x). Error 3 + |a x|.
// reference: expm1_quotient(a, x) = expm1(a * x) / a, a in (-1, 1.2), x in (-2, 2.5)
__device__ real expm1_quotient(real a, real x)
{
    real u = a * x, series = 1;
    if (!(fabs(u) < 0.5)) return expm1(u) / a;
    for (int k = 16; k > 1; k--)
        series = 1 + u / k * series;
    return x * series;
}

// log((exp(a x) - 1) / a), x > 0, where the exponential may overflow, or be small beside 1 while a is -1. Error 4 + |a x|.
// reference: log_expm1_quotient(a, x) = log(expm1(a * x) / a), a in (0.1, 5), x in (0.2, 4)
__device__ real log_expm1_quotient(real a, real x)
{
    real u = a * x;
    return u > 50 ? u - log(a) : u < -1 ? log1mexp(u) - log(-a) : log(expm1_quotient(a, x));
}

// scale (exp(a x) - 1) / a, and scale x where a = 0, scale > 0, where the exponential may overflow: the inverse of log1p_over.
// Error 3 + |a x|.
// reference: expm1_over(x, scale, a) = scale * expm1(a * x) / a, x in (0.1, 5), scale in (0.2, 4), a in (-2, 2)
__device__ real expm1_over(real x, real scale, real a)
{
    real u = a * x;
    if (u > 50) return (a < 0 ? -1 : 1) * exp(u + (log(scale) - log(fabs(a))));
    return scale * expm1_quotient(a, x);
}

// x - sin(x), x >= 0, without cancellation where x is small. Error 5.
// reference: minus_sine(x) = x - sin(x), x in (0.1, 6)
__device__ real minus_sine(real x)
{
    real s = x * x, series = 1;
    if (!(x < 2)) return x - sin(x);
    for (int k = 14; k > 1; k--)
        series = 1 - s / (2 * k * (2 * k + 1)) * series;
    return x * s / 6 * series;
}

// The x at which log Phi(x) = log_p, log_p <= 0, also where exp(log_p) underflows. Scaled error 4.
// derivative: 1 / inverse_mills(ndtri_exp(log_p)) * dlog_p
// reference: ndtri_exp(log_p) = sqrt(2) * erfinv(2 * exp(log_p) - 1), log_p in (-4, -0.05)
__device__ real ndtri_exp(real log_p)
{
    if (log_p > -LOG_2) return -ndtri(-expm1(log_p));
    if (log_p > (EPSILON < 1e-10 ? -700 : -80)) return ndtri(exp(log_p));
    real s = -2 * log_p - LOG_2PI, x = -sqrt(s - log(s));
    for (int k = 0; k < 4; k++)
        x -= (log_ndtr(x) - log_p) / inverse_mills(x);
    return x;
}
