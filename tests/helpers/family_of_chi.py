"""Lengths of normal vectors."""

import mpmath as mp
from families import family
from references_continuous import INVALID_SCALE, absolute, draws, inf, parameters, positive
from scipy import stats
from tails import gamma


def maxwell(x, sigma):
    if mp.isinf(x):
        return -mp.inf
    return mp.log(2 / mp.pi) / 2 + (2 * mp.log(x) if x else -mp.inf) - (x / sigma) ** 2 / 2 - 3 * mp.log(sigma)


def chi(x, nu):
    if mp.isinf(x):
        return -mp.inf
    power = (nu - 1) * mp.log(x) if nu != 1 else 0
    return power - x**2 / 2 - (nu / 2 - 1) * mp.log(2) - mp.loggamma(nu / 2)


REFERENCES = {
    "chi": family(
        chi, lambda x, nu: gamma(nu / 2, x**2 / 2), parameters(positive(0.1, 1000)), (0, inf),
        [(0, 1), (0, 0.5), (0, 3), (0, 500), (inf, 1), (inf, 500), (1e-30, 0.01), (1e3, 1e6), (1010, 1e6), (1e-3, 1e6),
         (1, 1e6), (1e6 + 3, 1e12), (1e15, 5), (1e-30, 5), (14, 200), (14.25, 201)],
        INVALID_SCALE, stats.chi, draws(stats.chi), [(1,), (0.1,), (3,), (1e6,)],
    ),
    "maxwell": family(
        maxwell, lambda x, sigma: gamma(mp.mpf(3) / 2, (x / sigma) ** 2 / 2), parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (1e-30, 1), (1e5, 1), (1e-30, 1e-30), (1, 1e30), (1e-150, 1e-150)],
        INVALID_SCALE, lambda sigma: stats.maxwell(scale=sigma), absolute(0), [(1,), (1e-30,), (1e10,)],
    ),
}  # fmt: skip
