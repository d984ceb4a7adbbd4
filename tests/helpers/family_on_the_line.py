"""Distributions on the whole line, with a location and a scale."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references_continuous import INVALID_LOCATION_SCALE, around, inf, location_scale, parameters, positive, real
from scipy import stats
from tails import from_log_cdf, from_log_sf, ndtr

INVALID_SHAPE = [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)]


def last_two(reach=2.5):
    """Observations around a location, the last parameter but one, at up to many scales from there."""
    return lambda rng, p: around(rng, p[-2], p[-1], reach)


def log_ndtr(z):
    return mp.log(ndtr(z)) if z < 0 else mp.log1p(-ndtr(-z))


def hyperbolic_secant(x, mu, sigma):
    return -mp.inf if mp.isinf(x) else -mp.log(mp.pi * sigma * mp.cosh((x - mu) / sigma))


def hyperbolic_secant_tails(x, mu, sigma):
    z = (x - mu) / sigma
    return 2 / mp.pi * mp.atan(mp.exp(z)), 2 / mp.pi * mp.atan(mp.exp(-z))


def generalized_logistic(x, alpha, mu, sigma):
    z = (x - mu) / sigma
    return -mp.inf if mp.isinf(x) else mp.log(alpha / sigma) - z - (alpha + 1) * mp.log1p(mp.exp(-z))


def double_weibull(x, alpha, mu, sigma):
    return known.weibull(abs(x - mu), alpha, sigma) - mp.log(2) if x != mu or alpha == 1 else mp.inf if alpha < 1 else -mp.inf


def double_weibull_tails(x, alpha, mu, sigma):
    tail = mp.exp(-((abs(x - mu) / sigma) ** alpha)) / 2
    return (tail, 1 - tail) if x < mu else (1 - tail, tail)


def skew_cauchy(x, a, mu, sigma):
    return known.cauchy(x, mu, sigma * (1 + a if x >= mu else 1 - a)) + mp.log(1 + a if x >= mu else 1 - a)


def skew_cauchy_tails(x, a, mu, sigma):
    if x > mu:
        return skew_cauchy_tails(-x, -a, -mu, sigma)[::-1]
    p = (1 - a) * mp.atan2(1 - a, (mu - x) / sigma) / mp.pi
    return p, 1 - p


def power_normal(x, p, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    return mp.log(p) + known.normal(x, mu, sigma) + (p - 1) * log_ndtr((mu - x) / sigma)


REFERENCES = {
    "hyperbolic_secant": family(
        hyperbolic_secant, hyperbolic_secant_tails, parameters(real(), positive()), (-inf, inf),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e5, 0, 1), (-1e5, 0, 1), (1e-10, 0, 1), (1, 1, 1e-20), (1, 0, 1e20),
         (-18, 0, 1), (-9, 0, 1)],
        INVALID_LOCATION_SCALE, stats.hypsecant, location_scale, [(0, 1), (-5, 1e-3), (0, 1e20)],
    ),
    "generalized_logistic": family(
        generalized_logistic, lambda x, alpha, mu, sigma: from_log_cdf(-alpha * mp.log1p(mp.exp((mu - x) / sigma))),
        parameters(positive(), real(), positive()), (-inf, inf),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 1, 0, 1), (1e5, 2, 0, 1), (-1e5, 2, 0, 1), (1, 1e-10, 0, 1), (30, 1e10, 0, 1),
         (-1e3, 1e-3, 0, 1), (40, 0.5, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20)],
        INVALID_SHAPE, stats.genlogistic, last_two(), [(1, 0, 1), (0.05, 0, 1), (1e6, 2, 0.1), (3, -1, 2)],
    ),
    "double_weibull": family(
        double_weibull, double_weibull_tails, parameters(positive(0.2, 10), real(), positive()), (-inf, inf),
        [(0, 1, 0, 1), (0, 0.5, 0, 1), (3, 2, 3, 1), (inf, 2, 0, 1), (-inf, 0.5, 0, 1), (1e-30, 2, 0, 1), (-1e30, 0.1, 0, 1),
         (-1, 20, 0, 1), (1e-10, 1e-3, 0, 1), (-1e3, 5, 0, 500)],
        INVALID_SHAPE, stats.dweibull,
        lambda rng, p: p[1] + p[2] * rng.choice([-1, 1], p[0].shape) * rng.exponential(3, p[0].shape) ** (1 / p[0]),
        [(1, 0, 1), (0.3, 1, 2), (30, 0, 3)],
        rtol32=1e-4, reason="the rounding error of x - mu counts alpha times",
    ),
    "skew_cauchy": family(
        skew_cauchy, skew_cauchy_tails, parameters(lambda rng, n: rng.uniform(-0.95, 0.95, n), real(), positive()), (-inf, inf),
        [(inf, 0.5, 0, 1), (-inf, 0.5, 0, 1), (0, 0.5, 0, 1), (1e30, 0, 0, 1), (-1e300, 0.9, 0, 1), (1e-10, 0.3, 0, 1),
         (1, 0.5, 0, 1e-30), (1, -0.5, 0, 1e30), (-1, 1 - 2**-20, 0, 1), (1, 1 - 2**-20, 0, 1), (1e20, 0.5, 1e10, 1e5)],
        [(1, 0, 1), (-1, 0, 1), (2, 0, 1), (0, 0, 0), (0, 0, -1), (np.nan, 0, 1), (0, np.nan, 1), (0, 0, np.nan)],
        stats.skewcauchy, last_two(8), [(0, 0, 1), (0.9, -10, 0.01), (-0.999, 0, 1e20)],
    ),
    "power_normal": family(
        power_normal, lambda x, p, mu, sigma: from_log_sf(p * log_ndtr((mu - x) / sigma)),
        parameters(positive(), real(), positive()), (-inf, inf),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 1, 0, 1), (1e4, 2, 0, 1), (-1e4, 2, 0, 1), (-9, 0.5, 0, 1), (3, 1e-10, 0, 1),
         (-7, 1e10, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20), (40, 1e-3, 0, 1)],
        INVALID_SHAPE, stats.powernorm, last_two(), [(1, 0, 1), (1e-3, 0, 1), (1e6, 2, 0.1), (3, -1, 2)],
    ),
}  # fmt: skip
