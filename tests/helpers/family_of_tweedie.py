"""Tweedie's compound Poisson distribution, as the sum over all numbers of gamma variables."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references_continuous import inf, positive
from scipy import stats


def parts(mu, phi, p):
    """Mean of the Poisson number, shape and scale of the gamma variables"""
    return mu ** (2 - p) / (phi * (2 - p)), (2 - p) / (p - 1), phi * (p - 1) * mu ** (p - 1)


def summed(term, around):
    """The sum of term(n), n = 1, 2, …, upwards and downwards from where it is largest, roughly"""
    start = max(1, int(mp.nint(around)))
    total, largest = mp.mpf(0), mp.mpf(0)
    for numbers in (range(start, start + 100_000), range(start - 1, 0, -1)):
        for n in numbers:
            value = term(n)
            total, largest = total + value, max(value, largest)
            if value < largest * mp.eps:
                break
    return total


def tweedie(x, mu, phi, p):
    rate, shape, scale = parts(mu, phi, p)
    if x == 0:
        return -rate
    if mp.isinf(x):
        return -mp.inf
    log_rate, y = mp.log(rate), x / scale
    log_y = mp.log(y)

    def log_term(n):
        return n * log_rate - mp.loggamma(n + 1) + n * shape * log_y - mp.loggamma(n * shape)

    around = rate * (x / mu) ** (2 - p)
    top = log_term(max(1, int(mp.nint(around))))
    return mp.log(summed(lambda n: mp.exp(log_term(n) - top), around)) + top - rate - y - mp.log(x)


def tails(x, mu, phi, p):
    """Of x < mu, P(X <= x), else P(X > x), and the other one from it"""
    rate, shape, scale = parts(mu, phi, p)
    y, around, below = x / scale, rate * (x / mu) ** (2 - p), x < mu
    if x == 0:
        return mp.exp(-rate), -mp.expm1(-rate)

    def term(n):
        inner = mp.gammainc(n * shape, *((0, y) if below else (y, mp.inf)), regularized=True)
        return mp.exp(n * mp.log(rate) - mp.loggamma(n + 1) - rate) * inner

    tail = summed(term, around)
    return (tail + mp.exp(-rate), 1 - tail - mp.exp(-rate)) if below else (1 - tail, tail)


def theirs(mu, phi, p):
    rate, shape, scale = map(float, parts(mu, phi, p))
    low = max(1, int(rate - 9 * np.sqrt(rate)))
    n = np.arange(low, int(rate + 9 * np.sqrt(rate) + 20))

    def cdf(x):
        x = np.asarray(x, float)
        points = np.unique(np.quantile(x[x > 0], np.linspace(0, 1, 2001))) if np.sum(x > 0) > 2001 else np.unique(x[x > 0])
        values = np.exp(-rate) + (stats.poisson.pmf(n, rate) * stats.gamma.cdf(points[:, None], n * shape, scale=scale)).sum(1)
        return np.where(x < 0, 0, np.where(x == 0, np.exp(-rate), np.interp(x, points, values)))

    kurtosis = p * (2 * p - 1) * phi * mu ** (p - 2)
    return SimpleNamespace(cdf=cdf, stats=lambda moments: (mu, phi * mu**p, kurtosis))


def parameters(rng, n):
    return positive(0.2, 10)(rng, n), positive(0.5, 3)(rng, n), rng.uniform(1.1, 1.9, n)


def observations(rng, p):
    return p[0] * np.exp(rng.normal(0, 1, p[0].shape))


REFERENCES = {
    "tweedie": family(
        tweedie, tails, parameters, (mp.mpf("-1e-400"), inf),
        [(0, 1, 1, 1.5), (0, 3, 0.01, 1.25), (inf, 1, 1, 1.5), (1e-30, 1, 1, 1.5), (1e-5, 1, 1, 1.875), (30, 1, 1, 1.5),
         (1, 1, 1, 1.5), (1.5, 1, 0.5, 1.03125), (1e5, 1e4, 3, 1.5), (1e-5, 1e-4, 0.5, 1.5), (1, 1, 1e4, 1.5),
         (1.125, 1, 2**-6, 1.75), (0.5, 1, 2**-6, 1.75), (0.75, 1, 2**-6, 1.5)],
        [(0, 1, 1.5), (-1, 1, 1.5), (1, 0, 1.5), (1, -1, 1.5), (1, 1, 1), (1, 1, 2), (1, 1, 0.5), (1, 1, 3), (np.nan, 1, 1.5),
         (1, np.nan, 1.5), (1, 1, np.nan)],
        theirs, observations, [(1, 1, 1.5), (3, 0.01, 1.2), (0.1, 2, 1.9), (100, 1, 1.05)], scipy=False, digits=25,
    ),
}  # fmt: skip
