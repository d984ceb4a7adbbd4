"""Sums and means of uniform variables, by polynomials."""

import mpmath as mp
import numpy as np
from families import Slow, family
from references import log_uniform
from references_continuous import interval
from scipy import stats


def pieces(x, n, power):
    """With as many digits as cancel"""
    with mp.workdps(mp.mp.dps + int(n)):
        parts = ((-1) ** k * mp.binomial(n, k) * (x - k) ** power for k in range(int(mp.floor(x)) + 1))
        return mp.fsum(parts) / mp.factorial(power)


def irwin_hall(x, n):
    if not 0 <= x <= n or (x in (0, n) and n > 1):
        return -mp.inf
    return mp.log(pieces(min(x, n - x), n, n - 1))


def irwin_hall_tails(x, n):
    near = pieces(min(x, n - x), n, n)
    return (near, 1 - near) if 2 * x < n else (1 - near, near)


def summed(x, n, lower, upper):
    return n * (x - lower) / (upper - lower)


def bates(x, n, lower, upper):
    return -mp.inf if mp.isinf(x) else irwin_hall(summed(x, n, lower, upper), n) + mp.log(n / (upper - lower))


def bates_known(n, lower, upper):
    scale = (upper - lower) / n
    return Slow(stats.irwinhall(n, loc=lower, scale=scale))


def bates_observations(rng, p):
    n, lower, upper = p
    return lower + (upper - lower) * rng.beta(1 + n / 2, 1 + n / 2)


REFERENCES = {
    "irwin_hall": family(
        irwin_hall, irwin_hall_tails, lambda rng, n: (np.floor(log_uniform(rng, 1, 80, n)),), (0, lambda n: n),
        [(0, 1), (0.25, 1), (1, 1), (0, 2), (1, 2), (2, 2), (0, 5), (5, 5), (2.5, 5), (6, 12), (6.5, 13), (6, 13), (1.0625, 13),
         (1e-30, 3), (1e-20, 40), (1.5, 300), (30, 300), (150, 300), (1.25, 100), (3, 4), (2.9375, 3), (700, 1000), (500, 1000),
         (-1, 3), (4, 3), (np.inf, 3), (10, 1000)],
        [(0,), (-1,), (0.5,), (np.nan,)], lambda n: Slow(stats.irwinhall(n)),
        lambda rng, p: p[0] * rng.beta(1 + p[0] / 2, 1 + p[0] / 2), [(1,), (2,), (7,), (40,)],
        rtol32=3e-5, reason="the rounding error of n times an angle counts",
    ),
    "bates": family(
        bates, lambda x, n, lower, upper: irwin_hall_tails(summed(x, n, lower, upper), n),
        lambda rng, n: (np.floor(log_uniform(rng, 1, 20, n)), *interval(rng, n)),
        (lambda n, lower, upper: lower, lambda n, lower, upper: upper),
        [(0, 1, 0, 1), (1, 1, 0, 1), (0.25, 1, 0, 1), (0, 2, 0, 1), (0.5, 2, 0, 1), (-0.5, 3, -1, 2), (2, 3, -1, 2),
         (0.5, 3, -1, 2), (1.5, 13, 1, 2), (2**-20, 3, 0, 1), (0.125, 30, 0, 1), (0.875, 30, 0, 1), (1e20, 5, -1e21, 1e21),
         (-2, 3, -1, 2), (3, 3, -1, 2), (np.inf, 3, 0, 1), (-np.inf, 3, 0, 1)],
        [(0, 0, 1), (-1, 0, 1), (0.5, 0, 1), (np.nan, 0, 1), (3, 0, 0), (3, 1, 0), (3, np.nan, 1), (3, 0, np.nan),
         (3, 0, np.inf)],
        bates_known, bates_observations, [(1, 0, 1), (3, -5, 2), (30, 0, 1e-5)],
        rtol32=1e-4, reason="near the ends the rounding error of x - lower counts, times n",
    ),
}  # fmt: skip
