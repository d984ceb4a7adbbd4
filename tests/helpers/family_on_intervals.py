"""Distributions on bounded intervals, and on the circle."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references_continuous import (
    INVALID_LOCATION_SCALE,
    INVALID_SCALE,
    anywhere_in_unit,
    around,
    inf,
    interval,
    normal_probability,
    parameters,
    positive,
    real,
    within,
)
from scipy import stats
from tails import beta, from_log_cdf, gamma

#: An end of the support that the number 0 lies behind, whose probability is not 0.
BELOW_ZERO = mp.mpf("-1e-400")
NEAR_THE_ENDS = "near the ends the rounding error of x - mu counts"


def trapezoid(rng, n):
    lower, upper = interval(rng, n)
    c, d = np.sort(rng.uniform(0.02, 0.98, (2, n)), 0)
    return lower, upper, lower + c * (upper - lower), lower + d * (upper - lower)


def trapezoidal(x, lower, upper, c, d):
    if not lower <= x <= upper:
        return -mp.inf
    height = (x - lower) / (c - lower) if x < c else (upper - x) / (upper - d) if x > d else 1
    return mp.log(2 * height / (upper - lower + d - c))


def trapezoidal_tails(x, lower, upper, c, d):
    width = upper - lower + d - c
    if x > d:
        return trapezoidal_tails(-x, -upper, -lower, -d, -c)[::-1]
    p = (x - lower) ** 2 / ((c - lower) * width) if x < c else (c - lower + 2 * (x - c)) / width
    return p, 1 - p


def bradford_tails(x, c):
    return mp.log1p(c * x) / mp.log1p(c), (mp.log1p(c) - mp.log1p(c * x)) / mp.log1p(c)


def centered(reach):
    """Observations at less than `reach` scales from their location"""
    return lambda rng, p: p[0] + reach * p[1] * rng.uniform(-0.97, 0.97, p[0].shape)


def bounded(reach):
    """The ends of an interval of half-length `reach` around a location"""
    return lambda mu, sigma: mu - reach * sigma, lambda mu, sigma: mu + reach * sigma


def anglit(x, mu, sigma):
    z = (x - mu) / sigma
    return mp.log(mp.cos(2 * z) / sigma) if abs(z) < mp.pi / 4 else -mp.inf


def anglit_tails(x, mu, sigma):
    z = (x - mu) / sigma
    return mp.sin(mp.pi / 4 + z) ** 2, mp.cos(mp.pi / 4 + z) ** 2


def cosine(x, mu, sigma):
    z = (x - mu) / sigma
    return mp.log((1 + mp.cos(z)) / (2 * mp.pi * sigma)) if abs(z) < mp.pi else -mp.inf


def cosine_tails(x, mu, sigma):
    z = (x - mu) / sigma
    return (mp.pi + z + mp.sin(z)) / (2 * mp.pi), (mp.pi - z - mp.sin(z)) / (2 * mp.pi)


def semicircular(x, mu, sigma):
    z = (x - mu) / sigma
    return mp.log(2 / (mp.pi * sigma) * mp.sqrt(1 - z * z)) if abs(z) < 1 else -mp.inf


def semicircular_tails(x, mu, sigma):
    z = (x - mu) / sigma
    half = (z * mp.sqrt(1 - z * z) + mp.asin(z)) / mp.pi
    return 0.5 + half, 0.5 - half


def arcsine(x, lower, upper):
    if x in (lower, upper):
        return mp.inf
    return -mp.log(mp.pi * mp.sqrt((x - lower) * (upper - x))) if lower < x < upper else -mp.inf


def arcsine_tails(x, lower, upper):
    return tuple(2 / mp.pi * mp.asin(mp.sqrt(d / (upper - lower))) for d in (x - lower, upper - x))


def power_function(x, alpha):
    return mp.log(alpha) + ((alpha - 1) * mp.log(x) if alpha != 1 else 0)


def wrapped_cauchy(x, mu, rho):
    if mp.isinf(x):
        return -mp.inf
    return mp.log((1 - rho**2) / (2 * mp.pi * (1 + rho**2 - 2 * rho * mp.cos(x - mu))))


def wrapped_cauchy_tails(x, mu, rho):
    t = (1 + rho) / (1 - rho) * mp.tan((x - mu) / 2)
    return mp.atan2(1, -t) / mp.pi, mp.atan2(1, t) / mp.pi


def wrapped_cauchy_known(mu, rho):
    """Where scipy.stats' distribution is cut, ours is not."""
    def cdf(x):
        return np.arctan2(1, -(1 + rho) / (1 - rho) * np.tan(np.clip((x - mu) / 2, -np.pi / 2, np.pi / 2))) / np.pi

    return SimpleNamespace(cdf=cdf, stats=lambda moments: (np.nan,) * 3)


