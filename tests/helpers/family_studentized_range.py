"""The studentized range, by the density of the range, of which there is a table for each number of variables."""

import functools

import mpmath as mp
import numpy as np
from families import Slow, family
from references_continuous import inf, positive
from scipy import integrate, special, stats
from tails import gamma

STEP = 1 / 16


def between(u, r):
    """P(|Z - u| < r / 2)"""
    u = abs(u)
    return (mp.erfc((u - r / 2) / mp.sqrt(2)) - mp.erfc((u + r / 2) / mp.sqrt(2))) / 2


def trapezoidal(function, step, both=True):
    """The sum of function(u) at multiples of the step, times the step; of an even function, unless `both`"""
    total = function(mp.mpf(0))
    for side in (1, -1) if both else (1,):
        i, part = 0, mp.inf
        while part > total * mp.mpf("1e-24") or i < 20:
            i += 1
            part = function(side * i * step)
            total += part if both else 2 * part
    return total * step


def inner_step(k):
    return mp.mpf("0.5") / mp.sqrt(k + 1)


def range_density(r, k):
    if k == 2:  # of the difference of two variables
        return mp.exp(-r * r / 4) / mp.sqrt(mp.pi)
    with mp.workdps(mp.mp.dps + max(0, int(-mp.log(r) / 2))):
        value = trapezoidal(lambda u: mp.exp(-u * u) * between(u, r) ** (k - 2), inner_step(k), both=False)
    return k * (k - 1) / (2 * mp.pi) * mp.exp(-r * r / 4) * value


def range_tails(r, k):
    """By the smallest variable, from its peak"""
    with mp.workdps(mp.mp.dps + int(r * r / 9)):
        peak = -min(r / 2, mp.sqrt(2 * mp.log(k)) + mp.mpf("0.5"))

        def below(z):
            return mp.npdf(z) * between(z + r / 2, r) ** (k - 1)

        low = k * trapezoidal(lambda u: below(peak + u), inner_step(k))
        high = k * trapezoidal(lambda u: mp.npdf(peak + u) * mp.ncdf(-peak - u) ** (k - 1) - below(peak + u), inner_step(k))
        return low, high


@functools.cache
def table(k, digits):
    """(y, r, dr / dy * density of the range) at equidistant y; r falls exponentially where y is far down"""
    rows = []
    for side in (-1, 1):
        i, part, total = (side + 1) // 2, mp.inf, mp.mpf(0)
        while part > mp.mpf("1e-60" if side > 0 else "1e-24") * total or i * STEP < 1:
            y = side * i * mp.mpf(STEP)
            fast = mp.exp(-y) / 100
            r = mp.exp(y - fast)
            part = range_density(r, k) * r * (1 + fast)
            rows.append((r, part))
            total, i = total + part, i + 1
    return rows


def mean(function, q, k, nu):
    """The mean of function(log(R / q)), R being the range"""
    if nu <= 30 and q > 0.05:  # the steps of the table are short enough, and reach far enough
        return mp.mpf(STEP) * mp.fsum(weight * function(mp.log(r / q)) for r, weight in table(k, mp.mp.dps))

    def part(v):
        return range_density(q * mp.exp(v), k) * q * mp.exp(v) * function(v)

    if nu <= 30:
        return trapezoidal(part, mp.mpf(STEP))
    # v = scale sinh(w): short steps where the estimate of the variance varies, longer ones away from there
    scale = 1 / mp.sqrt(2 * nu + 100)
    return trapezoidal(lambda w: part(scale * mp.sinh(w)) * scale * mp.cosh(w), mp.mpf(STEP) / 2)


def studentized_range(x, k, nu):
    if mp.isinf(x):
        return -mp.inf
    if x == 0:
        if k != 2:
            return mp.inf if k < 2 else -mp.inf
        return mp.loggamma(nu / 2 + mp.mpf(1) / 2) - mp.loggamma(nu / 2) - mp.log(nu / 2) / 2 - mp.log(mp.pi) / 2
    if mp.isinf(nu):
        return mp.log(range_density(x, k))

    def density_of_estimate(v):
        return mp.exp(nu * v - nu / 2 * mp.exp(2 * v))

    constant = mp.log(2) + nu / 2 * mp.log(nu / 2) - mp.loggamma(nu / 2)
    return mp.log(mean(density_of_estimate, x, k, nu)) + constant - mp.log(x)


def studentized_range_tails(x, k, nu):
    if mp.isinf(nu):
        return range_tails(x, k)
    def beyond(side):
        return mean(lambda v: gamma(nu / 2, nu / 2 * mp.exp(2 * v))[side], x, k, nu)

    return beyond(1), beyond(0)


def variables(rng, n):
    return rng.choice([2.5, 6.0], n)


def around_range(rng, p):
    return np.exp(rng.uniform(-1.5, 1.5, p[0].shape)) * (1 + np.log(p[0]))


class Approximate:
    """scipy.stats' own functions take long; these integrals are right to ten digits."""

    def __init__(self, k, nu):
        self.k, self.nu = k, nu

    def stats(self, moments):
        return np.nan, np.nan, np.nan

    def cdf(self, x):
        z, t = np.linspace(-9, 9, 181)[:, None, None], np.linspace(-1, 1, 161)[:, None] * 8
        spread = 1 / np.sqrt(2 * self.nu) if self.nu > 1 else 1
        v = t * spread - np.log1p(np.exp(-t)) / self.nu if self.nu <= 1 else t * spread
        weight = np.exp(self.nu * v - self.nu / 2 * np.expm1(2 * v))
        r = np.asarray(x, float) * np.exp(v)
        inside = np.maximum(special.ndtr(z + r) - special.ndtr(z), 0) ** (self.k - 1)
        below = self.k * integrate.trapezoid(stats.norm.pdf(z) * inside, dx=0.1, axis=0)
        return integrate.trapezoid(weight * below, v, axis=0) / integrate.trapezoid(weight, v, axis=0)


REFERENCES = {
    "studentized_range": family(
        studentized_range, studentized_range_tails,
        lambda rng, n: (variables(rng, n), positive(0.7, 25)(rng, n)), (0, inf),
        [(0, 2, 3), (0, 3, 3), (0, 1.5, 3), (inf, 3, 5), (1, 1.5, 4), (3, 3, inf), (0.5, 20, inf), (12, 5, inf),
         (2**-10, 6, 0.7), (60, 6, 30), (1e5, 3, 2), (4, 3, 1e3), (9, 3, 300), (2**-33, 2, 2), (3, 100, inf), (7, 100, inf)],
        [(1, 1), (0.5, 1), (-1, 1), (2, 0), (2, -1), (np.nan, 1), (2, np.nan), (inf, 1)],
        lambda k, nu: Slow(Approximate(k, nu)), around_range, [(3, 10), (1.5, 4), (20, 5)], scipy=False, digits=40,
    ),
}  # fmt: skip
