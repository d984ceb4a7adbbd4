"""Stable distributions, by their characteristic functions."""

import mpmath as mp
import numpy as np
from families import Slow, family
from references_continuous import INVALID_LOCATION_SCALE, inf, parameters, positive, real
from scipy import stats

nan = np.nan


def trapezoidal(function, step, first):
    """The sum of function(w) for w from `first` on both ways in steps, times the step; half of it, where `first` is 0"""
    total = function(mp.mpf(first)) / (1 if first else 2)
    for side in (1, -1) if first else (1,):
        i, size = 0, mp.inf
        while size > mp.eps * abs(total) * mp.mpf("1e-3"):
            i += 1
            part = function(first + side * i * step)
            total, size = total + part, abs(part)
    return step * mp.re(total)


def landau_line(z, tail):
    """log of the density of a standard variable, or of P(Z <= z) if `tail`: along a vertical line through the saddle point"""
    s = mp.exp(-1 - z)
    if s > 1e8:
        return -s + mp.log((1 / s if tail else s) / (2 * mp.pi)) / 2

    def along_line(w):
        t = mp.mpc(1, mp.sinh(w))
        return mp.exp(s * (t * mp.log(t) - t + 1)) / (t if tail else 1) * mp.cosh(w)

    value = trapezoidal(along_line, mp.mpf("0.06") / mp.sqrt(1 + s), 0)
    return mp.log(value / mp.pi) - s - (0 if tail else 1 + z)


def landau_cut(z, tail):
    """log of the density of a standard variable, or of P(Z > z) if `tail`: along the cut"""
    near = mp.log(max(z, 1))

    def along_cut(w):
        fast = mp.exp(-w)
        log_t = w - fast - near
        t = mp.exp(log_t)
        return mp.exp(-t * (log_t + z)) * mp.sinpi(t) * (1 + fast) * (1 if tail else t)

    return mp.log(trapezoidal(along_cut, mp.mpf("0.06"), mp.mpf("1e-9")) / mp.pi)


def landau(x, mu, sigma):
    z = (x - mu) / sigma
    if mp.isinf(z) or z < -700:
        return -mp.inf
    return (landau_line if z < -1 else landau_cut)(z, False) - mp.log(sigma)


def landau_tails(x, mu, sigma):
    z = (x - mu) / sigma
    if z < -700:
        return mp.mpf(0), mp.mpf(1)
    if z < -1:
        below = mp.exp(landau_line(z, True))
        return below, 1 - below
    above = mp.exp(landau_cut(z, True))
    return 1 - above, above


def stable_integral(z, alpha, beta, tail):
    """The inverse of the characteristic function of a standard variable, or P(Z > z) if `tail`,
    z >= zeta where alpha is not 1

    The path is turned into the half-plane in which exp(-i t z) falls off.
    """
    turned, factor = mp.mpf(0), 1 + 0j
    if alpha != 1:
        tangent = mp.tan(mp.pi * alpha / 2)
        z, lift = z + beta * tangent, mp.atan(beta * tangent) / alpha
        turned = min((mp.pi / (2 * alpha) - lift) * mp.mpf(0.5), mp.mpf(1))
        factor = 1 - 1j * beta * tangent
    direction, near = mp.expj(-turned), mp.log(1 + abs(z))
    along, power = -1j * z * direction, -factor * direction**alpha

    def along_ray(w):
        fast = mp.exp(-w)
        log_r = w - fast - near
        r = mp.exp(log_r)
        exponent = mp.exp(alpha * log_r) * power if alpha != 1 else -r * (1 + 2j * beta / mp.pi * log_r)
        value = mp.exp(r * along + exponent) * (1 + fast)
        return value.imag if tail else (value * direction).real * r

    step = mp.mpf("0.02" if tail or abs(z) > 1e3 else "0.04")
    value = trapezoidal(along_ray, step, mp.mpf("1e-9")) / mp.pi
    return mp.mpf(0.5) - turned / mp.pi + value if tail else value


def stable_oriented(x, alpha, beta, mu, sigma):
    """z, beta and whether they are mirrored, so that z >= zeta"""
    z = (x - mu) / sigma
    mirrored = alpha != 1 and z < -beta * mp.tan(mp.pi * alpha / 2)
    return (-z, -beta, True) if mirrored else (z, beta, False)