def cardioid(x, mu, rho):
    return -mp.inf if mp.isinf(x) else log((1 + 2 * rho * mp.cos(x - mu)) / (2 * mp.pi))


def cardioid_tails(x, mu, rho):
    d = x - mu
    half = (d + 2 * rho * mp.sin(d)) / (2 * mp.pi)
    return 0.5 + half, 0.5 - half


def log(p):
    return mp.log(p) if p else -mp.inf


def wrapped_normal(x, mu, sigma):
    """By Jacobi's theta function, or, of a narrow one, as the sum over turns"""
    if mp.isinf(x):
        return -mp.inf
    d = x - mu - 2 * mp.pi * mp.nint((x - mu) / (2 * mp.pi))
    if sigma < 1:
        return log(mp.fsum(mp.npdf(d + 2 * mp.pi * k, 0, sigma) for k in range(-6, 7)))
    return log(mp.jtheta(3, d / 2, mp.exp(-(sigma**2) / 2)) / (2 * mp.pi))


def wrapped_normal_tails(x, mu, sigma):
    """As the sum over turns; a wide one as that over harmonics"""
    d = x - mu
    if sigma > 3:
        half = (d / 2 + mp.fsum(mp.exp(-((n * sigma) ** 2) / 2) * mp.sin(n * d) / n for n in range(1, 9))) / mp.pi
        return 0.5 + half, 0.5 - half

    def between(low, high):
        turns = [2 * mp.pi * k for k in range(-6, 7)]
        return mp.fsum(normal_probability((t + low) / sigma, (t + high) / sigma) for t in turns)

    return between(-mp.pi, d), between(d, mp.pi)


def on_the_circle(below):
    """What draws are compared with, from a function of the angle between a number and mu, and of the other parameter"""
    def theirs(mu, spread):
        return SimpleNamespace(cdf=lambda x: below(np.clip(x - mu, -np.pi, np.pi), spread), stats=lambda moments: (np.nan,) * 3)

    return theirs


def cardioid_below(d, rho):
    return (np.pi + d + 2 * rho * np.sin(d)) / (2 * np.pi)


def wrapped_normal_below(d, sigma):
    angles = np.linspace(-1, 1, 2001) * min(np.pi, 10 * sigma)
    turns = 2 * np.pi * np.arange(-200, 201)[:, None]
    below = (stats.norm.cdf((turns + angles) / sigma) - stats.norm.cdf((turns - np.pi) / sigma)).sum(0)
    return np.interp(d, angles, below)


def beta_proportion(x, mu, kappa):
    def log_power(exponent, y):
        return exponent * mp.log(y) if exponent else mp.mpf(0)

    a, b = kappa * mu, kappa * (1 - mu)
    return log_power(a - 1, x) + log_power(b - 1, 1 - x) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(kappa)


def below_one(rng, p):
    return np.minimum(anywhere_in_unit(rng, p), 1 - 2**-20)


def zero_one_inflated_beta(x, mu, phi, zoi, coi):
    if x in (0, 1):
        return log(zoi * (coi if x else 1 - coi))
    return log(1 - zoi) + beta_proportion(x, mu, phi)


def zero_one_inflated_beta_tails(x, mu, phi, zoi, coi):
    below, above = beta(phi * mu, phi * (1 - mu), x, 1 - x)
    return zoi * (1 - coi) + (1 - zoi) * below, zoi * coi + (1 - zoi) * above


def zero_one_inflated_beta_known(mu, phi, zoi, coi):
    inner = stats.beta(phi * mu, phi * (1 - mu))
    mean, second = (zoi * coi + (1 - zoi) * inner.moment(k) for k in (1, 2))
    return SimpleNamespace(
        cdf=lambda x: np.where(x < 0, 0, np.where(x >= 1, 1, zoi * (1 - coi) + (1 - zoi) * inner.cdf(x))),
        stats=lambda moments: (mean, second - mean**2, np.nan),
    )


def argus(x, chi):
    if x in (0, 1):
        return -mp.inf
    s = (1 - x) * (1 + x)
    norm = gamma(mp.mpf(3) / 2, chi**2 / 2)[0] / 2
    return 3 * mp.log(chi) - mp.log(2 * mp.pi) / 2 - mp.log(norm) + mp.log(x) + mp.log(s) / 2 - chi**2 * s / 2


