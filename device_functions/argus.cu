// argus: the ARGUS distribution of the mass of a particle's decay products, relative to the largest possible one
// used for: background in spectra of particle masses, which ends at a kinematic limit
// x: unit    chi: positive, curvature
// density: (chi**3 * x * sqrt(1 - x**2) * exp(-chi**2 * (1 - x**2) / 2) /
// (sqrt(2 * pi) * (Phi(chi) - chi * phi(chi) - 1 / 2)))
// source: Albrecht et al. (1990), Search for hadronic b to u decays

// log(P(M <= chi) / chi^3), M having Maxwell's distribution; where chi is small, by the power series of the incomplete gamma
// function: Abramowitz & Stegun (1964), 6.5.29.
__device__ real log_norm(real chi)
{
    real c = 0.5 * chi * chi, term = 1, sum = 1 / 1.5;
    if (c > 1.5) return maxwell_logcdf(chi, 1) - 3 * log(chi);
    for (int k = 1; k < 25; k++) {
        term *= -c / k;
        sum += term / (k + 1.5);
    }
    return log(sum) - HALF_LOG_2PI;
}

__device__ real argus_logpdf(real x, real chi)
{
    real s = (1 - x) * (1 + x);
    return (LOG_2 - HALF_LOG_2PI - log_norm(chi)) + log(x) + 0.5 * log(s) - 0.5 * chi * chi * s;
}

// P(X > x) is P(M <= chi sqrt(1 - x^2)) / P(M <= chi).
__device__ real argus_logsf(real x, real chi)
{
    real s = (1 - x) * (1 + x);
    return log_norm(chi * sqrt(s)) + 1.5 * log(s) - log_norm(chi);
}

// Where these two hardly differ, by quadrature of their difference in x^2.
__device__ real argus_logcdf(real x, real chi)
{
    real y = x * x, c = 0.5 * chi * chi, rest = chi * sqrt((1 - x) * (1 + x)), sum = 0;
    if (y > 0.3 || c * y > 2)
        return log_cdf_difference(maxwell_logcdf(rest, 1), maxwell_logsf(rest, 1), maxwell_logcdf(chi, 1), maxwell_logsf(chi, 1))
             - maxwell_logcdf(chi, 1);
    for (int k = 0; k < 8; k++) {
        real at = 0.5 * y * (1 + legendre_node(k));
        sum += legendre_weight(k) * exp(c * at) * sqrt(1 - at);
    }
    return log(0.5 * sum) + 2 * log(x) - (0.5 * chi * chi + HALF_LOG_2PI + log_norm(chi));
}

__device__ real argus_sample(rng_t *rng, real chi)
{
    real u = uniform(rng), c = 0.5 * chi * chi, p = u * exp(maxwell_logcdf(chi, 1));
    real share = c < EPSILON ? cbrt(u * u) : gamma_quantile(1.5, p, 1 - p) / c;
    return sqrt(fmax(1 - share, (real)0));
}

__device__ real argus_mode(real chi)
{
    real s = chi * chi;
    return sqrt(0.5 + 0.5 * s / (hypot(s, (real)2) + 2));
}
