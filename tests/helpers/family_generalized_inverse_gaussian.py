"""The generalised inverse Gaussian distribution, by Bessel functions."""

import mpmath as mp
import numpy as np
from families import family
from references_continuous import inf, parameters, positive, real
from scipy import stats
from tails import integrated


def log_bessel(p, b):
    """log(K_p(b))"""
    return mp.log(mp.besselk(p, b))


def generalized_inverse_gaussian(x, p, b, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = x / sigma
    return (p - 1) * mp.log(z) - b * (z + 1 / z) / 2 - mp.log(2) - log_bessel(p, b) - mp.log(sigma)


def tails(x, p, b, sigma):
    constant = mp.log(2) + log_bessel(p, b)

    def of_logarithm(u):
        return p * u - b * mp.cosh(u) - constant

    u, center = mp.log(x / sigma), mp.asinh(p / b)
    slope = abs(p - b * mp.sinh(u)) + mp.sqrt(mp.hypot(p, b))
    return integrated(of_logarithm, u, center, mp.inf if u > center else -mp.inf, slope, [mp.log(2 / b), -mp.log(2 / b)])


def observations(rng, p):
    shape, b, sigma = p
    center, width = np.arcsinh(shape / b), 1 / np.sqrt(1 + np.hypot(shape, b))
    return sigma * np.exp(center + 2 * width * rng.normal(size=b.shape))


REFERENCES = {
    "generalized_inverse_gaussian": family(
        generalized_inverse_gaussian, tails, parameters(real(5), positive(0.05, 30), positive()), (0, inf),
        [(0, 1, 1, 1), (inf, 1, 1, 1), (1, 0, 1, 1), (3, 0, 1e-10, 1), (2, -0.5, 3, 1), (1e-3, 2, 1, 1), (1e3, -2, 1, 1),
         (1, 1, 1e6, 1), (1.0009765625, 1, 1e6, 1), (200, 100, 1, 1), (220, 100, 1, 1), (0.005, -100, 1, 1),
         (1e10, 0.01, 1e-8, 1), (1e-30, 3, 1, 1e-30), (3, 5, 1e-5, 1)],
        [(1, 0, 1), (1, -1, 1), (1, 1, 0), (1, 1, -1), (np.nan, 1, 1), (1, np.nan, 1), (1, 1, np.nan), (inf, 1, 1)],
        lambda p, b, sigma: stats.geninvgauss(p, b, scale=sigma), observations,
        [(0, 1, 1), (2, 1, 2), (-3, 0.1, 1), (0.5, 100, 1e5), (0.1, 0.05, 1), (-20, 5, 1)], digits=25,
    ),
}  # fmt: skip
