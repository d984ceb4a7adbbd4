"""Densities of lifetimes, and of extreme ones, in closed form."""

import mpmath as mp
import numpy as np
from families import Corrected, family
from family_power_laws import INVALID_TRIPLE, SHAPE, power
from references_continuous import INVALID_PAIR, INVALID_SCALE, absolute, around, inf, parameters, positive
from scipy import stats
from tails import from_log_cdf, from_log_sf


def frechet(x, alpha, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return mp.log(alpha / sigma) - (alpha + 1) * mp.log(z) - z**-alpha


def exponentiated_weibull(x, alpha, theta, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    if not z:
        return mp.log(alpha * theta / sigma) + power(alpha * theta - 1, z)
    w = z**alpha
    return mp.log(alpha * theta / sigma) + (alpha - 1) * mp.log(z) - w + (theta - 1) * mp.log(-mp.expm1(-w))


def exponentiated_weibull_tails(x, alpha, theta, sigma):
    w = (x / sigma) ** alpha
    return from_log_cdf(theta * (mp.log1p(-mp.exp(-w)) if w > 1 else mp.log(-mp.expm1(-w))))


def exponential_power(x, b, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    w = z**b
    return mp.log(b / sigma) + power(b - 1, z) + w - mp.expm1(w) if w < 1e5 else -mp.inf


def exponential_power_tails(x, b, sigma):
    w = (x / sigma) ** b
    return from_log_sf(-mp.expm1(w) if w < 1e5 else -mp.inf)


def gompertz(x, eta, sigma):
    return -mp.inf if mp.isinf(x) else mp.log(eta / sigma) + x / sigma - eta * mp.expm1(x / sigma)


def rayleigh(x, sigma):
    return -mp.inf if mp.isinf(x) else mp.log(x) - (x / sigma) ** 2 / 2 - 2 * mp.log(sigma)


def half_logistic(x, sigma):
    return mp.log(2 / sigma) - x / sigma - 2 * mp.log1p(mp.exp(-x / sigma))


def half_logistic_tails(x, sigma):
    return mp.tanh(x / sigma / 2), 2 / (1 + mp.exp(x / sigma))


def transformed(x, c, sigma):
    return -mp.log1p(-c * x / sigma) / c


def generalized_half_logistic(x, c, sigma):
    if c * x > sigma:
        return -mp.inf
    y = transformed(x, c, sigma)
    return half_logistic(y, mp.mpf(1)) + c * y - mp.log(sigma) if mp.isfinite(y) else _at_end(c, sigma)


def _at_end(c, sigma):
    return mp.log(2 / sigma) if c == 1 else mp.inf if c > 1 else -mp.inf


def generalized_exponential(x, a, b, c, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return mp.log((a - b * mp.expm1(-c * z)) / sigma) - (a + b) * z - b / c * mp.expm1(-c * z)


def generalized_exponential_tails(x, a, b, c, sigma):
    z = x / sigma
    return from_log_sf(-(a + b) * z - b / c * mp.expm1(-c * z))


EXPONENTS = "an exponential of a rounded number is large"

REFERENCES = {
    "frechet": family(
        frechet, lambda x, alpha, sigma: from_log_cdf(-((x / sigma) ** -alpha)), parameters(positive(0.2, 10), positive()),
        (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (inf, 2, 1), (inf, 0.5, 1), (1e-30, 0.1, 1), (1e30, 2, 1), (1e30, 30, 1),
         (0.9, 20, 1), (1e-30, 3, 1e-30), (1e-3, 5, 1)],
        INVALID_PAIR, lambda alpha, sigma: Corrected(stats.invweibull(alpha, scale=sigma), alpha),
        lambda rng, p: p[1] * rng.exponential(3, p[0].shape) ** (-1 / p[0]), [(1, 1), (0.1, 2), (100, 3)],
    ),
    "exponentiated_weibull": family(
        exponentiated_weibull, exponentiated_weibull_tails, parameters(SHAPE, SHAPE, positive()), (0, inf),
        [(0, 1, 1, 2), (0, 0.5, 2, 2), (0, 2, 0.25, 1), (0, 2, 2, 1), (inf, 2, 1, 1), (1e-30, 2, 3, 1), (30, 2, 3, 1),
         (1e-30, 0.5, 100, 1), (1e-20, 30, 0.01, 1), (2, 2, 1e5, 2), (1e-30, 3, 1, 1e-30), (1e30, 0.05, 2, 1)],
        INVALID_TRIPLE, lambda alpha, theta, sigma: stats.exponweib(theta, alpha, scale=sigma),
        drawn=[(1, 1, 1), (0.5, 3, 2), (20, 0.05, 1e5)],
    ),
    "exponential_power": family(
        exponential_power, exponential_power_tails, parameters(positive(0.3, 4), positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (inf, 2, 1), (inf, 0.5, 1), (1e-30, 2, 1), (50, 1, 1), (5, 2, 1), (1e-30, 30, 1),
         (1e-30, 3, 1e-30), (1e4, 0.4, 1), (1e30, 2, 1)],
        INVALID_PAIR, lambda b, sigma: stats.exponpow(b, scale=sigma), drawn=[(1, 1), (0.1, 2), (30, 1e5)],
        rtol32=1e-4, reason=EXPONENTS,
    ),
    "gompertz": family(
        gompertz, lambda x, eta, sigma: from_log_sf(-eta * mp.expm1(x / sigma)), parameters(positive(0.01, 10), positive()),
        (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (inf, 2, 1), (inf, 0.5, 1), (1e-30, 2, 1), (50, 1, 1), (30, 1e-10, 1), (1e-20, 1e20, 1),
         (1e-30, 3, 1e-30), (1e4, 1, 1), (80, 1e-30, 1)],
        INVALID_PAIR, lambda eta, sigma: stats.gompertz(eta, scale=sigma), drawn=[(1, 1), (1e-10, 2), (1e4, 1e5)],
    ),
    "half_logistic": family(
        half_logistic, half_logistic_tails, parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (1e-30, 1), (1e5, 1), (1e-30, 1e-30), (1, 1e30), (50, 1), (30, 2)],
        INVALID_SCALE, lambda sigma: stats.halflogistic(scale=sigma), absolute(0), [(1,), (1e-30,), (1e10,)],
    ),
    "generalized_half_logistic": family(
        generalized_half_logistic, lambda x, c, sigma: half_logistic_tails(transformed(x, c, sigma), mp.mpf(1)),
        parameters(positive(0.05, 3), positive()), (0, lambda c, sigma: sigma / c),
        [(0, 1, 2), (0, 3, 1), (1, 1, 1), (1, 0.5, 0.5), (0.5, 2, 1), (0.5, 1, 1), (2, 1, 1), (inf, 1, 1), (1e-30, 2, 1),
         (50, 1e-9, 1), (20, 1e-30, 1), (1e-30, 3, 1e-28), (1023, 1, 1024)],
        INVALID_PAIR, lambda c, sigma: stats.genhalflogistic(c, scale=sigma),
        lambda rng, p: -p[1] * np.expm1(-p[0] * np.minimum(rng.exponential(2, p[0].shape), 5 / p[0])) / p[0],
        [(1, 1), (0.1, 2), (5, 1e5)], rtol32=1e-4, reason="near its upper end, the rounding error of x counts",
    ),
    "generalized_exponential": family(
        generalized_exponential, generalized_exponential_tails, parameters(SHAPE, SHAPE, SHAPE, positive()), (0, inf),
        [(0, 1, 1, 1, 2), (inf, 1, 1, 1, 1), (1e-30, 1, 2, 3, 1), (1e5, 1, 2, 3, 1), (1e-3, 1e-30, 2, 3, 1),
         (1, 1, 1e-30, 1, 1), (1, 1, 1e5, 1e-5, 1), (1, 1, 2, 1e30, 1), (3, 1, 2, 1e-30, 1), (1e-30, 1, 2, 3, 1e-30)],
        [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0), (-1, 1, 1, 1), (np.nan, 1, 1, 1), (1, 1, 1, np.nan)],
        lambda a, b, c, sigma: stats.genexpon(a, b, c, scale=sigma), lambda rng, p: np.abs(around(rng, 0, p[3] / p[0], 1.5)),
        [(1, 1, 1, 1), (1e-5, 3, 0.1, 2), (0.01, 1, 1e4, 3), (1, 1e5, 1e-3, 1)],
    ),
    "rayleigh": family(
        rayleigh, lambda x, sigma: from_log_sf(-((x / sigma) ** 2) / 2), parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (1e-30, 1), (1e5, 1), (1e-30, 1e-30), (1, 1e30), (1e-150, 1e-150)],
        INVALID_SCALE, lambda sigma: stats.rayleigh(scale=sigma), absolute(0), [(1,), (1e-30,), (1e10,)],
    ),
}  # fmt: skip
