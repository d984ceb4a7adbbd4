"""Mixtures of negative binomial and of geometric distributions by a beta distribution: Waring's distribution and its kin."""

import mpmath as mp
import numpy as np
from family_of_counts import INVALID_PAIR, OUTSIDE, counted, nan
from references_discrete import log_beta, parameters, positive, whole
from scipy import stats


def beta_negative_binomial(x, alpha, beta, n):
    return log_beta(alpha + n, beta + x) - log_beta(alpha, beta) + mp.loggamma(n + x) - mp.loggamma(n) - mp.loggamma(x + 1)


def beta_negative_binomial_tails(x, alpha, beta, n):
    """The sum up to x of few terms, else of all others, which are a series, or by Euler's and Maclaurin's formula."""
    if x < 50_000:
        below = term = mp.exp(beta_negative_binomial(mp.mpf(0), alpha, beta, n))
        for k in range(int(x)):
            term *= (n + k) * (beta + k) / ((k + 1) * (alpha + beta + n + k))
            below += term
        above, k = 1 - below, x
        if alpha > 20 and above < mp.mpf(10) ** -10:  # a light tail, of which few more terms count
            above = mp.mpf(0)
            while not above or term > mp.eps * above:
                term *= (n + k) * (beta + k) / ((k + 1) * (alpha + beta + n + k))
                above, k = above + term, k + 1
        return below, above
    if x > 10 * n * (alpha + beta):  # by Thomae's transformation of the hypergeometric series of the terms
        with mp.workdps(mp.mp.dps + int(mp.log10(x))):
            ratio = log_beta(alpha, beta + x + 1) - log_beta(alpha, beta) - log_beta(alpha, n)
            first = mp.exp(ratio) / alpha
        series, term, k = mp.mpf(0), mp.mpf(1), 0
        while abs(term) > mp.eps * abs(series):
            series += term
            term *= (1 - n + k) * (alpha + beta + k) * (alpha + k) / ((alpha + 1 + k) * (alpha + beta + x + 1 + k) * (k + 1))
            k += 1
        return 1 - first * series, first * series
    above = mp.nsum(
        lambda k: mp.exp(beta_negative_binomial(k, alpha, beta, n)), [x + 1, mp.inf], method="euler-maclaurin"
    )
    return 1 - above, above


def beta_negative_binomials(alpha, beta, n):
    return stats.betanbinom(n, alpha, beta)


def draws(rng, p):
    alpha, beta, n = p
    x = rng.poisson(np.minimum(rng.gamma(n) * rng.gamma(beta) / rng.gamma(alpha), 30))
    return np.floor(x * np.exp(rng.uniform(-1, 1, len(x))))


def beta_geometric_tails(x, alpha, beta):
    above = mp.exp(log_beta(alpha, beta + x) - log_beta(alpha, beta))
    return 1 - above, above


def waring(x, mu, sigma):
    return beta_negative_binomial(x, 1 + 1 / sigma, mu / sigma, 1)


REFERENCES = {
    "beta_negative_binomial": counted(
        beta_negative_binomial, beta_negative_binomial_tails,
        parameters(positive(0.3, 30), positive(0.1, 30), whole(1, 30)), (-1, mp.inf),
        [(x, 2, 3, 5) for x in OUTSIDE]
        + [(x, alpha, beta, n) for alpha in (0.5, 3, 1e3) for beta in (1e-8, 0.5, 30) for n in (1e-8, 1, 12.5, 300)
           for x in (0, 1, 40, 1000)]
        + [(2**20, 2**10, 2**15, 2**15), (2**20 + 5000, 2**10, 2**15, 2**15), (1e9, 3, 2, 0.5), (7, 3e12, 7e12, 11),
           (0, 1e-30, 1e-10, 3), (5, 1, 1e6, 1000), (5, 1e-300, 1, 10)],
        [(0, 1, 5), (1, 0, 5), (1, 1, 0), (-1, 1, 5), (1, 1, -1), (nan, 1, 5), (1, nan, 5), (1, 1, nan)],
        beta_negative_binomials, draws, drawn=[(3, 2, 5), (0.7, 1, 1), (50, 30, 0.2), (1e4, 5e3, 200)], digits=40,
    ),
    "beta_geometric": counted(
        lambda x, alpha, beta: beta_negative_binomial(x - 1, alpha, beta, 1), beta_geometric_tails,
        parameters(positive(0.1, 100), positive(0.1, 100)), (0, mp.inf),
        [(x, 2, 3) for x in (0, *OUTSIDE)]
        + [(x, alpha, beta) for alpha in (1e-8, 0.5, 3, 1e9) for beta in (1e-8, 0.5, 30, 1e9) for x in (1, 2, 40, 1e6)],
        INVALID_PAIR, lambda alpha, beta: stats.betanbinom(1, alpha, beta, 1), lambda rng, p: 1 + draws(rng, (*p, 1)),
        drawn=[(3, 2), (0.7, 1), (50, 0.2), (1e4, 5e3)],
    ),
    "waring": counted(
        waring, lambda x, mu, sigma: beta_geometric_tails(x + 1, 1 + 1 / sigma, mu / sigma),
        parameters(positive(0.1, 100), positive(0.01, 10)), (-1, mp.inf),
        [(x, 2, 3) for x in OUTSIDE]
        + [(x, mu, sigma) for mu in (1e-8, 0.5, 1e3) for sigma in (1e-9, 0.3, 1, 1e3) for x in (0, 1, 40, 1e6)],
        INVALID_PAIR, lambda mu, sigma: stats.betanbinom(1, 1 + 1 / sigma, mu / sigma),
        lambda rng, p: draws(rng, (1 + 1 / p[1], p[0] / p[1], 1)), drawn=[(3, 0.3), (0.7, 2), (1000, 1e-9)],
    ),
}  # fmt: skip