def stable(x, alpha, beta, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z, beta, _ = stable_oriented(x, alpha, beta, mu, sigma)
    if alpha < 1 and beta == -1:
        return -mp.inf
    return mp.log(stable_integral(z, alpha, beta, False) / sigma)


def stable_tails(x, alpha, beta, mu, sigma):
    z, beta, mirrored = stable_oriented(x, alpha, beta, mu, sigma)
    above = mp.mpf(0) if alpha < 1 and beta == -1 else stable_integral(z, alpha, beta, True)
    return (above, 1 - above) if mirrored else (1 - above, above)


def away_from_one(rng, n):
    alpha = rng.uniform(0.4, 1.95, n)
    return np.where(np.abs(alpha - 1) < 0.4, 1.5, alpha)


class Stable:
    """scipy.stats' own distribution function does not end at some points, and is right to few digits at others."""

    def __init__(self, *parameters):
        self.parameters = parameters

    def stats(self, moments):
        return nan, nan, nan

    def cdf(self, x):
        """The integral of `stable_integral` in double precision"""
        alpha, beta, mu, sigma = self.parameters
        z, bend, ray = (np.asarray(x, float) - mu) / sigma, beta * np.tan(np.pi * alpha / 2) if alpha != 1 else 0, 0.0
        mirrored = z < -bend if alpha != 1 else np.zeros(z.shape, bool)
        sign = np.where(mirrored, -1, 1)[:, None]
        z = np.abs(z + bend) if alpha != 1 else z
        if alpha != 1:
            ray = np.minimum((np.pi / (2 * alpha) - np.arctan(sign * bend) / alpha) * 0.5, 1)
        w = np.arange(-6, 12, 0.02)
        r = np.exp(w - np.exp(-w)) / (1 + np.abs(z[:, None]))
        t = r * np.exp(-1j * ray)
        exponent = t**alpha * (1 - 1j * sign * bend) if alpha != 1 else t * (1 + 2j * beta / np.pi * np.log(t))
        with np.errstate(all="ignore"):
            values = np.nan_to_num(np.exp(-1j * t * z[:, None] - exponent).imag * (1 + np.exp(-w)))
        above = 0.5 - np.ravel(ray) / np.pi + values.sum(1) * 0.02 / np.pi
        return np.where(mirrored, above, 1 - above)


def heavy(rng, p):
    z = stats.levy_stable.rvs(p[0], 0, size=p[0].shape, random_state=rng)
    return p[2] + p[3] * np.clip(z, -1e4, 1e4)


def energies(rng, p):
    theta, w = np.pi * rng.uniform(size=p[0].shape), rng.exponential(size=p[0].shape)
    return p[0] + p[1] * (np.log(theta / (np.sin(theta) * w)) - theta / np.tan(theta))


REFERENCES = {
    "landau": family(
        landau, landau_tails, parameters(real(), positive()), (-inf, inf),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (-0.25, 0, 1), (-3, 0, 1), (-5, 0, 1), (5, 0, 1), (14.9375, 0, 1), (15, 0, 1),
         (100, 0, 1), (-1000, 0, 1), (1e10, 0, 1), (1e30, 0, 1), (1, 1, 1e-20), (1, 0, 1e20)],
        INVALID_LOCATION_SCALE, lambda mu, sigma: stats.landau(mu + sigma * np.log(np.pi / 2), sigma * np.pi / 2),
        energies, [(0, 1), (2, 0.1)], digits=30,
    ),
    "stable": family(
        stable, stable_tails, parameters(away_from_one, lambda rng, n: rng.uniform(-0.8, 0.8, n), real(), positive(1,
        4)), (-inf, inf),
        [(inf, 1.5, 0, 0, 1), (-inf, 1.5, 0, 0, 1), (0, 1.5, 0, 0, 1), (1, 1.5, 0.5, 0, 1), (-3, 1.75, -0.5, 0, 1),
         (3, 2, 0, 0, 1),
         (-9, 2, 0.5, 0, 1), (2, 0.5, 0.5, 0, 1), (100, 0.5, -0.5, 0, 1), (3, 0.5, 1, 0, 1), (-0.5, 0.5, 1, 0, 1),
         (-1.5, 0.5, 1, 0, 1),
         (1, 1, 0, 0, 1), (1, 1, 0.5, 0, 1), (-1, 1, 0.5, 0, 1), (2, 1, -1, 0, 1), (1e6, 1.5, 0.5, 0, 1), (-4, 1.5, 1, 0, 1),
         (-3, 1.25, 0.9375, 0, 1), (0.25, 0.75, 0, 1, 3)],
        [(0, 0, 0, 1), (-1, 0, 0, 1), (2.5, 0, 0, 1), (1, 1.5, 0, 1), (1, -1.5, 0, 1), (1.5, 0, 0, 0), (1.5, 0, 0, -1),
         (nan, 0, 0, 1),
         (1.5, nan, 0, 1), (1.5, 0, nan, 1), (1.5, 0, 0, nan)],
        lambda *parameters: Slow(Stable(*parameters)), heavy, [(1.75, -0.5, 0, 1), (0.5, 0.25, 1, 2)],
        scipy=False, digits=45,
        rtol64=2e-11, rtol32=3e-4, reason="rounding errors grow like 1 / |alpha - 1|",
    ),
}  # fmt: skip
