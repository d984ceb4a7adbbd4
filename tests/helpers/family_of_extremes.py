"""Extremes of many variables."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references_continuous import INVALID_LOCATION_SCALE, INVALID_PAIR, around, inf, parameters, positive, real
from scipy import stats
from tails import from_log_cdf, from_log_sf


def log_power(z, xi):
    """log(1 + xi z) / xi: the standard Gumbel variable"""
    return mp.log1p(xi * z) / xi if xi else z


def generalized_extreme_value(x, mu, sigma, xi):
    z = (x - mu) / sigma
    if mp.isinf(z) or 1 + xi * z < 0 or (xi > 0 and 1 + xi * z == 0):
        return -mp.inf
    if 1 + xi * z == 0:
        return mp.inf if xi < -1 else -mp.inf if xi > -1 else -mp.log(sigma)
    w = log_power(z, xi)
    return -mp.log(sigma) - (1 + xi) * w - mp.exp(-w)


def inside(rng, p):
    """Observations whose standard Gumbel variables are ordinary ones, as far as their distance to the end tells."""
    mu, sigma, xi = p
    w = np.clip(-np.log(rng.exponential(size=mu.shape)), -2 / np.maximum(xi, 0.1), 2 / np.maximum(-xi, 0.1))
    return mu + sigma * np.where(xi == 0, w, np.expm1(xi * w) / xi)


def gumbel_min(x, mu, beta):
    return known.gumbel(-x, -mu, beta)


def weibull_max(x, alpha, beta):
    return -mp.inf if x > 0 else known.weibull(-x, alpha, beta)


REFERENCES = {
    "generalized_extreme_value": family(
        generalized_extreme_value,
        lambda x, mu, sigma, xi: from_log_cdf(-mp.exp(-log_power((x - mu) / sigma, xi))),
        parameters(real(), positive(), real(0.3)),
        (lambda mu, sigma, xi: mu - sigma / xi if xi > 0 else -inf, lambda mu, sigma, xi: mu - sigma / xi if xi < 0 else inf),
        [(inf, 0, 1, 0), (-inf, 0, 1, 0), (inf, 0, 1, 0.5), (-inf, 0, 1, -0.5), (0.5, 0, 1, 0), (0.5, 0, 1, 1e-30),
         (-3, 0, 1, 1e-9), (50, 0, 1, -1e-4), (-2, 0, 1, 0.5), (-3, 0, 1, 0.5), (2, 0, 1, -0.5), (1, 0, 1, -1),
         (3, 0, 1, -0.5), (0.5, 0, 1, -2), (0.25, 0, 1, -1), (1e30, 0, 1, 1), (-1e10, 0, 1, -0.5), (1e3, 0, 1, 1e-20),
         (1e-30, 0, 1e-30, 0.1)],
        [(0, 0, 1), (0, -1, 1), (np.nan, 1, 0), (0, np.nan, 0), (0, 1, np.nan)],
        lambda mu, sigma, xi: stats.genextreme(-np.asarray(xi), mu, sigma), inside,
        [(0, 1, 0), (-5, 3, 0.4), (0, 1, -0.5), (0, 1, 3), (0, 1, -3), (0, 1, 1e-30), (10, 1, -1)],
        rtol32=1e-4, reason="near an end of the support the rounding error of x - mu counts",
    ),
    "gumbel_min": family(
        gumbel_min, lambda x, mu, beta: from_log_sf(-mp.exp((x - mu) / beta)), parameters(real(), positive()), (-inf, inf),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (-1e5, 0, 1), (20, 0, 1), (300, 0, 1), (1000, 0, 1), (1, 1, 1e-20),
         (1, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.gumbel_l, lambda rng, p: around(rng, p[0], p[1], 1.5), [(0, 1), (-5, 3)],
    ),
    "weibull_max": family(
        weibull_max, lambda x, alpha, beta: from_log_cdf(-((-x / beta) ** alpha)), parameters(positive(0.2, 20), positive()),
        (-inf, 0),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (1, 2, 1), (-inf, 2, 1), (-inf, 0.5, 1), (inf, 1, 1), (-1e-30, 2, 1),
         (-1e30, 0.1, 1), (-1, 20, 1), (-1e-10, 1e-3, 1), (-1e3, 5, 500)],
        INVALID_PAIR, lambda alpha, beta: stats.weibull_max(alpha, scale=beta),
        lambda rng, p: -p[1] * rng.exponential(3, p[0].shape) ** (1 / p[0]), [(1, 1), (0.05, 2), (100, 3)],
    ),
}  # fmt: skip
