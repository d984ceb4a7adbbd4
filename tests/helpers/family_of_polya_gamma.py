"""The Polya-Gamma distribution: reference values by its alternating series, with as many digits as cancel in it."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references import log_uniform
from scipy import special

inf, nan = np.inf, np.nan


def digits(x, h, z=0):
    """As many as cancel, and those of the smaller tail, about exp(-x (pi^2 + z^2) / 2)."""
    return mp.mp.dps + int(2.5 * x + h + 0.25 * x * z**2) + 30


def alternating(h, term):
    """The sum of Gamma(n + h) / (Gamma(h) n!) (-1)^n term(n)."""
    total, factor, n, size = mp.mpf(0), mp.mpf(1), 0, mp.inf
    while n < 5 or size > mp.eps * abs(total):
        part = factor * term(n)
        total, size, n = total + part, abs(part), n + 1
        factor *= -(h + n - 1) / n
    return total


def polya_gamma(x, h, z):
    if x <= 0 or mp.isinf(x):
        return -mp.inf
    with mp.workdps(digits(x, h)):
        series = alternating(h, lambda n: (2 * n + h) * mp.exp(-n * (n + h) / (2 * x)))
        power = h * mp.log(mp.cosh(z / 2)) - x * z * z / 2 - h * h / (8 * x)
        return power + (h - 1) * mp.log(2) - mp.log(2 * mp.pi * x**3) / 2 + mp.log(series)


def tails(x, h, z):
    """Every term is the probability that a Brownian motion of drift |z| has reached h / 2 + n."""
    with mp.workdps(digits(x, h, z)):
        z, root = abs(z), mp.sqrt(2 * x)

        def reached(n):
            a = (2 * n + h) / 2
            return mp.exp(-a * z) * mp.erfc((a - z * x) / root) + mp.exp(a * z) * mp.erfc((a + z * x) / root)

        below = (2 * mp.cosh(z / 2)) ** h * alternating(h, reached) / 2
        return below, 1 - below


def cdf(x, h, z):
    """The series in double precision, in which some digits cancel."""
    n, z = np.arange(200), abs(z)
    x = np.clip(x, 1e-300, 60 * (1 + h))[:, None]
    a, root = n + h / 2, np.sqrt(x)
    factor = special.gammaln(n + h) - special.gammaln(h) - special.gammaln(n + 1) + h * np.log(2 * np.cosh(z / 2))
    parts = [np.exp(factor + sign * a * z + special.log_ndtr(-(a + sign * z * x) / root)) for sign in (-1, 1)]
    return ((-1.0) ** n * sum(parts)).sum(1)


def theirs(h, z):
    mean = h / 4 if z == 0 else h * np.tanh(z / 2) / (2 * z)
    var = h / 24 if z == 0 else h * (np.sinh(z) - z) / (4 * z**3 * np.cosh(z / 2) ** 2)
    return SimpleNamespace(cdf=lambda x: cdf(np.asarray(x, float), h, z), stats=lambda moments: (mean, var, nan))


def parameters(rng, n):
    return log_uniform(rng, 0.05, 30, n), rng.normal(0, 4, n)


def observations(rng, parameters):
    """Sums of gamma variables, some of them far out."""
    h, z = (p[:, None] for p in parameters)
    k = np.arange(200)
    x = (rng.gamma(h, size=(len(h), 200)) / (2 * np.pi**2 * (k + 0.5) ** 2 + z**2 / 2)).sum(1)
    return x * log_uniform(rng, 0.3, 3, len(h)) + 1e-4 * h[:, 0] ** 2


REFERENCES = {
    "polya_gamma": family(
        polya_gamma, tails, parameters, (0, inf),
        [(0, 1, 0), (inf, 1, 0), (0.25, 1, 0), (1e-3, 1, 0), (20, 1, 0), (0.3, 1, 30), (0.025, 1, 40), (1e-5, 1e-2, 3),
         (0.01, 0.01, 0), (3, 0.01, 2), (2.5, 10, 0), (2.5, 10, 1e-8), (30, 10, -0.5), (1e-30, 1, 1), (5, 20, 1e-3)],
        [(0, 1), (-1, 1), (nan, 1), (1, nan)],
        theirs, observations, [(1, 0), (1, 2.5), (3, -4), (2.5, 1), (0.3, 0), (40, 1), (1, 30)], scipy=False, digits=40,
    ),
}  # fmt: skip