def argus_tails(x, chi):
    half, c = mp.mpf(3) / 2, chi**2 / 2
    below, above = gamma(half, c * (1 - x) * (1 + x))
    whole, rest = gamma(half, c)
    return (above - rest if c > 1 else whole - below) / whole, below / whole


def rdist(x, c):
    if abs(x) > 1:
        return -mp.inf
    if abs(x) == 1 and c != 2:
        return mp.inf if c < 2 else -mp.inf
    half = mp.mpf(1) / 2
    return ((c / 2 - 1) * mp.log((1 - x) * (1 + x)) if c != 2 else 0) - mp.log(mp.beta(half, c / 2))


def rdist_tails(x, c):
    tail = beta(c / 2, mp.mpf(1) / 2, (1 - x) * (1 + x), x * x)[0] / 2
    return (tail, 1 - tail) if x < 0 else (1 - tail, tail)


REFERENCES = {
    "trapezoidal": family(
        trapezoidal, trapezoidal_tails, trapezoid, (lambda *p: p[0], lambda *p: p[1]),
        [(0, 0, 3, 1, 2), (3, 0, 3, 1, 2), (1, 0, 3, 1, 2), (2, 0, 3, 1, 2), (0, 0, 3, 0, 0), (3, 0, 3, 3, 3),
         (1, 0, 3, 0, 3), (0, 0, 3, 0, 3), (1.5, 0, 3, 1.5, 1.5), (-1, 0, 3, 1, 2), (4, 0, 3, 1, 2), (inf, 0, 3, 1, 2),
         (-inf, 0, 3, 1, 2),
         (1e-30, 0, 3, 1, 2), (1e20, -1e25, 1e25, 0, 1e24)],
        [(0, 0, 0, 0), (0, 1, -1, 0.5), (0, 1, 0.5, 2), (0, 1, 0.7, 0.3), (1, 0, 0.5, 0.5), (np.nan, 1, 0, 0),
         (0, 1, np.nan, 1), (0, 1, 0, np.nan), (0, np.nan, 0.5, 0.5)],
        lambda a, b, c, d: stats.trapezoid((c - a) / (b - a), (d - a) / (b - a), a, b - a), within,
        [(0, 1, 0.2, 0.7), (0, 1, 0, 1), (0, 1, 0, 0), (0, 1, 1, 1), (-5, 10, -4.9, 9), (1000, 1001, 1000.5, 1000.5)],
    ),
    "bradford": family(
        lambda x, c: mp.log(c / mp.log1p(c)) - mp.log1p(c * x), bradford_tails, parameters(positive()), (0, 1),
        [(0, 1), (1, 1), (0.5, 1e-30), (0.5, 1e30), (1e-30, 1e20), (0, 1e10), (1, 1e10), (1 - 2**-20, 3), (0.25, 1e-9)],
        INVALID_SCALE, stats.bradford, anywhere_in_unit, [(1,), (1e-9,), (1e6,), (0.3,)],
    ),
    "anglit": family(
        anglit, anglit_tails, parameters(real(), positive()), bounded(mp.pi / 4),
        [(0, 0, 1), (0.75, 0, 1), (-0.75, 0, 1), (1, 0, 1), (inf, 0, 1), (-inf, 0, 1), (1e-10, 0, 1), (1, 1, 1e-20),
         (1e19, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.anglit, centered(np.pi / 4), [(0, 1), (-5, 3), (0, 1e-10)],
        rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "cosine": family(
        cosine, cosine_tails, parameters(real(), positive()), bounded(mp.pi),
        [(0, 0, 1), (3, 0, 1), (-3, 0, 1), (4, 0, 1), (inf, 0, 1), (-inf, 0, 1), (1e-10, 0, 1), (1, 1, 1e-20), (1e19, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.cosine, centered(np.pi), [(0, 1), (-5, 3), (0, 1e-10)],
        rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "semicircular": family(
        semicircular, semicircular_tails, parameters(real(), positive()), bounded(1),
        [(0, 0, 1), (1, 0, 1), (-1, 0, 1), (1 - 2**-20, 0, 1), (2**-20 - 1, 0, 1), (1.5, 0, 1), (inf, 0, 1), (-inf, 0, 1),
         (1e-10, 0, 1), (1, 1, 1e-20), (1e19, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.semicircular, centered(1), [(0, 1), (-5, 3), (0, 1e-10)],
        rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "arcsine": family(
        arcsine, arcsine_tails, interval, (lambda lower, upper: lower, lambda lower, upper: upper),
        [(0, 0, 1), (1, 0, 1), (-0.1, 0, 1), (1.1, 0, 1), (inf, 0, 1), (-inf, 0, 1), (1e-30, 0, 1), (1 - 2**-20, 0, 1),
         (0, -1e30, 1e30), (1e-30, 0, 2e-30)],
        [(0, 0), (1, 0), (np.nan, 1), (0, np.nan)], lambda lower, upper: stats.arcsine(lower, upper - lower), within,
        [(0, 1), (-3, 7), (-1e-30, 1e-30)],
    ),
    "power_function": family(
        power_function, lambda x, alpha: from_log_cdf(alpha * mp.log(x)), parameters(positive(0.1, 20)), (0, 1),
        [(0, 1), (0, 0.5), (0, 2), (1, 1), (1, 0.5), (1, 1e3), (1e-30, 0.5), (0.5, 1e-10), (0.99, 1e4), (1 - 2**-20, 3)],
        INVALID_SCALE, stats.powerlaw, anywhere_in_unit, [(1,), (0.05,), (100,)],
    ),
    "wrapped_cauchy": family(
        wrapped_cauchy, wrapped_cauchy_tails,
        parameters(lambda rng, n: rng.uniform(-3, 3, n), lambda rng, n: rng.uniform(-0.95, 0.95, n)),
        (lambda mu, rho: mu - mp.pi, lambda mu, rho: mu + mp.pi),
        [(0, 0, 0), (0, 0, 0.5), (3, 0, 0.5), (-3, 0, -0.5), (1e-3, 0, 1 - 2**-20), (0, 0, 1 - 2**-20), (0, 0, 2**-20 - 1),
         (3, 0, 2**-20 - 1), (100, 0, 0.3), (inf, 0, 0.5), (-inf, 0, 0.5), (1, 1, 1e-30), (1, 1 + 2**-20, 0.9999)],
        [(0, 1), (0, -1), (0, 2), (np.nan, 0.5), (0, np.nan)], wrapped_cauchy_known,
        lambda rng, p: p[0] + 2 * np.arctan((1 - p[1]) / (1 + p[1]) * np.tan(np.pi * rng.uniform(-0.47, 0.47, p[0].shape))),
        [(0, 0), (1, 0.5), (-2, 0.999), (3, -0.8)],
        scipy=False, rtol32=1e-4, reason="where x and mu are almost pi apart, the rounding error of x - mu counts",
    ),
    "argus": family(
        argus, argus_tails, parameters(positive()), (0, 1),
        [(0, 1), (1, 1), (0.5, 1e-10), (0.5, 1e-100), (1e-15, 1), (1e-10, 5), (0.5, 100), (0.99, 100), (1e-3, 1e3),
         (1 - 2**-20, 1),
         (0.54, 2.5), (0.55, 2.5)],
        INVALID_SCALE, stats.argus, lambda rng, p: rng.uniform(0.01, 0.99, p[0].shape) ** rng.choice([0.2, 1, 3], p[0].shape),
        [(1,), (0.01,), (10,), (1e-9,)],
    ),
    "rdist": family(
        rdist, rdist_tails, parameters(positive(0.1, 100)), (-1, 1),
        [(0, 2), (1, 1), (-1, 1), (1, 2), (-1, 2), (1, 3), (1.5, 2), (-1.5, 3), (inf, 2), (-inf, 2), (1e-30, 1), (0.5, 1e-10),
         (1e-3, 1e6), (-0.9, 1e3), (1 - 2**-20, 0.5), (2**-20 - 1, 30)],
        INVALID_SCALE, stats.rdist, lambda rng, p: rng.uniform(-0.999, 0.999, p[0].shape), [(2,), (0.1,), (1,), (30,)],
    ),
    "cardioid": family(
        cardioid, cardioid_tails,
        parameters(lambda rng, n: rng.uniform(-3, 3, n), lambda rng, n: rng.uniform(-0.5, 0.5, n)),
        (lambda mu, rho: mu - mp.pi, lambda mu, rho: mu + mp.pi),
        [(0, 0, 0), (0, 0, 0.5), (3, 0, 0.5), (-3, 0, -0.5), (0, 0, -0.5), (1e-3, 0, -0.5), (100, 0, 0.3), (inf, 0, 0.5),
         (-inf, 0, 0.5), (1, 1, 1e-30), (-3, 0, 0.5 - 2**-20), (3.125, 0, 0.5)],
        [(0, 0.75), (0, -0.75), (0, inf), (np.nan, 0.25), (0, np.nan)], on_the_circle(cardioid_below),
        lambda rng, p: p[0] + np.pi * rng.uniform(-0.97, 0.97, p[0].shape), [(0, 0), (1, 0.5), (-2, -0.3)],
        scipy=False, rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "wrapped_normal": family(
        wrapped_normal, wrapped_normal_tails, parameters(lambda rng, n: rng.uniform(-3, 3, n), positive(0.2, 6)),
        (lambda mu, sigma: mu - mp.pi, lambda mu, sigma: mu + mp.pi),
        [(0, 0, 1), (3, 0, 1), (-3, 0, 0.25), (3.125, 0, 0.0625), (1e-3, 0, 1e-3), (0, 0, 1e-30), (100, 0, 1), (100, 0, 3),
         (3, 0, 2.5), (3, 0, 2.515625), (1, 0, 30), (1, 0, 1e10), (-3, 0, 2.515625), (-2, 1, 2.5), (inf, 0, 1), (-inf, 0, 1)],
        INVALID_LOCATION_SCALE, on_the_circle(wrapped_normal_below),
        lambda rng, p: p[0] + np.clip(around(rng, 0 * p[1], p[1], 1), -3.1, 3.1), [(0, 1), (1, 0.05), (-2, 2.6), (3, 100)],
        scipy=False,
    ),
    "beta_proportion": family(
        beta_proportion, lambda x, mu, kappa: beta(kappa * mu, kappa * (1 - mu), x, 1 - x),
        parameters(lambda rng, n: rng.uniform(0.02, 0.98, n), positive(0.5, 500)), (0, 1),
        [(0, 0.5, 1), (1, 0.5, 1), (0, 0.5, 2), (1, 0.5, 2), (0, 0.25, 300), (1, 0.25, 300), (0.25, 0.25, 1e6),
         (0.5, 0.25, 1e3), (0.25390625, 0.25, 1e6), (0.25, 0.25, 1e12), (1e-30, 0.5, 1), (1 - 2**-20, 0.75, 300),
         (1e-10, 1e-10, 30), (0.5, 0.5, 1e-10), (0.5, 1 - 2**-20, 50), (1e-5, 1e-5, 1e6)],
        [(0, 1), (1, 1), (0.5, 0), (0.5, -1), (1.5, 1), (-0.5, 1), (np.nan, 1), (0.5, np.nan)],
        lambda mu, kappa: stats.beta(kappa * mu, kappa * (1 - mu)), below_one,
        [(0.5, 2), (0.01, 3), (0.9, 1e6), (0.3, 0.01)],
    ),
    "zero_one_inflated_beta": family(
        zero_one_inflated_beta, zero_one_inflated_beta_tails,
        parameters(lambda rng, n: rng.uniform(0.3, 0.7, n), positive(4, 300), *[lambda rng, n: rng.uniform(0.02, 0.3, n)] * 2),
        (BELOW_ZERO, 1),
        [(0, 0.5, 1, 0.5, 0.25), (1, 0.5, 1, 0.5, 0.25), (0, 0.5, 1, 0, 0.5), (1, 0.5, 1, 0, 0.5), (0.5, 0.5, 1, 0, 0.5),
         (0.5, 0.5, 1, 1, 0.5), (0, 0.5, 1, 1, 1), (1, 0.5, 1, 1, 1), (1, 0.5, 3, 1, 0), (0.5, 0.5, 3, 1e-30, 1e-30),
         (1e-30, 0.5, 1, 0.5, 0.5), (0.25, 0.25, 1e6, 0.5, 0.5)],
        [(0, 1, 0.5, 0.5), (1, 1, 0.5, 0.5), (0.5, 0, 0.5, 0.5), (0.5, 1, 1.5, 0.5), (0.5, 1, 0.5, -0.5), (np.nan, 1, 0.5, 0.5),
         (0.5, np.nan, 0.5, 0.5), (0.5, 1, np.nan, 0.5), (0.5, 1, 0.5, np.nan)],
        zero_one_inflated_beta_known, below_one,
        [(0.5, 2, 0.5, 0.5), (0.9, 30, 0.1, 0.9), (0.3, 0.1, 0, 0.5), (0.3, 5, 1, 0.25)], scipy=False,
    ),
}  # fmt: skip
