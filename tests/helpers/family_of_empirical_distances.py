"""Distances between empirical distribution functions and the true one."""

import mpmath as mp
from families import family
from references_continuous import INVALID_SCALE, inf, parameters, positive
from scipy import stats


def terms(function):
    """The sum of function(k) over k = 1, 2, … until nothing is added"""
    total, k = mp.mpf(0), 1
    while True:
        term = function(k)
        total, k = total + term, k + 1
        if abs(term) <= mp.eps * abs(total) * mp.mpf("1e-10") and k > 3:
            return total


def kolmogorov(x, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = x / sigma
    if z > 1:
        return mp.log(8 * z / sigma * terms(lambda k: -((-1) ** k) * k**2 * mp.exp(-2 * k**2 * z**2)))
    odd = terms(lambda k: ((2 * k - 1) ** 2 * mp.pi**2 / (4 * z**2) - 1) * mp.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * z**2)))
    return mp.log(mp.sqrt(2 * mp.pi) / z**2 / sigma * odd)


def kolmogorov_tails(x, sigma):
    z = x / sigma
    if z > 1:
        above = 2 * terms(lambda k: -((-1) ** k) * mp.exp(-2 * k**2 * z**2))
        return 1 - above, above
    below = mp.sqrt(2 * mp.pi) / z * terms(lambda k: mp.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * z**2)))
    return below, 1 - below


REFERENCES = {
    "kolmogorov": family(
        kolmogorov, kolmogorov_tails, parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (0.05, 1), (0.01, 1), (1, 1), (0.9990234375, 1), (5, 1), (100, 1), (1e-30, 1e-30), (0.02, 0.01)],
        INVALID_SCALE, lambda sigma: stats.kstwobign(scale=sigma),
        lambda rng, p: p[0] * rng.uniform(0.3, 3, p[0].shape), [(1,), (1e-5,)],
    ),
}  # fmt: skip
