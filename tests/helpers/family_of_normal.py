"""Transformations of normal variables."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references import log_uniform
from references_continuous import INVALID_LOCATION_SCALE, around, inf, parameters, positive, real
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


def mills(y):
    return mp.sqrt(mp.pi / 2) * mp.exp(y * y / 2) * mp.erfc(y / mp.sqrt(2))


def double_pareto_log_normal(x, alpha, beta, mu, sigma):
    if x == 0 or mp.isinf(x):
        if x == 0 and beta == 1:
            return mp.log(alpha / (alpha + 1)) - mu + sigma**2 / 2
        return mp.inf if x == 0 and beta < 1 else -mp.inf
    z = (mp.log(x) - mu) / sigma
    sides = mills(alpha * sigma - z) + mills(beta * sigma + z)
    return mp.log(alpha * beta / (alpha + beta) / x * sides) - z * z / 2 - mp.log(2 * mp.pi) / 2


def double_pareto_log_normal_tails(x, alpha, beta, mu, sigma):
    z = (mp.log(x) - mu) / sigma
    density = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) / (alpha + beta)
    above, below = beta * mills(alpha * sigma - z), alpha * mills(beta * sigma + z)
    return ndtr(z) - density * (above - below), ndtr(-z) + density * (above - below)


def levy_left(x, mu, sigma):
    if x >= mu or mp.isinf(x):
        return -mp.inf
    return mp.log(sigma / (2 * mp.pi)) / 2 - 3 * mp.log(mu - x) / 2 - sigma / (2 * (mu - x))


def levy_left_tails(x, mu, sigma):
    z = mp.sqrt(sigma / (2 * (mu - x)))
    return mp.erf(z), mp.erfc(z)


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
    "double_pareto_log_normal": family(
        double_pareto_log_normal, double_pareto_log_normal_tails,
        parameters(positive(0.3, 10), positive(0.3, 10), real(2), positive(0.3, 3)), (0, inf),
        [(0, 2, 3, 0, 1), (0, 2, 0.5, 0, 1), (0, 2, 1, 0.5, 1), (inf, 2, 3, 0, 1), (1, 1, 1, 0, 1), (1e-30, 2, 0.5, 0, 1),
         (1e30, 2, 3, 0, 1),
         (1e10, 1e5, 1, 0, 1), (2, 1e-5, 1, 0, 1), (0.5, 1, 1e6, 0, 1e-3), (1.25, 20, 30, 0, 1e-3), (1e30, 1, 1, 0, 10)],
        [(0, 1, 0, 1), (1, 0, 0, 1), (-1, 1, 0, 1), (1, -1, 0, 1), (1, 1, 0, 0), (1, 1, 0, -1), (np.nan, 1, 0, 1),
         (1, np.nan, 0, 1),
         (1, 1, np.nan, 1), (1, 1, 0, np.nan)],
        lambda alpha, beta, mu, sigma: stats.dpareto_lognorm(mu, sigma, alpha, beta),
        lambda rng, p: np.exp(p[2] + p[3] * rng.normal(0, 2, p[0].shape) + rng.laplace(0, 1, p[0].shape) / p[0]),
        [(1, 1, 0, 1), (3, 0.5, 1, 0.1), (10, 20, 0, 1), (2, 5, -30, 1)],
    ),
    "levy_left": family(
        levy_left, levy_left_tails, parameters(real(), positive()), (-inf, lambda mu, sigma: mu),
        [(0, 0, 1), (-inf, 0, 1), (inf, 0, 1), (1, 0, 1), (-1, 0, 1), (-1e-3, 0, 1), (-1e30, 0, 1), (-0.5, 0, 1e-20),
         (-1e10, 0, 1e10),
         (2.5, 3, 0.1)],
        INVALID_LOCATION_SCALE, stats.levy_l, lambda rng, p: p[0] - p[1] * log_uniform(rng, 0.01, 1e4, p[0].shape),
        [(0, 1), (-5, 3), (0, 1e-10)], rtol32=1e-4, reason="near mu the rounding error of x - mu counts",
    ),
}  # fmt: skip
