"""Noncentral distributions."""

import mpmath as mp
import numpy as np
from families import Corrected, family
from references_continuous import around, inf, parameters, positive, real
from scipy import stats
from tails import integrated


def noncentral_tails(m, peak, tails, powers):
    """Both tails of a mixture by a Poisson variable of mean m: downwards the lower tail grows, upwards the upper one.

    peak: no smaller than the j of the largest terms, or m
    tails(j): both tails of component j    powers(j): the difference of the lower tails of components j and j + 1
    """
    peak = max(m, peak)
    last = int(peak + 3 * mp.sqrt(mp.mp.dps * (peak + 1)) + 2 * mp.mp.dps)
    weights = [mp.exp(-m)]
    for j in range(last):
        weights.append(weights[-1] * m / (j + 1))
    steps = [powers(j) for j in range(last)]
    below, above = tails(last)[0], tails(0)[1]
    lower, upper = weights[last] * below, weights[0] * above
    for j in range(last):
        below += steps[last - 1 - j]
        lower += weights[last - 1 - j] * below
        above += steps[j]
        upper += weights[j + 1] * above
    return lower, upper


def noncentral_chi_squared(x, nu, lam):
    if mp.isinf(x):
        return -mp.inf
    if not x:
        return mp.inf if nu < 2 else -mp.inf if nu > 2 else -mp.log(2) - lam / 2
    if not lam:
        return (nu / 2 - 1) * mp.log(x) - x / 2 - nu / 2 * mp.log(2) - mp.loggamma(nu / 2)
    bessel = mp.log(mp.besseli(nu / 2 - 1, mp.sqrt(lam * x)))
    return -(x + lam) / 2 + (nu / 4 - mp.mpf(1) / 2) * mp.log(x / lam) + bessel - mp.log(2)


def noncentral_chi_squared_tails(x, nu, lam):
    a, y = nu / 2, x / 2
    first = mp.exp(a * mp.log(y) - y - mp.loggamma(a + 1))
    powers = [first]
    while len(powers) < x + lam + 20 * mp.sqrt(mp.mp.dps * (lam + 1)) + 1000:
        powers.append(powers[-1] * y / (a + len(powers)))
    return noncentral_tails(
        lam / 2, mp.sqrt(lam * y / 2),
        lambda j: (mp.gammainc(a + j, 0, y, regularized=True), mp.gammainc(a + j, y, mp.inf, regularized=True)),
        powers.__getitem__,
    )  # fmt: skip


def log_beta_power(a, b, p, q):
    return a * mp.log(p) + b * mp.log(q) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)


def noncentral_f(x, d1, d2, lam):
    if mp.isinf(x):
        return -mp.inf
    if not x:
        return mp.inf if d1 < 2 else -mp.inf if d1 > 2 else -lam / 2
    a, b, m, z = d1 / 2, d2 / 2, lam / 2, d1 * x / d2
    p, q = z / (1 + z), 1 / (1 + z)
    series = mp.hyp1f1(a + b, a, m * p) if m else mp.mpf(1)
    return log_beta_power(a, b, p, q) - m + mp.log(series) - mp.log(x)


def noncentral_f_tails(x, d1, d2, lam):
    a, b, z = d1 / 2, d2 / 2, d1 * x / d2
    p, q = z / (1 + z), 1 / (1 + z)
    powers = [mp.exp(log_beta_power(a, b, p, q)) / a]
    while len(powers) < lam + 20 * mp.sqrt(mp.mp.dps * (lam + 1)) + 1000:
        j = len(powers)
        powers.append(powers[-1] * p * (a + b + j - 1) / (a + j))
    return noncentral_tails(
        lam / 2, lam * p / 2 + mp.sqrt(lam * p * (a + b) / 2),
        lambda j: (mp.betainc(a + j, b, 0, p, regularized=True), mp.betainc(b, a + j, 0, q, regularized=True)),
        powers.__getitem__,
    )  # fmt: skip


def noncentral_beta(x, alpha, beta, lam):
    """By the noncentral F variable that is its odds, but at the ends"""
    m = lam / 2
    if not x:
        return mp.inf if alpha < 1 else -mp.inf if alpha > 1 else mp.log(beta) - m
    if x == 1:
        return mp.inf if beta < 1 else -mp.inf if beta > 1 else mp.log(alpha + m)
    series = mp.hyp1f1(alpha + beta, alpha, m * x) if m else mp.mpf(1)
    return log_beta_power(alpha, beta, x, 1 - x) - m + mp.log(series) - mp.log(x * (1 - x))


def noncentral_beta_tails(x, alpha, beta, lam):
    if x in (0, 1):
        return x, 1 - x
    return noncentral_f_tails(x / (1 - x) * beta / alpha, 2 * alpha, 2 * beta, lam)


class NoncentralBeta:
    """What scipy.stats' noncentral F variables tell of beta variables; their moments are others."""

    def __init__(self, alpha, beta, lam):
        self.odds, self.ratio = stats.ncf(2 * alpha, 2 * beta, lam), alpha / beta

    def stats(self, moments):
        return np.nan, np.nan, np.nan

    def cdf(self, x):
        x = np.clip(np.asarray(x, float), 0, 1)
        with np.errstate(divide="ignore"):
            return self.odds.cdf(x / (1 - x) / self.ratio)


def shares(rng, p):
    first, second = rng.noncentral_chisquare(2 * p[0], p[2]), rng.chisquare(2 * p[1])
    return np.clip(first / (first + second), 1e-6, 1 - 1e-6)


