// Angles, and the von Mises distribution function

// What PI is too small by
// reference: tests/rewriting/test_derivative_rules.py
__device__ real rest_of_pi()
{
    return EPSILON < 1e-12 ? 1.2246467991473532e-16 : -8.742278e-8;
}

// x - (mu - pi), how far x lies above the cut of a circle opposite to mu, without the rounding errors of the difference and of PI.
// Error 2. Source: Knuth (1998), The Art of Computer Programming, vol. 2, 4.2.2.
// reference: above_cut(x, mu) = x - mu + pi, x in (-3, 3.5), mu in (-2, 2.5)
__device__ real above_cut(real x, real mu)
{
    real z = x - mu, shift = z - x, rest = (x - (z - shift)) - (mu + shift);
    return (PI + z) + (rest + rest_of_pi());
}

// The logarithm of the density of a von Mises variable around 0, x in [-pi, pi], kappa >= 0
// reference: tests/language/test_integrals.py
__device__ real log_von_mises_density(real x, real kappa)
{
    real s = sin(0.5 * x);
    return -2 * kappa * s * s - log_i0e(kappa) - LOG_2PI;
}

// log P(X <= x + rest), x <= 0, rest being lost in x, by quadrature
// reference: tests/language/test_integrals.py
__device__ real log_von_mises_tail(real x, real rest, real kappa)
{
    real length = (PI + x) + (rest + rest_of_pi());
    real width = panel_width(-kappa * sin(x), 1 / sqrt(fmax(kappa, (real)1))), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < length && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, length - left);
        for (int k = 0; k < 8; k++) {
            real d = left + half * (1 + legendre_node(k)), density = exp(2 * kappa * sin(x - 0.5 * d) * sin(0.5 * d));
            sum += half * legendre_weight(k) * density;
            last = density;
        }
    }
    return log_von_mises_density(x, kappa) + log(sum);
}

// reference: tests/language/test_integrals.py
__device__ real log_von_mises_tail_grad_x(real x, real rest, real kappa, real value)
{
    return exp(log_von_mises_density(x, kappa) - value);
}

// reference: tests/language/test_integrals.py
__device__ real log_von_mises_tail_grad_rest(real x, real rest, real kappa, real value)
{
    return 0;  // it does not change with what it is the rest of
}

// log P(X <= x), X being a von Mises variable around mu, x - mu in [-pi, pi], kappa >= 0; log P(X > x) is
// log_von_mises(mu, x, kappa).
// reference: tests/language/test_integrals.py
__device__ real log_von_mises(real x, real mu, real kappa)
{
    real z = x - mu, shift = z - x;
    if (isnan(z) || !(kappa >= 0)) return NAN;
    if (fabs(z) >= PI || isinf(kappa)) return z < 0 ? -INFINITY : 0;
    real rest = (x - (z - shift)) - (mu + shift);  // Knuth (1998), The Art of Computer Programming, vol. 2, 4.2.2
    real tail = log_von_mises_tail(-fabs(z), z < 0 ? rest : -rest, kappa);
    return z <= 0 ? tail : log1mexp(tail);
}
