"""Transformations of normal variables: Johnson's system."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references_continuous import around, inf, parameters, positive, real
from scipy import stats
from tails import ndtr


def johnson_su(x, gamma, delta, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = (x - mu) / sigma
    return known.normal(gamma + delta * mp.asinh(z), 0, 1) + mp.log(delta / sigma) - mp.log1p(z * z) / 2


def johnson_su_tails(x, gamma, delta, mu, sigma):
    y = gamma + delta * mp.asinh((x - mu) / sigma)
    return ndtr(y), ndtr(-y)


def johnson_sb(x, gamma, delta):
    if x in (0, 1):
        return -mp.inf
    return known.normal(gamma + delta * mp.log(x / (1 - x)), 0, 1) + mp.log(delta) - mp.log(x * (1 - x))


def johnson_sb_tails(x, gamma, delta):
    y = gamma + delta * mp.log(x / (1 - x))
    return ndtr(y), ndtr(-y)


def logits(rng, p):
    """Observations whose normal variables are ordinary ones, and somewhat larger."""
    return 1 / (1 + np.exp((p[0] - rng.normal(0, 2, p[0].shape)) / p[1]))


REFERENCES = {
    "johnson_su": family(
        johnson_su, johnson_su_tails, parameters(real(2), positive(0.3, 5), real(), positive()), (-inf, inf),
        [(inf, 1, 2, 0, 1), (-inf, 1, 2, 0, 1), (0, 0, 1, 0, 1), (1e30, 1, 2, 0, 1), (-1e200, 1, 2, 0, 1), (1e-30, 0, 1, 0, 1),
         (-1e-10, 3, 1e5, 0, 1), (2, 0, 1e-10, 0, 1), (2, 0, 1, 2, 1e-20), (2, 30, 1, 0, 1), (1e5, 0, 0.1, 0, 1)],
        [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 0, 0), (0, 1, 0, -1), (np.nan, 1, 0, 1), (0, np.nan, 0, 1), (0, 1, np.nan, 1),
         (0, 1, 0, np.nan)],
        stats.johnsonsu, lambda rng, p: around(rng, p[2] - p[3] * np.sinh(p[0] / p[1]), p[3] * np.cosh(p[0] / p[1]), 1.5),
        [(0, 1, 0, 1), (3, 0.3, 0, 1), (-1, 20, 5, 2), (0, 1e5, 0, 1)],
        rtol32=1e-4, reason="the rounding error of asinh(z) counts delta times, squared",
    ),
    "johnson_sb": family(
        johnson_sb, johnson_sb_tails, parameters(real(2), positive(0.3, 5)), (0, 1),
        [(0, 0, 1), (1, 0, 1), (0.5, 0, 1), (1e-30, 0, 1), (1e-300, 0, 0.3), (1 - 2**-20, 0, 1), (0.5 + 2**-20, 0, 1e3),
         (0.3, 0, 1e-10), (0.25, 30, 1), (0.5, 0, 1e30)],
        [(0, 0), (0, -1), (np.nan, 1), (0, np.nan)], stats.johnsonsb, logits,
        [(0, 1), (0, 0.1), (-3, 10), (5, 1)],
    ),
}  # fmt: skip