def noncentral_t(x, nu, delta, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    t = (x - mu) / sigma
    root = mp.sqrt(t**2 + nu)
    y = delta * t / root
    cylinder = mp.log(mp.pcfd(-nu - 1, -y)) - y**2 / 4 + mp.loggamma(nu + 1)
    constant = nu / 2 * mp.log(nu) - mp.log(mp.pi) / 2 - mp.loggamma(nu / 2) - (nu - 1) / 2 * mp.log(2)
    return constant - nu * delta**2 / (2 * root**2) - (nu + 1) * mp.log(root) + cylinder - mp.log(sigma)


def noncentral_t_tails(x, nu, delta, mu, sigma):
    """By quadrature of the density in asinh(t)"""
    v, center = mp.asinh((x - mu) / sigma), mp.asinh(delta)

    def log_density(w):
        return noncentral_t(mp.sinh(w), nu, delta, mp.mpf(0), mp.mpf(1)) + mp.log(mp.cosh(w))

    slope = nu + 1 + abs(delta) + mp.mpf(1)
    return integrated(log_density, v, center, mp.inf if v > center else -mp.inf, slope, [0, center])


REFERENCES = {
    "noncentral_chi_squared": family(
        noncentral_chi_squared, noncentral_chi_squared_tails, parameters(positive(0.2, 50), positive(0.1, 100)), (0, inf),
        [(0, 1, 1), (0, 2, 3), (0, 3, 1), (inf, 1, 1), (1e-30, 1, 1), (1e-30, 2, 30), (3, 2, 0), (3, 0.5, 1e-30), (1e3, 1, 1),
         (1e3, 3, 1e3), (20, 3, 1e3), (3e3, 3, 1e3), (100, 100, 1e-3), (500, 3, 100)],
        [(0, 1), (-1, 1), (1, -1), (np.nan, 1), (1, np.nan), (inf, 1), (1, inf)], stats.ncx2,
        lambda rng, p: rng.noncentral_chisquare(*p) * np.exp(rng.uniform(-1, 1, p[0].shape)),
        [(1, 1), (0.1, 3), (30, 0), (5, 1e4), (2, 1e-3)], digits=30,
    ),
    "noncentral_t": family(
        noncentral_t, noncentral_t_tails, parameters(positive(0.4, 30), real(2), real(), positive()), (-inf, inf),
        [(inf, 3, 1, 0, 1), (-inf, 3, 1, 0, 1), (0, 3, 1, 0, 1), (1, 1, 0, 0, 1), (-3, 2, 5, 0, 1), (30, 5, -3, 0, 1),
         (1e10, 3, 1, 0, 1), (-1e10, 3, 1, 0, 1), (10, 1e4, 10, 0, 1), (1e-30, 3, 2, 0, 1), (20, 100, 20, 0, 1),
         (40, 3, 20, 0, 1), (0.5, 0.1, 1, 0, 1)],
        [(0, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, -1), (np.nan, 0, 0, 1), (1, np.nan, 0, 1), (1, 0, np.nan, 1),
         (1, 0, 0, np.nan), (1, inf, 0, 1)],
        lambda nu, delta, mu, sigma: Corrected(stats.nct(nu, delta, mu, sigma), np.where(nu > 1, nu, inf)),
        lambda rng, p: around(rng, p[2] + p[1] * p[3], p[3] * (1 + np.abs(p[1])), 1),
        [(3, 0, 0, 1), (1, 5, 2, 0.1), (30, -3, 0, 1), (0.3, 1, 0, 1)], digits=22,
    ),
    "noncentral_beta": family(
        noncentral_beta, noncentral_beta_tails, parameters(positive(0.2, 25), positive(0.2, 25), positive(0.1, 100)), (0, 1),
        [(0, 0.5, 1, 1), (0, 1, 2, 3), (0, 2, 1, 1), (1, 2, 0.5, 1), (1, 2, 1, 3), (1, 2, 2, 1), (1e-30, 0.5, 1, 1),
         (0.25, 2, 3, 0), (0.25, 0.5, 4, 1e-30), (0.999, 2, 3, 1), (0.5, 2, 100, 1e3), (0.01, 2, 100, 1e3),
         (0.9375, 3, 0.5, 500)],
        [(0, 1, 1), (1, 0, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (np.nan, 1, 1), (1, np.nan, 1), (1, 1, np.nan), (inf, 1, 1)],
        NoncentralBeta, shares, [(1, 1, 1), (0.3, 5, 3), (15, 10, 0), (5, 10, 50)], scipy=False, digits=30,
    ),
    "noncentral_f": family(
        noncentral_f, noncentral_f_tails, parameters(positive(0.4, 50), positive(0.4, 50), positive(0.1, 100)), (0, inf),
        [(0, 1, 1, 1), (0, 2, 2, 3), (0, 3, 2, 1), (inf, 1, 1, 1), (1e-30, 1, 2, 1), (1e-20, 2, 3, 30), (3, 2, 3, 0),
         (3, 0.5, 4, 1e-30), (1e20, 1, 1, 1), (100, 3, 300, 1e3), (1, 3, 300, 1e3), (1e4, 3, 300, 1e2), (1, 100, 1e3, 1e-3)],
        [(0, 1, 1), (1, 0, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (np.nan, 1, 1), (1, np.nan, 1), (1, 1, np.nan)],
        lambda d1, d2, lam: Corrected(stats.ncf(d1, d2, lam), d2 / 2),
        lambda rng, p: np.clip(rng.noncentral_f(*p) * np.exp(rng.uniform(-1, 1, p[0].shape)), 1e-20, 1e20),
        [(1, 1, 1), (0.3, 5, 3), (30, 20, 0), (5, 10, 1e3)], digits=30,
    ),
}  # fmt: skip
