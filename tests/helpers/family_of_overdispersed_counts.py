"""Counts that vary more, or less, than a Poisson variable of their mean: families of families, sums and mixtures."""

import functools
import itertools
from types import SimpleNamespace

import mpmath as mp
import numpy as np
from family_of_counts import INVALID_PAIR, OUTSIDE, counted, nan
from references_discrete import parameters, poisson, positive
from scipy import special, stats


def tails_of(logpmf, first=0):
    """Both tails by sums: of all up to x, and where these are nearly all, or very many, of what follows."""

    def tails(x, *p):
        below = above = mp.mpf(0)
        if x < 5000:
            below = mp.fsum(mp.exp(logpmf(mp.mpf(k), *p)) for k in range(first, int(x) + 1))
        if below < 1 - mp.mpf(10) ** -15 and x < 5000:
            return below, 1 - below
        k, term, last = x + 1, mp.exp(logpmf(x + 1, *p)), mp.inf
        while not above or term * term > mp.eps * (last - term) * above:
            above, k, last = above + term, k + 1, term
            term = mp.exp(logpmf(k, *p))
        return 1 - above, above

    return tails


def tails_by_recurrence(first, step):
    """Both tails by sums of probabilities that a recurrence leads to, `step(k, p, q, ...)` from those of k - 1 and k - 2."""

    def tails(x, *parameters):
        with mp.workdps(100):
            below = above = mp.mpf(0)
            k, q, p = 0, mp.mpf(0), first(*parameters)
            while k <= x or not above or p * p > mp.mpf(10) ** -40 * (q - p) * above:
                below, above = (below + p, above) if k <= x else (below, above + p)
                k += 1
                q, p = p, step(mp.mpf(k), p, q, *parameters)
        return below, above

    return tails


class Summed:
    """What scipy.stats has no distribution for, by its probabilities up to one that is large enough, and by its moments."""

    def __init__(self, logpmf, last, mean=np.nan, var=np.nan):
        self.cumulative = np.concatenate([[0.0], np.cumsum(np.exp(logpmf(np.arange(last + 1.0))))])
        self.mean, self.var = mean, var

    def cdf(self, x):
        return self.cumulative[np.clip(np.asarray(x, int) + 1, 0, len(self.cumulative) - 1)]

    def stats(self, moments):
        return self.mean, self.var, np.nan


def around(mean, spread):
    """Observations that go with a mean and a standard deviation, functions of the parameters."""

    def observations(rng, p):
        shape = (mean(*p) / spread(*p)) ** 2
        return np.floor(rng.gamma(shape) * mean(*p) / shape * np.exp(rng.uniform(-1, 1, len(p[0]))))

    return observations


# ---- log-probabilities


def generalized_poisson(x, mu, lam):
    return mp.log(mu / (mu + lam * x)) + poisson(x, mu + lam * x)


def generalized_poissons(mu, lam):
    def logpmf(x):
        m = mu + lam * x
        return np.log(mu / m) + special.xlogy(x, m) - m - special.gammaln(x + 1)

    return Summed(logpmf, 100_000, mu / (1 - lam) if lam < 1 else np.nan, mu / (1 - lam) ** 3 if lam < 1 else np.nan)


def borel(x, mu):
    return -mu * x + (x - 1) * mp.log(mu * x) - mp.loggamma(x + 1)


def borels(mu):
    theirs = generalized_poissons(mu, mu)
    return SimpleNamespace(cdf=lambda x: theirs.cdf(np.asarray(x) - 1), stats=lambda m: (theirs.mean + 1, theirs.var, nan))


@functools.cache
def conway_maxwell_total(lam, nu, digits):
    """The sum of lam^j / j!^nu, from its largest term in both directions."""
    mode = mp.floor(mp.exp(mp.log(lam) / nu))
    largest = mode * mp.log(lam) - nu * mp.loggamma(mode + 1)
    total = mp.mpf(1)
    for step in (1, -1):
        term, j = mp.mpf(1), mode
        while term > mp.eps * total / 1000 and (step > 0 or j > 0):
            term *= lam / (j + 1) ** nu if step > 0 else j**nu / lam
            total, j = total + term, j + step
    return largest + mp.log(total)


def conway_maxwell_poisson(x, lam, nu):
    return x * mp.log(lam) - nu * mp.loggamma(x + 1) - conway_maxwell_total(lam, nu, mp.mp.dps)


def conway_maxwell_poissons(lam, nu):
    def logpmf(x):
        return x * np.log(lam) - nu * special.gammaln(x + 1) - float(conway_maxwell_total(mp.mpf(lam), mp.mpf(nu), mp.mp.dps))

    return Summed(logpmf, 20_000)


