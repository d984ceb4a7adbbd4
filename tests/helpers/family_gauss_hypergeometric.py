"""The Gauss hypergeometric distribution, by that function and by quadrature."""

import mpmath as mp
import numpy as np
from families import Slow, family
from references_continuous import anywhere_in_unit, inf, parameters, positive, real
from scipy import stats
from tails import integrated

nan = np.nan


def log_norm(a, b, c, z):
    """With the argument -z or z / (1 + z), whichever lies within the circle in which the series converges"""
    if z > mp.mpf(0.5):
        return mp.log(mp.beta(a, b) * mp.hyp2f1(c, b, a + b, z / (1 + z))) - c * mp.log1p(z)
    return mp.log(mp.beta(a, b) * mp.hyp2f1(c, a, a + b, -z))


def gauss_hypergeometric(x, a, b, c, z):
    if not 0 <= x <= 1:
        return -mp.inf
    if x in (0, 1):
        power = a - 1 if x == 0 else b - 1
        return -mp.sign(power) * mp.inf if power else -c * mp.log1p(z * x) - log_norm(a, b, c, z)
    return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - c * mp.log1p(z * x) - log_norm(a, b, c, z)


def tails(x, a, b, c, z):
    def of_logit(v):
        return a * v - (a + b - c) * mp.log1p(mp.exp(v)) - c * mp.log1p((1 + z) * mp.exp(v)) - constant

    def slope(v):
        return a - (a + b - c) / (1 + mp.exp(-v)) - c / (1 + mp.exp(-v) / (1 + z))

    v, constant = mp.log(x / (1 - x)), log_norm(a, b, c, z)
    center = v - mp.sign(slope(v)) * mp.mpf(-1)
    return integrated(of_logit, v, center, mp.inf if v > center else -mp.inf, abs(slope(v)) + 1 + mp.sqrt(a + b), [0,
    -mp.log1p(z)])


def factors(rng, n):
    return np.exp(rng.uniform(-3, 3, n)) - 1


REFERENCES = {
    "gauss_hypergeometric": family(
        gauss_hypergeometric, tails, parameters(positive(0.2, 20), positive(0.2, 20), real(3), factors), (0, 1),
        [(0, 1, 2, 1, 1), (0, 0.5, 1, 1, 1), (0, 2, 1, 1, 1), (1, 2, 1, 1, 1), (1, 2, 0.5, 1, 1), (1, 1, 2, 1, 1),
         (0.5, 13.75, 3.125, 2.5, 5.1875), (1e-10, 0.5, 1, 2, 3), (0.5, 2, 3, 0, 1), (0.5, 2, 3, 1, 0), (0.25, 1, 100, 3, 2),
         (0.25, 2, 3, -5, 10), (0.75, 2, 3, 20, 100), (0.875, 1, 1, 5, -0.9375), (0.5, 30, 50, -40, 3)],
        [(0, 1, 1, 1), (1, 0, 1, 1), (-1, 1, 1, 1), (1, 1, 1, -1), (1, 1, 1, -2), (nan, 1, 1, 1), (1, nan, 1, 1),
         (1, 1, nan, 1),
         (1, 1, 1, nan), (inf, 1, 1, 1), (1, 1, 1, inf)],
        lambda a, b, c, z: Slow(stats.gausshyper(a, b, c, z)), anywhere_in_unit,
        [(0.5, 1, -2, 3)], digits=22,
    ),
}  # fmt: skip
