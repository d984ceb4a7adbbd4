// The Rice distribution function

// The logarithm of the density of a Rice variable of scale 1, x > 0, nu >= 0
// reference: tests/language/test_integrals.py
__device__ real log_rice_density(real x, real nu)
{
    return log(x) - 0.5 * (x - nu) * (x - nu) + log_i0e(nu * x);
}

// Whether P(X <= x), and not P(X > x), is what is computed.
// reference: tests/language/test_integrals.py
__device__ int rice_from_below(real x, real nu)
{
    return x < nu || x * x < nu * nu + 1;
}

// log P(X <= x) where rice_from_below(x, nu), else log P(X > x), by quadrature
// reference: tests/language/test_integrals.py
__device__ real log_rice_tail(real x, real nu)
{
    real away = rice_from_below(x, nu) ? -1 : 1, gap = away * (x - nu), length = away < 0 ? x : INFINITY;
    real width = fmin(panel_width(fmax(gap, (real)0), 1), length), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < length && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, length - left);
        for (int k = 0; k < 8; k++) {
            real d = left + half * (1 + legendre_node(k)), at = x + away * d;
            real density = (at / x) * exp(log_i0e(nu * at) - d * (gap + 0.5 * d));
            sum += (half / width) * legendre_weight(k) * density;
            last = density / sum;
        }
    }
    return log(x) + log(width) + log(sum) - 0.5 * gap * gap;  // x width may underflow
}

// reference: tests/language/test_integrals.py
__device__ real log_rice_tail_grad_x(real x, real nu, real value)
{
    return (rice_from_below(x, nu) ? 1 : -1) * exp(log_rice_density(x, nu) - value);
}

// reference: tests/language/test_integrals.py
__device__ real log_rice_tail_grad_nu(real x, real nu, real value)
{
    return (rice_from_below(x, nu) ? -1 : 1) * bessel_ratio(nu * x) * exp(log_rice_density(x, nu) - value);
}

// log P(X <= x), X being a Rice variable of scale 1, x >= 0, nu >= 0: log(1 - Q1(nu, x)) with Marcum's Q function
// reference: tests/language/test_integrals.py
__device__ real log_rice_p(real x, real nu)
{
    if (!(x >= 0 && nu >= 0)) return NAN;
    if (isinf(x)) return 0;
    if (x == 0 || isinf(nu)) return -INFINITY;
    real tail = log_rice_tail(x, nu);
    return rice_from_below(x, nu) ? tail : log1mexp(tail);
}

// log P(X > x), log Q1(nu, x)
// reference: tests/language/test_integrals.py
__device__ real log_rice_q(real x, real nu)
{
    if (!(x >= 0 && nu >= 0)) return NAN;
    if (isinf(x)) return -INFINITY;
    if (x == 0 || isinf(nu)) return 0;
    real tail = log_rice_tail(x, nu);
    return rice_from_below(x, nu) ? log1mexp(tail) : tail;
}
