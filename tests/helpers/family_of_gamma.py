"""Powers of gamma variables."""

import mpmath as mp
import numpy as np
from families import Corrected, family
from family_power_laws import power
from references_continuous import INVALID_PAIR, inf, parameters, positive
from scipy import stats
from tails import gamma


def generalized_gamma(x, a, c, sigma):
    if mp.isinf(x) or (x == 0 and c < 0):
        return -mp.inf
    z = x / sigma
    return mp.log(abs(c) / sigma) - mp.loggamma(a) + power(c * a - 1, z) - z**c


def generalized_gamma_tails(x, a, c, sigma):
    below, above = gamma(a, (x / sigma) ** c)
    return (above, below) if c < 0 else (below, above)


def nakagami(x, nu, sigma):
    return generalized_gamma(x, nu, mp.mpf(2), sigma / mp.sqrt(nu))


def powers_of_draws(power, scale):
    """Gamma variables of the first parameter as their shape, every other one pushed outwards"""

    def observations(rng, p):
        y = rng.gamma(p[0]) * np.exp(rng.uniform(-1, 1, p[0].shape) * (rng.uniform(size=p[0].shape) < 0.5))
        return scale(*p) * np.exp(np.maximum(np.log(np.maximum(y, 1e-20)), -20) * power(*p))

    return observations


def signed(rng, n):
    return positive(0.3, 5)(rng, n) * np.where(rng.uniform(size=n) < 0.3, -1, 1)


REFERENCES = {
    "nakagami": family(
        nakagami, lambda x, nu, sigma: gamma(nu, nu * (x / sigma) ** 2), parameters(positive(0.05, 500), positive()), (0, inf),
        [(0, 0.5, 2), (0, 0.25, 1), (0, 1, 1), (0, 300, 1), (inf, 1, 1), (inf, 300, 1), (1e-30, 0.01, 1), (1e-30, 3, 1),
         (1, 1e6, 1), (1.001, 1e6, 1), (1e-3, 1e6, 1), (1e10, 3, 1), (3, 1e12, 3), (1e-30, 2, 1e-30)],
        INVALID_PAIR, lambda nu, sigma: stats.nakagami(nu, scale=sigma),
        powers_of_draws(lambda nu, sigma: 0.5, lambda nu, sigma: sigma / np.sqrt(nu)),
        [(0.5, 1), (0.01, 2), (3, 1e5), (1e6, 1)],
    ),
    "generalized_gamma": family(
        generalized_gamma, generalized_gamma_tails, parameters(positive(0.2, 30), signed, positive()), (0, inf),
        [(0, 1, 1, 2), (0, 0.5, 2, 2), (0, 0.5, 1, 1), (0, 2, 2, 1), (0, 2, -2, 1), (0, 300, 2, 1), (0, 300, -2, 1),
         (inf, 1, 1, 1), (inf, 300, 1, 1), (inf, 2, -2, 1), (inf, 300, -1, 1), (1e-30, 2, 0.5, 1), (1e10, 2, -3, 1),
         (1e-30, 300, 1, 1),
         (100, 1e6, 3, 1), (100.125, 1e6, 3, 1), (1e30, 300, -0.5, 1), (1e-30, 2, 3, 1e-30)],
        [(0, 1, 1), (-1, 1, 1), (1, 0, 1), (1, inf, 1), (1, 1, 0), (1, 1, -1), (np.nan, 1, 1), (1, np.nan, 1), (1, 1, np.nan)],
        lambda a, c, sigma: Corrected(stats.gengamma(a, c, scale=sigma), np.where(c < 0, -a * c, np.inf)),
        powers_of_draws(lambda a, c, sigma: 1 / c, lambda a, c, sigma: sigma),
        [(1, 1, 1), (0.01, 2, 2), (3, -1, 1), (300, 3, 1e5), (0.5, -0.3, 1)],
    ),
    "half_generalized_normal": family(
        lambda x, beta, sigma: -mp.inf if mp.isinf(x) else mp.log(beta / sigma) - mp.loggamma(1 / beta) - (x / sigma) ** beta,
        lambda x, beta, sigma: gamma(1 / beta, (x / sigma) ** beta), parameters(positive(0.2, 20), positive()), (0, inf),
        [(0, 1, 2), (0, 0.5, 1), (0, 3, 1), (inf, 1, 1), (1e-30, 2, 1), (1e-30, 20, 1), (50, 2, 1), (1e5, 0.1, 1),
         (0.9, 1e3, 1), (3, 0.01, 1e-5), (1e-30, 2, 1e-30)],
        INVALID_PAIR, lambda beta, sigma: stats.halfgennorm(beta, scale=sigma),
        lambda rng, p: p[1] * rng.gamma(1 / p[0], 2) ** (1 / p[0]), [(1, 1), (0.3, 2), (2, 1e-5), (100, 1)],
    ),
}  # fmt: skip