def rates_and_dispersions(rng, n):
    mu, nu = positive(0.1, 30)(rng, n), positive(0.2, 5)(rng, n)
    return mu**nu, nu


def summed_by_ratios(start, ratios):
    return mp.log(mp.fsum(itertools.accumulate(ratios, lambda term, ratio: term * ratio, initial=mp.exp(start))))


def polya_aeppli(x, lam, theta):
    """The sum over the number of terms."""
    if x == 0 or theta == 0:
        return poisson(x, lam)
    start = -lam + mp.log(lam) + mp.log(1 - theta) + (x - 1) * mp.log(theta)
    return summed_by_ratios(start, (lam / (j + 1) * (x - j) / j * (1 - theta) / theta for j in range(1, int(x))))


def next_of_polya_aeppli(k, p, q, lam, theta):
    return ((2 * theta * (k - 1) + lam * (1 - theta)) * p - theta**2 * (k - 2) * q) / k


def polya_aepplis(lam, theta):
    logs = np.vectorize(lambda x: float(polya_aeppli(mp.mpf(x), mp.mpf(lam), mp.mpf(theta))))
    return Summed(logs, 500, lam / (1 - theta), lam * (1 + theta) / (1 - theta) ** 2)


def delaporte(x, alpha, beta, lam):
    """The sum over the part that is negative binomial."""
    growths = ((alpha + i) / (i + 1) * beta / (1 + beta) * (x - i) / lam for i in range(int(x)))
    return summed_by_ratios(poisson(x, lam) - alpha * mp.log1p(beta), growths)


def next_of_delaporte(k, p, q, alpha, beta, lam):
    return ((lam * (1 + beta) + alpha * beta + beta * (k - 1)) * p - lam * beta * q) / (k * (1 + beta))


def delaportes(alpha, beta, lam):
    convolved = np.convolve(
        stats.nbinom(alpha, 1 / (1 + beta)).pmf(np.arange(20_000)), stats.poisson(lam).pmf(np.arange(20_000))
    )[:20_000]
    return Summed(lambda x: np.log(np.maximum(convolved, 1e-300)), 19_999, alpha * beta + lam, alpha * beta * (1 + beta) + lam)


def poisson_inverse_gaussian(x, mu, sigma):
    a = mp.sqrt(1 / sigma**2 + 2 * mu / sigma)
    return (
        mp.log(2 * a / mp.pi) / 2 + x * mp.log(mu / (a * sigma)) + 1 / sigma + mp.log(mp.besselk(x - mp.mpf(1) / 2, a))
        - mp.loggamma(x + 1)
    )  # fmt: skip


def next_of_poisson_inverse_gaussian(k, p, q, mu, sigma):
    if k == 1:
        return p * mu / (1 + 2 * sigma * mu) ** 0.5
    return (2 * sigma * mu * (1 - 3 / (2 * k)) * p + mu**2 / (k * (k - 1)) * q) / (1 + 2 * sigma * mu)


def poisson_inverse_gaussians(mu, sigma):
    p = [np.exp(-2 * mu / (1 + np.sqrt(1 + 2 * sigma * mu))), 0.0]
    for k in range(1, 20_000):
        p.insert(-1, next_of_poisson_inverse_gaussian(k, p[-2], p[-3] if k > 1 else 0.0, mu, sigma))
    return Summed(lambda x: np.log(np.maximum(p[:-1], 1e-300)), 19_999, mu, mu + sigma * mu**2)


def below(high):
    return lambda rng, n: rng.uniform(0.01, high, n)


