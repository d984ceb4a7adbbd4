"""Densities on the half-line that fall off like powers, in closed form."""

import mpmath as mp
import numpy as np
from families import Corrected, family
from references_continuous import (
    INVALID_LOCATION_SCALE,
    INVALID_PAIR,
    around,
    draws,
    inf,
    log_uniform,
    parameters,
    positive,
    real,
)
from scipy import stats
from tails import beta as beta_tails
from tails import from_log_cdf, from_log_sf

SHAPE = positive(0.3, 10)
INVALID_TRIPLE = [(0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (mp.nan, 1, 1), (1, 1, mp.nan)]


def power(exponent, x):
    """exponent log(x), and 0 where the exponent is"""
    return exponent * mp.log(x) if exponent else mp.mpf(0)


def lomax(x, alpha, sigma):
    return mp.log(alpha / sigma) - (alpha + 1) * mp.log1p(x / sigma)


def burr(x, c, k, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return mp.log(c * k / sigma) + power(c * k - 1, z) - (k + 1) * mp.log1p(z**c)


def burr12(x, c, k, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return mp.log(c * k / sigma) + power(c - 1, z) - (k + 1) * mp.log1p(z**c)


def mielke(x, k, s, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return mp.log(k / sigma) + power(k - 1, z) - (1 + k / s) * mp.log1p(z**s)


def kappa3(x, a, sigma):
    return mp.log(a / sigma) - (1 + 1 / a) * mp.log(a + (x / sigma) ** a)


def log_laplace(x, c, sigma):
    z = x / sigma
    return mp.log(c / (2 * sigma)) + power(c - 1 if z < 1 else -c - 1, z)


def log_laplace_tails(x, c, sigma):
    z = x / sigma
    small = (z if z < 1 else 1 / z) ** c / 2
    return (small, 1 - small) if z < 1 else (1 - small, small)


def log_uniform_density(x, lower, upper):
    return -mp.log(x) - mp.log(mp.log(upper / lower)) if lower <= x <= upper else -mp.inf


def log_uniform_tails(x, lower, upper):
    length = mp.log(upper / lower)
    return mp.log(x / lower) / length, mp.log(upper / x) / length


def generalized_pareto(x, mu, sigma, xi):
    z = (x - mu) / sigma
    if z < 0 or 1 + xi * z < 0:
        return -mp.inf
    if mp.isinf(z):
        return -mp.inf
    return -mp.log(sigma) - (z if xi == 0 else mp.mpf(0) if xi == -1 else (1 + 1 / xi) * mp.log1p(xi * z))


def generalized_pareto_tails(x, mu, sigma, xi):
    z = (x - mu) / sigma
    return from_log_sf(-(mp.log1p(xi * z) / xi if xi else z))


def levy(x, mu, sigma):
    z = (x - mu) / sigma
    return -mp.inf if z <= 0 or mp.isinf(z) else -mp.log(2 * mp.pi * z**3) / 2 - 1 / (2 * z) - mp.log(sigma)


def levy_tails(x, mu, sigma):
    u = mp.sqrt(sigma / (x - mu) / 2)
    return mp.erfc(u), mp.erf(u)


def folded_cauchy(x, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    below, above = (x + mu) / sigma, (x - mu) / sigma
    return mp.log(1 / (1 + below**2) + 1 / (1 + above**2)) - mp.log(mp.pi * sigma)


def folded_cauchy_tails(x, mu, sigma):
    below, above = (x + mu) / sigma, (x - mu) / sigma
    return (mp.atan(below) + mp.atan(above)) / mp.pi, (mp.atan2(1, below) + mp.atan2(1, above)) / mp.pi


def beta_prime(x, alpha, beta, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    log_beta = mp.loggamma(alpha) + mp.loggamma(beta) - mp.loggamma(alpha + beta)
    return power(alpha - 1, z) - (alpha + beta) * mp.log1p(z) - log_beta - mp.log(sigma)


def beta_prime_tails(x, alpha, beta, sigma):
    z = x / sigma
    return beta_tails(alpha, beta, z / (1 + z), 1 / (1 + z))


def relativistic_breit_wigner(x, m, gamma):
    energy = mp.sqrt(m**2 * (m**2 + gamma**2))
    factor = 2 * mp.sqrt(2) * m * gamma * energy / (mp.pi * mp.sqrt(m**2 + energy))
    return mp.log(factor) - mp.log((x**2 - m**2) ** 2 + (m * gamma) ** 2)


def relativistic_breit_wigner_tails(x, m, gamma):
    """Integrals of 1 / (s - x^2) from 0 to x or from x on, as series of which nothing cancels"""
    s = mp.mpc(m**2, m * gamma)
    factor = mp.exp(relativistic_breit_wigner(m, m, gamma)) * (m * gamma)
    if x**2 < abs(s):
        below = -factor * x * mp.im(mp.hyp2f1(0.5, 1, 1.5, x**2 / s) / s)
        return below, 1 - below
    above = factor / (3 * x) * mp.im(s / x**2 * mp.hyp2f1(1.5, 1, 2.5, s / x**2))
    return 1 - above, above


def beyond_threshold(rng, p):
    """Not so near the upper end that the rounding of x counts"""
    mu, sigma, xi = p
    h = rng.exponential(1.5, mu.shape)
    return mu + sigma * np.expm1(xi * np.where(xi < 0, np.minimum(h, 5 / -xi), h)) / xi


def bounds(rng, n):
    lower = log_uniform(rng, 0.01, 10, n)
    return lower, lower * (1 + log_uniform(rng, 0.1, 100, n))


def between(rng, p):
    return p[0] * (p[1] / p[0]) ** rng.uniform(0.001, 0.999, p[0].shape)


REFERENCES = {
    "log_logistic": family(
        lambda x, alpha, sigma: burr(x, alpha, mp.mpf(1), sigma),
        lambda x, alpha, sigma: (1 / (1 + (x / sigma) ** -alpha), 1 / (1 + (x / sigma) ** alpha)),
        parameters(SHAPE, positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (inf, 2, 1), (inf, 0.5, 1), (1e-30, 2, 1), (1e30, 2, 1), (1e-30, 30, 1),
         (1e20, 100, 1), (2, 2, 2), (1e-30, 3, 1e-30), (1e30, 0.01, 1)],
        INVALID_PAIR, lambda alpha, sigma: Corrected(stats.fisk(alpha, scale=sigma), alpha),
        drawn=[(1, 1), (0.1, 2), (30, 1e5)],
    ),
    "lomax": family(
        lomax, lambda x, alpha, sigma: from_log_sf(-alpha * mp.log1p(x / sigma)), parameters(SHAPE, positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (inf, 2, 1), (1e-30, 2, 1), (1e30, 2, 1), (1e30, 30, 1e-5), (1, 1e8, 1e8), (1e-30, 1, 1e-30)],
        INVALID_PAIR, lambda alpha, sigma: stats.lomax(alpha, scale=sigma), drawn=[(1, 1), (0.1, 2), (1e4, 3)],
    ),
    "burr": family(
        burr, lambda x, c, k, sigma: from_log_cdf(-k * mp.log1p((x / sigma) ** -c)),
        parameters(SHAPE, SHAPE, positive()), (0, inf),
        [(0, 1, 1, 2), (0, 0.5, 2, 2), (0, 2, 0.25, 1), (0, 2, 2, 1), (inf, 2, 1, 1), (1e-30, 2, 3, 1), (1e30, 2, 3, 1),
         (1e-30, 0.5, 100, 1), (1e20, 30, 0.01, 1), (2, 2, 1e5, 2), (1e-30, 3, 1, 1e-30)],
        INVALID_TRIPLE, lambda c, k, sigma: Corrected(stats.burr(c, k, scale=sigma), c),
        drawn=[(1, 1, 1), (0.5, 3, 2), (20, 0.05, 1e5)],
    ),
    "burr12": family(
        burr12, lambda x, c, k, sigma: from_log_sf(-k * mp.log1p((x / sigma) ** c)),
        parameters(SHAPE, SHAPE, positive()), (0, inf),
        [(0, 1, 1, 2), (0, 0.5, 2, 2), (0, 1, 3, 1), (0, 2, 2, 1), (inf, 2, 1, 1), (1e-30, 2, 3, 1), (1e30, 2, 3, 1),
         (1e-30, 0.5, 100, 1), (1e20, 30, 0.01, 1), (2, 2, 1e5, 2), (1e-30, 3, 1, 1e-30)],
        INVALID_TRIPLE, lambda c, k, sigma: Corrected(stats.burr12(c, k, scale=sigma), c * k),
        drawn=[(1, 1, 1), (0.5, 3, 2), (20, 0.05, 1e5)],
    ),
    "mielke": family(
        mielke, lambda x, k, s, sigma: from_log_cdf(-k / s * mp.log1p((x / sigma) ** -s)),
        parameters(SHAPE, SHAPE, positive()), (0, inf),
        [(0, 1, 1, 2), (0, 1, 3, 2), (0, 0.5, 2, 2), (0, 2, 2, 1), (inf, 2, 1, 1), (1e-30, 2, 3, 1), (1e30, 2, 3, 1),
         (1e-30, 50, 0.5, 1), (1e20, 0.3, 30, 1), (2, 1e5, 2, 2), (1e-30, 3, 1, 1e-30)],
        INVALID_TRIPLE, lambda k, s, sigma: Corrected(stats.burr(s, k / s, scale=sigma), s),  # stats.mielke loses a tail
        drawn=[(1, 1, 1), (1.5, 0.5, 2), (1, 20, 1e5)],
    ),
    "kappa3": family(
        kappa3, lambda x, a, sigma: from_log_cdf(-mp.log1p(a * (x / sigma) ** -a) / a), parameters(SHAPE, positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 2), (0, 3, 1), (inf, 2, 1), (1e-30, 2, 1), (1e30, 2, 1), (1e-30, 30, 1), (1e20, 30, 1),
         (1e20, 0.05, 1), (2, 1e3, 2), (1e-30, 3, 1e-30)],
        INVALID_PAIR, lambda a, sigma: Corrected(stats.kappa3(a, scale=sigma), a), drawn=[(1, 1), (0.2, 2), (20, 1e5)],
    ),
    "log_laplace": family(
        log_laplace, log_laplace_tails, parameters(SHAPE, positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (inf, 2, 1), (inf, 0.5, 1), (1e-30, 2, 1), (1e30, 2, 1), (1e-30, 1, 1), (2, 3, 2),
         (1e-30, 3, 1e-30), (1e20, 100, 1)],
        INVALID_PAIR, lambda c, sigma: stats.loglaplace(c, scale=sigma), drawn=[(1, 1), (0.1, 2), (30, 1e5)],
    ),
    "generalized_pareto": family(
        generalized_pareto, generalized_pareto_tails, parameters(real(), positive(), real(0.5)),
        (lambda mu, sigma, xi: mu, lambda mu, sigma, xi: mu - sigma / xi if xi < 0 else mp.inf),
        [(0, 0, 1, 0.5), (0, 0, 1, 0), (-1, 0, 1, 1), (3, 0, 1, -0.5), (2, 0, 1, -0.5), (2, 0, 1, -0.25), (1, 0, 1, -1),
         (0.5, 0, 2, -1), (0.5, 0, 1, -2), (0.25, 0, 1, -2), (inf, 0, 1, 0), (inf, 0, 1, 1), (-inf, 0, 1, 1), (1, 0, 1, 1e-30),
         (1, 0, 1, -1e-30), (3, 1, 1, 1e-9), (1e30, 0, 1, 3), (1e30, 0, 1, 1e-5), (5, 5, 1e-30, 1), (1, 0, 1e30, 2)],
        [(0, 0, 1), (0, -1, 1), (np.nan, 1, 1), (0, np.nan, 1), (0, 1, np.nan), (0, 1, inf)],
        lambda mu, sigma, xi: Corrected(stats.genpareto(xi, mu, sigma), 1 / np.maximum(xi, 1e-30)), beyond_threshold,
        [(0, 1, 0), (3, 2, 1), (0, 1, -0.5), (0, 1, -1), (0, 1, -2), (1, 1e5, 1e-9)],
        rtol32=1e-4, reason="near its upper end, the rounding error of x - mu counts",
    ),
    "levy": family(
        levy, levy_tails, parameters(real(), positive()), (lambda mu, sigma: mu, inf),
        [(0, 0, 1), (-1, 0, 1), (inf, 0, 1), (-inf, 0, 1), (1e-3, 0, 1), (1e-30, 0, 1e-30), (1e30, 0, 1), (3.5, 3, 1e5),
         (5, 1, 1e-30)],
        INVALID_LOCATION_SCALE, stats.levy,
        lambda rng, p: p[0] + p[1] / np.maximum(around(rng, 0, 1 + 0 * p[1], 1.5) ** 2, 1e-6),
        [(0, 1), (-5, 1e-5), (0, 1e10)],
        rtol32=1e-4, reason="near its lower end, the rounding error of x - mu counts",
    ),
    "folded_cauchy": family(
        folded_cauchy, folded_cauchy_tails, parameters(real(), positive()), (0, inf),
        [(0, 0, 1), (0, 3, 1), (inf, 1, 1), (1e-30, 3, 1), (1e-30, 0, 1), (1e30, 2, 1), (1e30, -2, 1), (1e10, 1e10, 1),
         (1e5, 1e15, 1), (2, 1, 1e30), (2, 1, 1e-30), (1e-20, 1e-20, 1e-20)],
        INVALID_LOCATION_SCALE, lambda mu, sigma: stats.foldcauchy(abs(mu / sigma), scale=sigma),
        lambda rng, p: np.abs(around(rng, p[0], p[1], 6)), [(0, 1), (-10, 1), (3, 5), (1, 1e10)],
    ),
    "beta_prime": family(
        beta_prime, beta_prime_tails, parameters(positive(0.1, 200), positive(0.1, 200), positive()), (0, inf),
        [(0, 1, 1, 2), (0, 0.5, 1, 2), (0, 2, 1, 2), (0, 1, 300, 2), (0, 300, 1, 2), (inf, 1, 1, 1), (inf, 300, 1, 1),
         (1e-30, 0.5, 2, 1), (1e30, 3, 0.5, 1), (1, 1e6, 1e6, 1), (1.001, 1e6, 1e6, 1), (1e-20, 200, 3, 1), (1e20, 200, 3, 1),
         (1e-6, 1, 1e6, 1), (1e-30, 3, 2, 1e-30), (0.5, 1e-10, 1e-10, 1)],
        INVALID_TRIPLE,
        lambda alpha, beta, sigma: Corrected(
            stats.betaprime(alpha, beta, scale=sigma), beta,
            lambda: stats.f(2 * alpha, 2 * beta).entropy() + np.log(alpha * sigma / beta),
        ),
        lambda rng, p: p[2] * np.clip(draws(stats.betaprime)(rng, p[:2]), 1e-20, 1e20),
        [(1, 1, 1), (1e-2, 3, 2), (3, 1e-2, 1), (300, 1e4, 5)],
    ),
    "fisher_snedecor": family(
        lambda x, d1, d2: beta_prime(x, d1 / 2, d2 / 2, d2 / d1),
        lambda x, d1, d2: beta_prime_tails(x, d1 / 2, d2 / 2, d2 / d1), parameters(positive(0.2, 400), positive(0.2, 400)),
        (0, inf),
        [(0, 1, 1), (0, 2, 3), (0, 3, 3), (0, 500, 3), (inf, 1, 1), (inf, 500, 3), (1e-30, 1, 2), (1e30, 3, 1), (1, 1e6, 1e6),
         (1.001, 1e6, 1e6), (1e-20, 200, 3), (1e20, 200, 3), (3, 1, 1e6)],
        INVALID_PAIR, lambda d1, d2: Corrected(stats.f(d1, d2), d2 / 2, stats.f(d1, d2).entropy),
        lambda rng, p: np.clip(draws(stats.f)(rng, p), 1e-20, 1e20), [(1, 1), (0.02, 6), (6, 0.02), (600, 1e4)],
    ),
    "relativistic_breit_wigner": family(
        relativistic_breit_wigner, relativistic_breit_wigner_tails, parameters(positive(), positive()), (0, inf),
        [(0, 1, 2), (inf, 1, 1), (1e-30, 1, 1), (1e10, 1, 1), (1, 1e5, 1), (1e5, 1e5, 1), (100001, 1e5, 1), (1e6, 1e5, 1),
         (1, 1e-5, 1), (1e-4, 1e-5, 1), (1e-30, 3e-30, 1e-30), (91.25, 91.1875, 2.5), (1e3, 1, 1e-5)],
        INVALID_PAIR, lambda m, gamma: stats.rel_breitwigner(m / gamma, scale=gamma),
        lambda rng, p: np.abs(around(rng, p[0], p[1], 2.5)), [(1, 1), (1e5, 1), (1e-3, 10), (91.2, 2.5)],
    ),
    "log_uniform": family(
        log_uniform_density, log_uniform_tails, bounds, (lambda lower, upper: lower, lambda lower, upper: upper),
        [(0, 1, 2), (1, 1, 2), (2, 1, 2), (3, 1, 2), (inf, 1, 2), (1e30, 1e-30, 1e30), (1.5, 1, 1e30), (1e100, 1e-300, 1e300),
         (1000.25, 1000, 1001)],
        [(0, 1), (1, 1), (2, 1), (-1, 1), (1, inf), (mp.nan, 1), (1, mp.nan)],
        stats.loguniform, between, [(1, 2), (1e-10, 1e10), (5, 5.01)],
    ),
}  # fmt: skip
