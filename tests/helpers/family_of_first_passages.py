"""First-passage times of Wiener processes: the series of Navarro & Fuss (2009), and their integrals."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references_continuous import inf, positive, real


def scaled(x, alpha, tau, beta, delta):
    """Time, starting point and drift, seen from the boundary that is reached, in units of the distance of the boundaries"""
    u = (abs(x) - tau) / alpha**2
    return (u, beta, alpha * delta) if x < 0 else (u, 1 - beta, -alpha * delta)


def wiener(x, alpha, tau, beta, delta):
    u, w, nu = scaled(x, alpha, tau, beta, delta)
    if u <= 0 or mp.isinf(x):
        return -mp.inf
    if u > 0.3:
        total = mp.pi * mp.fsum(k * mp.sin(k * mp.pi * w) * mp.exp(-((k * mp.pi) ** 2) * u / 2) for k in range(1, 25))
    else:
        total = mp.fsum((w + 2 * k) * mp.exp(-((w + 2 * k) ** 2) / (2 * u)) for k in range(-9, 10)) / mp.sqrt(2 * mp.pi * u**3)
    return mp.log(total) - nu * w - nu**2 * u / 2 - 2 * mp.log(alpha)


def chance(w, nu):
    """That the boundary is reached first"""
    return (mp.exp(-2 * nu) - mp.exp(-2 * nu * w)) / mp.expm1(-2 * nu) if nu else 1 - w


def earlier(u, w, nu):
    """That it is reached first, and before u"""
    if u > 0.1:
        return chance(w, nu) - later(u, w, nu)
    size, total = abs(nu), mp.mpf(0)
    for k in range(-9, 10):
        r = abs(w + 2 * k)
        below, above = (mp.ncdf((side * size * u - r) / mp.sqrt(u)) for side in (1, -1))
        one = mp.exp(-size * r) * below + mp.exp(size * r) * above
        total += one if k >= 0 else -one
    return mp.exp(-nu * w) * total


def later(u, w, nu):
    if u < 0.01:
        return chance(w, nu) - earlier(u, w, nu)
    rates = {k: (k * mp.pi) ** 2 for k in range(1, 60)}
    total = mp.fsum(k * mp.sin(k * mp.pi * w) * mp.exp(-rate * u / 2) / (nu**2 + rate) for k, rate in rates.items())
    return 2 * mp.pi * mp.exp(-nu * w - nu**2 * u / 2) * total


def tails(x, alpha, tau, beta, delta):
    u, w, nu = scaled(x, alpha, tau, beta, delta)
    if u <= 0:
        return chance(beta, alpha * delta), chance(1 - beta, -alpha * delta)
    before, after = chance(1 - w, -nu) + earlier(u, w, nu), later(u, w, nu)
    return (after, before) if x < 0 else (before, after)


def theirs(alpha, tau, beta, delta):
    """The Fourier series in double precision"""
    k = np.arange(1, 600)

    def cdf(x):
        x = np.asarray(x, float)
        u, lower = np.maximum((np.abs(x) - tau) / alpha**2, 1e-5)[:, None], (x < 0)[:, None]
        w, nu = np.where(lower, beta, 1 - beta), alpha * np.where(lower, delta, -delta)
        terms = k * np.sin(k * np.pi * w) * np.exp(-((k * np.pi) ** 2) * u / 2) / (nu**2 + (k * np.pi) ** 2)
        after = (2 * np.pi * np.exp(-nu * w - nu**2 * u / 2) * terms).sum(1, keepdims=True)
        middle = float(chance(mp.mpf(beta), mp.mpf(alpha * delta)))
        value = np.where(lower, after, 1 - after)[:, 0]
        return np.where(np.abs(x) <= tau, middle, value)

    def interpolated(x):
        if len(x) < 5000:
            return cdf(x)
        points = np.unique(np.concatenate([np.quantile(x, np.linspace(0, 1, 2001)), [-tau, tau]]))
        return np.interp(x, points, cdf(points))

    return SimpleNamespace(cdf=interpolated, stats=lambda moments: (np.nan,) * 3)


def parameters(rng, n):
    return positive(0.5, 3)(rng, n), rng.uniform(0, 0.5, n), rng.uniform(0.05, 0.95, n), real(1.5)(rng, n)


def observations(rng, p):
    alpha, tau, beta, delta = p
    return rng.choice([-1, 1], alpha.shape) * (tau + alpha**2 * np.exp(rng.normal(-1, 1, alpha.shape)))


REFERENCES = {
    "wiener": family(
        wiener, tails, parameters, (-inf, inf),
        [(1, 1, 0, 0.5, 0), (-1, 1, 0, 0.5, 0), (0.5, 1, 0.5, 0.5, 1), (0, 1, 0, 0.5, 1), (0, 1, 0.25, 0.5, 1),
         (inf, 1, 0, 0.5, 1), (-inf, 1, 0, 0.5, 1), (-0.25, 1, 0.5, 0.5, 1), (0.125, 2, 0, 0.25, 20), (-0.125, 2, 0, 0.25, 20),
         (-0.125, 2, 0, 0.25, -20), (0.03125, 1, 0, 0.25, 0), (30, 3, 0.25, 0.75, -2), (1.5, 1, 0, 2**-20, 1),
         (-0.125, 1, 0, 2**-20, 1), (0.25, 1, 0, 2**-20, -1), (0.25, 1, 0, 1 - 2**-20, 1), (0.390625, 1, 0, 0.75, 1),
         (0.40625, 1, 0, 0.75, 1), (-3, 1, 0, 0.5, -30), (2e10, 1e5, 0, 0.5, 1e-5), (1e-10, 1e-5, 0, 0.5, 1e5)],
        [(0, 0, 0.5, 1), (-1, 0, 0.5, 1), (1, -1, 0.5, 1), (1, 0, 0, 1), (1, 0, 1, 1), (1, 0, 1.5, 1), (1, 0, 0.5, inf),
         (np.nan, 0, 0.5, 1), (1, np.nan, 0.5, 1), (1, 0, np.nan, 1), (1, 0, 0.5, np.nan)],
        theirs, observations, [(1, 0, 0.5, 0), (2, 0.3, 0.25, 1.5), (1.5, 0, 0.9, -3), (0.5, 1, 0.05, 0.1)], scipy=False,
    ),
}  # fmt: skip