REFERENCES = {
    "generalized_poisson": counted(
        generalized_poisson, tails_of(generalized_poisson), parameters(positive(0.1, 30), below(0.85)), (-1, mp.inf),
        [(x, 2, 0.5) for x in OUTSIDE]
        + [(x, mu, lam) for mu in (1e-300, 1e-8, 1, 300) for lam in (0, 1e-20, 0.3, 0.8) for x in (0, 1, 2, 40, 500)]
        + [(x, mu, 1) for mu in (1, 300) for x in (0, 1, 2, 40, 500)]
        + [(2**17, 2**16, 0.5), (2**17 + 2000, 2**16, 0.5), (4096, 0.5, 0.984375), (4096, 3, 1)],
        [(0, 0.5), (-1, 0.5), (nan, 0.5), (1, -0.1), (1, 1.1), (1, nan)], generalized_poissons,
        around(lambda mu, lam: mu / (1 - lam), lambda mu, lam: np.sqrt(mu / (1 - lam) ** 3)),
        drawn=[(3, 0.4), (0.01, 0.9), (500, 0.2), (2, 0)], scipy=False, digits=40,
    ),
    "conway_maxwell_poisson": counted(
        conway_maxwell_poisson, tails_of(conway_maxwell_poisson), rates_and_dispersions, (-1, mp.inf),
        [(x, 2, 0.5) for x in OUTSIDE]
        + [(x, lam, nu) for lam, nu in ((1e-300, 1), (1e-8, 1e-3), (0.5, 1e-3), (0.99, 0.5), (1.25, 0.0625), (5, 1), (1e30, 15),
                                        (3, 300), (200, 1)) for x in (0, 1, 2, 40, 500)]
        + [(1000, 1000, 1), (20_000, 2**14, 1), (16_000, 2**7, 0.5), (2**16 + 300, 2.0**64, 4)],
        [(0, 1), (1, 0), (-1, 1), (1, -1), (nan, 1), (1, nan), (1, np.inf)], conway_maxwell_poissons,
        around(lambda lam, nu: lam ** (1 / nu) + 1, lambda lam, nu: np.sqrt(lam ** (1 / nu) / nu + 1)),
        drawn=[(3, 0.4), (0.5, 1e-2), (1e6, 2), (2, 30)], scipy=False, digits=40,
    ),
    "polya_aeppli": counted(
        polya_aeppli, tails_by_recurrence(lambda lam, theta: mp.exp(-lam), next_of_polya_aeppli),
        parameters(positive(0.1, 30), below(0.9)), (-1, mp.inf),
        [(x, 2, 0.5) for x in OUTSIDE]
        + [(x, lam, theta) for lam in (1e-6, 0.5, 30, 300) for theta in (0, 1e-20, 1e-3, 0.3, 0.9375)
           for x in (0, 1, 2, 40, 600)],
        [(0, 0.5), (-1, 0.5), (nan, 0.5), (1, -0.1), (1, 1), (1, nan)], polya_aepplis,
        around(lambda lam, theta: lam / (1 - theta), lambda lam, theta: np.sqrt(lam * (1 + theta)) / (1 - theta)),
        drawn=[(3, 0.4), (0.1, 0.9), (100, 0.2), (2, 0)], scipy=False, digits=40,
    ),
    "delaporte": counted(
        delaporte, tails_by_recurrence(lambda alpha, beta, lam: mp.exp(-lam) / (1 + beta) ** alpha, next_of_delaporte),
        parameters(positive(0.1, 30), positive(0.1, 10), positive(0.1, 30)), (-1, mp.inf),
        [(x, 2, 3, 0.5) for x in OUTSIDE]
        + [(x, alpha, beta, lam) for alpha in (1e-8, 0.5, 1, 300) for beta in (1e-8, 0.5, 20) for lam in (1e-8, 2, 300)
           for x in (0, 1, 40, 600)],
        [(0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (1, 1, -1), (nan, 1, 1), (1, nan, 1), (1, 1, nan)], delaportes,
        around(lambda a, b, c: a * b + c, lambda a, b, c: np.sqrt(a * b * (1 + b) + c)),
        drawn=[(3, 0.4, 2), (0.1, 9, 1), (50, 2, 100)], scipy=False, digits=40,
    ),
    "poisson_inverse_gaussian": counted(
        poisson_inverse_gaussian, tails_by_recurrence(
            lambda mu, sigma: mp.exp((1 - mp.sqrt(1 + 2 * sigma * mu)) / sigma), next_of_poisson_inverse_gaussian),
        parameters(positive(0.1, 30), positive(0.05, 3)), (-1, mp.inf),
        [(x, 2, 3) for x in OUTSIDE]
        + [(x, mu, sigma) for mu in (1e-8, 0.5, 100) for sigma in (1e-8, 0.1) for x in (0, 1, 2, 40, 600)]
        + [(40, 10, 10), (600, 20, 3)],
        INVALID_PAIR, poisson_inverse_gaussians, around(lambda m, s: m, lambda m, s: np.sqrt(m + s * m * m)),
        drawn=[(3, 0.4), (10, 5), (500, 1e-3)], scipy=False, digits=40,
    ),
    "borel": counted(
        borel, tails_of(borel, 1), parameters(below(0.85)), (0, mp.inf),
        [(x, 0.5) for x in (0, *OUTSIDE)]
        + [(x, mu) for mu in (1e-300, 1e-20, 1e-8, 0.3, 0.8, 1) for x in (1, 2, 3, 40, 500)],
        [(0,), (-0.1,), (1.1,), (nan,)], borels, lambda rng, p: np.floor(1 + rng.exponential(5 / (1 - p[0]))),
        drawn=[(0.4,), (0.01,), (0.9,)], scipy=False, digits=40,
    ),
}  # fmt: skip
