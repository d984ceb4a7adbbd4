"""Lengths of normal vectors."""

import mpmath as mp
from families import family
from references_continuous import INVALID_SCALE, absolute, inf, parameters, positive
from scipy import stats
from tails import gamma


def maxwell(x, sigma):
    if mp.isinf(x):
        return -mp.inf
    return mp.log(2 / mp.pi) / 2 + (2 * mp.log(x) if x else -mp.inf) - (x / sigma) ** 2 / 2 - 3 * mp.log(sigma)


REFERENCES = {
    "maxwell": family(
        maxwell, lambda x, sigma: gamma(mp.mpf(3) / 2, (x / sigma) ** 2 / 2), parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (1e-30, 1), (1e5, 1), (1e-30, 1e-30), (1, 1e30), (1e-150, 1e-150)],
        INVALID_SCALE, lambda sigma: stats.maxwell(scale=sigma), absolute(0), [(1,), (1e-30,), (1e10,)],
    ),
}  # fmt: skip
