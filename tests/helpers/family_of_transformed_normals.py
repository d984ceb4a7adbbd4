"""Functions of normal variables, on the half-line and beyond."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references_continuous import (
    INVALID_LOCATION_SCALE,
    INVALID_PAIR,
    around,
    inf,
    location_scale,
    parameters,
    positive,
    real,
)
from references_continuous import normal as normal_density
from references_continuous import wald as wald_density
from scipy import stats
from tails import from_log_sf, ndtr


def folded_normal(x, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    first, second = normal_density(x, abs(mu), sigma), normal_density(x, -abs(mu), sigma)
    return first + mp.log1p(mp.exp(second - first))


def folded_normal_tails(x, mu, sigma):
    above, below = (x - mu) / sigma, (x + mu) / sigma
    return ndtr(above) - ndtr(-below), ndtr(-above) + ndtr(-below)


def birnbaum_saunders(x, alpha, beta):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    root = mp.sqrt(x / beta)
    return normal_density((root - 1 / root) / alpha, 0, 1) + mp.log((root + 1 / root) / (2 * alpha * x))


def birnbaum_saunders_tails(x, alpha, beta):
    root = mp.sqrt(x / beta)
    z = (root - 1 / root) / alpha
    return ndtr(z), ndtr(-z)


def alpha(x, a, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return normal_density(a - 1 / z, 0, 1) - mp.log(ndtr(a)) - 2 * mp.log(z) - mp.log(sigma)


def alpha_tails(x, a, sigma):
    return ndtr(a - sigma / x) / ndtr(a), (ndtr(sigma / x - a) - ndtr(-a)) / ndtr(a)


def power_log_normal(x, p, mu, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = (mp.log(x) - mu) / sigma
    return mp.log(p / x / sigma) + normal_density(z, 0, 1) + (p - 1) * mp.log(ndtr(-z))


def power_log_normal_tails(x, p, mu, sigma):
    z = (mp.log(x) - mu) / sigma
    return from_log_sf(p * (mp.log1p(-ndtr(z)) if z < 0 else mp.log(ndtr(-z))))


def wald_tails(x, mu, lam):
    root = mp.sqrt(lam / x)
    second = mp.exp(2 * lam / mu) * ndtr(-root * (x / mu + 1))
    return ndtr(root * (x / mu - 1)) + second, ndtr(root * (1 - x / mu)) - second


def sinh_arcsinh(x, epsilon, delta, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = (x - mu) / sigma
    w = delta * mp.asinh(z) - epsilon
    return mp.log(delta * mp.cosh(w) / sigma) - mp.log(2 * mp.pi * (1 + z * z)) / 2 - mp.sinh(w) ** 2 / 2


def sinh_arcsinh_tails(x, epsilon, delta, mu, sigma):
    y = mp.sinh(delta * mp.asinh((x - mu) / sigma) - epsilon)
    return ndtr(y), ndtr(-y)


def sinh_arcsinh_known(epsilon, delta, mu, sigma):
    def cdf(x):
        return stats.norm.cdf(np.sinh(delta * np.arcsinh((x - mu) / sigma) - epsilon))

    return SimpleNamespace(cdf=cdf, stats=lambda moments: (np.nan,) * 3)


def shifted_log_normal(x, mu, sigma, shift):
    if x <= shift or mp.isinf(x):
        return -mp.inf
    return mp.log(mp.npdf(mp.log(x - shift), mu, sigma) / (x - shift))


def shifted_log_normal_tails(x, mu, sigma, shift):
    z = (mp.log(x - shift) - mu) / sigma
    return ndtr(z), ndtr(-z)


def slash(x, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = (x - mu) / sigma
    return -mp.log(sigma * mp.sqrt(2 * mp.pi)) + (mp.log(-mp.expm1(-z * z / 2) / (z * z)) if z else -mp.log(2))


def slash_tails(x, mu, sigma):
    z = (x - mu) / sigma
    rest = -mp.expm1(-z * z / 2) / (z * mp.sqrt(2 * mp.pi)) if z else mp.mpf(0)
    return ndtr(z) - rest, ndtr(-z) + rest


def slash_known(mu, sigma):
    def cdf(x):
        z = np.where(x == mu, 1e-300, (x - mu) / sigma)
        return stats.norm.cdf(z) + np.expm1(-z * z / 2) / (z * np.sqrt(2 * np.pi))

    return SimpleNamespace(cdf=cdf, stats=lambda moments: (np.nan,) * 3)


REFERENCES = {
    "folded_normal": family(
        folded_normal, folded_normal_tails, parameters(real(), positive()), (0, inf),
        [(0, 0, 1), (0, 3, 1), (inf, 1, 1), (inf, 0, 1), (1e-30, 3, 1), (1e-30, 0, 1), (1e5, 2, 1), (30, -2, 1), (100, 100, 1),
         (110, -100, 1), (50, 100, 1), (2, 1, 1e30), (1e-20, 1e-20, 1e-20), (1e-20, 30, 1)],
        INVALID_LOCATION_SCALE, lambda mu, sigma: stats.foldnorm(abs(mu) / sigma, scale=sigma),
        lambda rng, p: np.abs(around(rng, p[0], p[1], 1.5)), [(0, 1), (-10, 1), (3, 5), (1, 1e10)],
    ),
    "birnbaum_saunders": family(
        birnbaum_saunders, birnbaum_saunders_tails, parameters(positive(), positive()), (0, inf),
        [(0, 1, 1), (inf, 1, 1), (1e-30, 10, 1), (1e30, 10, 1), (1.001, 1e-3, 1), (1, 1e-10, 1), (3, 1e5, 1), (1e-30, 1, 1e-30),
         (1e-3, 1, 1), (1e3, 1, 1), (5, 1e-3, 4)],
        INVALID_PAIR, lambda alpha, beta: stats.fatiguelife(alpha, scale=beta),
        lambda rng, p: stats.fatiguelife(1.5 * p[0], scale=p[1]).rvs(random_state=rng), [(1, 1), (1e-3, 2), (100, 1)],
    ),
    "reciprocal_inverse_gaussian": family(
        lambda x, mu, lam: -mp.inf if x == 0 or mp.isinf(x) else wald_density(1 / x, mu, lam) - 2 * mp.log(x),
        lambda x, mu, lam: wald_tails(1 / x, mu, lam)[::-1], parameters(positive(), positive()), (0, inf),
        [(0, 1, 1), (inf, 1, 1), (1e-3, 1, 1), (1e5, 1, 1), (1, 1e-10, 1), (1, 1e20, 1), (1.001, 1, 1e6), (1, 1, 1e-10),
         (0.25, 4, 1e10)],
        INVALID_PAIR, lambda mu, lam: stats.recipinvgauss(mu / lam, scale=1 / lam),
        lambda rng, p: 1 / stats.invgauss(p[0] / p[1] * 2, scale=p[1] / 2).rvs(random_state=rng),
        [(1, 1), (1, 300), (1e4, 1), (1, 1e-4)],
    ),
    "alpha": family(
        alpha, alpha_tails, parameters(positive(0.05, 30), positive()), (0, inf),
        [(0, 1, 1), (inf, 1, 1), (1e-3, 1, 1), (1e30, 1, 1), (0.05, 20, 1), (0.0625, 20, 1), (1e-30, 3, 1e-30), (10, 1e-10, 1),
         (1e-3, 1e3, 1), (0.5, 1e3, 1)],
        INVALID_PAIR, lambda a, sigma: stats.alpha(a, scale=sigma),
        lambda rng, p: p[1] / np.maximum(np.abs(around(rng, p[0], 1 + 0 * p[0], 1)), 1e-3), [(1, 1), (0.01, 2), (30, 1e5)],
    ),
    "power_log_normal": family(
        power_log_normal, power_log_normal_tails, parameters(positive(0.1, 30), real(1), positive(0.3, 5)), (0, inf),
        [(0, 1, 0, 1), (inf, 1, 0, 1), (1, 1, 0, 1), (1e-30, 2, 0, 1), (1e30, 2, 0, 1), (1e30, 0.01, 0, 1), (1e-30, 100, 0, 1),
         (2, 1e5, 0, 1), (1.25, 3, 0, 1e-3), (1, 3, 0, 1e10)],
        [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)],
        lambda p, mu, sigma: stats.powerlognorm(p, sigma, scale=np.exp(mu)),
        lambda rng, p: np.exp(around(rng, p[1] - p[2] * np.log(p[0]) / 2, p[2], 0.7)), [(1, 0, 1), (0.1, 2, 0.5), (100, -1, 3)],
    ),
    "sinh_arcsinh": family(
        sinh_arcsinh, sinh_arcsinh_tails, parameters(real(1), positive(0.3, 3), real(), positive()), (-inf, inf),
        [(0, 0, 1, 0, 1), (inf, 1, 1, 0, 1), (-inf, 1, 1, 0, 1), (1e10, 0, 0.1, 0, 1), (-1e30, 2, 0.01, 0, 1), (10, 0, 1, 0, 1),
         (-10, 0, 1, 0, 1), (1e-10, 0, 3, 0, 1), (0, 0, 1, 0, 1e-30), (1, 2, 0.5, 0, 1e30), (5, 0, 3, 0, 1), (2, -3, 1, 1, 1)],
        [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 0, 0), (0, 1, 0, -1), (np.nan, 1, 0, 1), (0, np.nan, 0, 1), (0, 1, np.nan, 1),
         (0, 1, 0, np.nan)],
        sinh_arcsinh_known,
        lambda rng, p: p[2] + p[3] * np.sinh((np.arcsinh(around(rng, 0, 1 + 0 * p[1], 1)) + p[0]) / p[1]),
        [(0, 1, 0, 1), (1, 0.5, 3, 2), (-2, 3, 0, 1e-10)], scipy=False, rtol32=1e-4, reason="exponentials of rounded numbers",
    ),
    "shifted_log_normal": family(
        shifted_log_normal, shifted_log_normal_tails, parameters(real(2), positive(0.3, 3), real()),
        (lambda mu, sigma, shift: shift, inf),
        [(0, 0, 1, 0), (1, 0, 1, 1), (0.5, 0, 1, 1), (inf, 0, 1, 0), (-inf, 0, 1, 0), (1.25, 0, 1, 1), (-1, 0, 1, -2),
         (1e30, 0, 1, 0), (1e-30, 0, 1, 0), (1, 0, 1e-10, 0), (3, 0, 1e10, 1)],
        [(0, 0, 1), (0, -1, 1), (np.nan, 1, 0), (0, np.nan, 0), (0, 1, np.nan), (0, 1, inf)],
        lambda mu, sigma, shift: stats.lognorm(sigma, shift, np.exp(mu)),
        lambda rng, p: p[2] + np.exp(np.clip(around(rng, p[0], p[1], 1), -6, 60)), [(0, 1, 0), (3, 0.01, -5), (-2, 3, 1)],
        rtol32=1e-4, reason="the rounding error of x - shift counts",
    ),
    "slash": family(
        slash, slash_tails, parameters(real(), positive()), (-inf, inf),
        [(0, 0, 1), (inf, 0, 1), (-inf, 0, 1), (1e-10, 0, 1), (1e-30, 0, 1e-20), (30, 0, 1), (-1e10, 0, 1), (1e30, 0, 1e-5),
         (2, 1, 1e30), (0.5, 0, 1), (-1.5, 0, 1)],
        INVALID_LOCATION_SCALE, slash_known, location_scale, [(0, 1), (-5, 1e-3), (1e3, 10)], scipy=False,
    ),
}  # fmt: skip
