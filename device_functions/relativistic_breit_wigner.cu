// relativistic_breit_wigner: the relativistic Breit-Wigner distribution, of the energy of a resonance
// used for: the masses of unstable particles
// x: nonnegative    m: positive, mass of the resonance    gamma: positive, its width
// density: 2 * sqrt(2) * m * gamma * c / (pi * sqrt(m**2 + c) * ((x**2 - m**2)**2 + m**2 * gamma**2))
// c = m * sqrt(m**2 + gamma**2)
// source: Byckling & Kajantie (1973), Particle Kinematics, ch. 9
//
// With rho = m / gamma, let rho^2 + i rho be the square of p + i q, and r its absolute value. The density of x / gamma is that of
// a folded Cauchy variable of location p and scale q, times 2 r / (x^2 / gamma^2 + r).
__device__ real stretch(real rho) { return hypot((real)1, 1 / rho); }
__device__ real radius(real rho) { return rho * hypot(rho, (real)1); }
__device__ real location(real rho) { return rho * sqrt(0.5 * (1 + stretch(rho))); }
__device__ real width(real rho) { return 0.5 * (rho / location(rho)); }

__device__ real relativistic_breit_wigner_logpdf(real x, real m, real gamma)
{
    real h = stretch(m / gamma), constant = 1.5 * LOG_2 - LOG_PI - log(gamma) + log(h) - 0.5 * log1p(h);
    return constant - log1p_square((x - m) * (1 / gamma) * ((x + m) * (1 / m)));
}

__device__ real relativistic_breit_wigner_logpdf_grad_x(real x, real m, real gamma)
{
    real away = (x - m) * (1 / gamma) * ((x + m) * (1 / m)), whole = hypot((real)1, away);
    return isinf(away) ? 0 : -4 * (away / whole) * (x / m / gamma / whole);
}

// Partial fractions, whose integrals are an angle and a logarithm
__device__ real relativistic_breit_wigner_logcdf(real x, real m, real gamma)
{
    if (isinf(x)) return 0;
    real rho = m / gamma, p = location(rho), q = width(rho), r = radius(rho), z = x / gamma, d = z - p;
    return log(atan2(2 * q * z, r - z * z) + 0.5 * (q / p) * log1p(4 * p * (z / (d * d + q * q)))) - LOG_PI;
}

// Far from the resonance the two would cancel. There a power series in r gamma^2 / x^2 is integrated, whose coefficients are
// Chebyshev's polynomials of the second kind.
__device__ real relativistic_breit_wigner_logsf(real x, real m, real gamma)
{
    real rho = m / gamma, p = location(rho), q = width(rho), r = radius(rho), z = x / gamma, d = z - p;
    if (z < 2 * sqrt(r))
        return log(atan2(2 * q * z, z * z - r) - 0.5 * (q / p) * log1p(4 * p * (z / (d * d + q * q)))) - LOG_PI;
    real ratio = r / z / z, twice = 2 / stretch(rho), before = 0, now = 1, power = 1, sum = 1.0 / 3;
    for (int k = 1; k < 40; k++) {
        real next = twice * now - before;
        before = now;
        now = next;
        power *= ratio;
        sum += power * now / (2 * k + 3);
    }
    return log(4 * sum) - LOG_PI + log(q) + log(r) - 3 * log(z);
}

// By rejection of every other draw of the folded Cauchy variable
__device__ real relativistic_breit_wigner_sample(rng_t *rng, real m, real gamma)
{
    real rho = m / gamma, p = location(rho), q = width(rho), root = sqrt(radius(rho)), value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real x = fabs(cauchy_sample(rng, p, q)), u = uniform(rng), z = x / root;
        if (u * (1 + z * z) < 1) value = gamma * x;
    }
    return value;
}

__device__ real relativistic_breit_wigner_mean(real m, real gamma)
{
    real rho = m / gamma;
    return 2 / PI * gamma * width(rho) * hypot(rho, (real)1) * (0.5 * PI + atan(rho));
}

__device__ real relativistic_breit_wigner_skewness(real m, real gamma) { return NAN; }  // it has no third moment
__device__ real relativistic_breit_wigner_mode(real m, real gamma) { return m; }
