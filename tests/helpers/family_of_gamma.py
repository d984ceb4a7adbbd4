"""Powers of gamma variables, their logarithms and their mixtures."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import Corrected, family
from family_power_laws import power
from references_continuous import INVALID_PAIR, INVALID_SCALE, around, draws, inf, parameters, positive
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


def inverse_chi_squared(x, nu):
    return scaled_inverse_chi_squared(x, nu, 1 / mp.sqrt(nu))


def scaled_inverse_chi_squared(x, nu, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    a = nu / 2
    return a * mp.log(a * sigma**2) - mp.loggamma(a) - (a + 1) * mp.log(x) - a * sigma**2 / x


def unit_gamma(x, alpha, beta):
    if x == 0:
        at_zero = 1 - beta or alpha - 1
        return mp.sign(at_zero) * mp.inf if at_zero else mp.mpf(0)
    return alpha * mp.log(beta) - mp.loggamma(alpha) + power(alpha - 1, -mp.log(x)) + (beta - 1) * mp.log(x)


def unit_gamma_known(alpha, beta):
    y = stats.gamma(alpha, scale=1 / beta)
    mean, second = (np.exp(-alpha * np.log1p(k / beta)) for k in (1, 2))
    with np.errstate(divide="ignore"):
        return SimpleNamespace(
            cdf=lambda x: y.sf(-np.log(np.clip(x, 0, 1))), stats=lambda moments: (mean, second - mean**2, np.nan)
        )


def lindley(x, theta):
    return -mp.inf if mp.isinf(x) else 2 * mp.log(theta) - mp.log1p(theta) + mp.log1p(x) - theta * x


def lindley_tails(x, theta):
    above = (1 + theta * x / (1 + theta)) * mp.exp(-theta * x)
    return 1 - above, above


def lindley_known(theta):
    """Of a mixture of gamma distributions"""
    share, parts = 1 / (1 + theta), [stats.gamma(a, scale=1 / theta) for a in (1, 2)]
    moments = [(1 - share) * parts[0].moment(k) + share * parts[1].moment(k) for k in (1, 2)]
    return SimpleNamespace(
        cdf=lambda x: (1 - share) * parts[0].cdf(x) + share * parts[1].cdf(x),
        stats=lambda _: (moments[0], moments[1] - moments[0] ** 2, np.nan),
    )


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
    "inverse_chi_squared": family(
        inverse_chi_squared, lambda x, nu: gamma(nu / 2, 1 / (2 * x))[::-1], parameters(positive(0.1, 1000)), (0, inf),
        [(0, 1), (0, 300), (inf, 1), (inf, 300), (1e-30, 1), (1e-3, 1), (1e30, 0.01), (1e-6, 1e6), (1.001e-6, 1e6), (1, 1e6),
         (0.5, 2), (1e15, 5), (0.005, 200), (0.0051, 201)],
        INVALID_SCALE, lambda nu: stats.invgamma(nu / 2, scale=0.5),
        draws(lambda nu: stats.invgamma(nu / 2, scale=0.5)), [(1,), (0.1,), (3,), (1e6,)],
    ),
    "scaled_inverse_chi_squared": family(
        scaled_inverse_chi_squared, lambda x, nu, sigma: gamma(nu / 2, nu * sigma**2 / (2 * x))[::-1],
        parameters(positive(0.1, 1000), positive()), (0, inf),
        [(0, 1, 1), (0, 300, 1), (inf, 1, 1), (inf, 300, 1), (1e-30, 1, 1e-15), (1e-3, 1, 1), (1e30, 0.01, 1), (4, 1e6, 2),
         (4.001, 1e6, 2), (1, 1e6, 2), (1.0625, 1e12, 1.03125), (1e15, 5, 3), (1.5, 201, 1.2), (1e30, 300, 1e15)],
        INVALID_PAIR, lambda nu, sigma: stats.invgamma(nu / 2, scale=nu * sigma**2 / 2),
        draws(lambda nu, sigma: stats.invgamma(nu / 2, scale=nu * sigma**2 / 2)), [(1, 1), (0.1, 2), (3, 1e-5), (1e6, 1e3)],
    ),
    "unit_gamma": family(
        unit_gamma, lambda x, alpha, beta: gamma(alpha, -beta * mp.log(x))[::-1],
        parameters(positive(0.5, 300), positive(0.1, 100)), (0, 1),
        [(0, 1, 1), (0, 2, 1), (0, 0.5, 1), (0, 2, 2), (0, 2, 0.5), (0, 0.5, 2), (1, 1, 2), (1, 2, 1), (1, 0.5, 1), (1, 300, 1),
         (0, 300, 0.5), (1e-30, 0.5, 3), (1e-30, 50, 0.5), (0.5, 1e6, 1.5e6), (0.5, 1e-10, 1), (0.5, 3, 1e-10),
         (1 - 2**-20, 3, 4), (1 - 2**-20, 200, 1e8)],
        INVALID_PAIR, unit_gamma_known,
        lambda rng, p: np.exp(-np.clip(rng.gamma(p[0]) / p[1] * np.exp(rng.uniform(-1, 1, p[0].shape)), 1e-4, 80)),
        [(1, 1), (0.1, 2), (5, 0.3), (1e4, 1e4)], scipy=False,
    ),
    "lindley": family(
        lindley, lindley_tails, parameters(positive()), (0, inf),
        [(0, 1), (0, 1e-10), (0, 1e10), (inf, 1), (1e-30, 1), (1e-10, 1e-5), (1e3, 1), (1e-3, 1e3), (1e10, 1e-10),
         (1e30, 1e-30),
         (1e-20, 1e20), (50, 1), (1, 1)],
        INVALID_SCALE, lindley_known, lambda rng, p: np.abs(around(rng, 0, 1 / p[0])), [(1,), (1e-3,), (1e3,)], scipy=False,
    ),
}  # fmt: skip
