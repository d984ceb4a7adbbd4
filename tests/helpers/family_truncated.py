"""Distributions confined to an interval."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references import log_uniform
from references_continuous import INVALID_PAIR, inf, parameters, positive
from scipy import stats


def truncated_exponential(x, lam, upper):
    return mp.log(lam) - lam * x - mp.log(-mp.expm1(-lam * upper)) if x <= upper and mp.isfinite(x) else -mp.inf


def truncated_exponential_tails(x, lam, upper):
    whole = mp.expm1(-lam * upper)
    return mp.expm1(-lam * x) / whole, mp.exp(-lam * x) * mp.expm1(lam * (x - upper)) / whole


def pareto_interval(rng, n):
    m = log_uniform(rng, 0.1, 10, n)
    return rng.normal(0, 2, n), m, m * (1 + log_uniform(rng, 0.1, 100, n))


def truncated_pareto(x, alpha, m, upper):
    if not m <= x <= upper or mp.isinf(x):
        return -mp.inf
    norm = (1 - (m / upper) ** alpha) / alpha if alpha else mp.log(upper / m)
    return -mp.log(norm * m) - (alpha + 1) * mp.log(x / m)


def truncated_pareto_tails(x, alpha, m, upper):
    if alpha == 0:
        p = mp.log(x / m) / mp.log(upper / m)
    else:
        p = (1 - (m / x) ** alpha) / (1 - (m / upper) ** alpha)
    return p, 1 - p


def weibull_interval(rng, n):
    alpha, beta = log_uniform(rng, 0.3, 5, n), log_uniform(rng, 0.1, 10, n)
    a, width = rng.uniform(0.02, 1.2, n), rng.uniform(0.05, 2, n)
    return alpha, beta, beta * a, beta * (a + width)


def truncated_weibull(x, alpha, beta, lower, upper):
    if not lower <= x <= upper or mp.isinf(x):
        return -mp.inf
    if x == 0 and alpha != 1:
        return mp.inf if alpha < 1 else -mp.inf
    mass = -mp.expm1((lower / beta) ** alpha - (upper / beta) ** alpha)
    return known.weibull(x, alpha, beta) + (lower / beta) ** alpha - mp.log(mass)


def truncated_weibull_tails(x, alpha, beta, lower, upper):
    a, y, b = ((v / beta) ** alpha for v in (lower, x, upper))
    whole = mp.expm1(a - b)
    return mp.expm1(a - y) / whole, mp.exp(a - y) * mp.expm1(y - b) / whole


def between(lower, upper):
    """Observations between two of the parameters, or 0 and one of them."""
    def observations(rng, p):
        low, high = 0 if lower is None else p[lower], p[upper]
        return low + (high - low) * rng.uniform(0.01, 0.99, p[0].shape)

    return observations


REFERENCES = {
    "truncated_exponential": family(
        truncated_exponential, truncated_exponential_tails, parameters(positive(), positive()), (0, lambda lam, upper: upper),
        [(0, 1, 1), (1, 1, 1), (1.5, 1, 1), (inf, 1, 1), (0.5, 1e-10, 1), (0.5, 1e-30, 1), (500, 1, 1e3), (1e-30, 1, 1e-20),
         (0.5, 1e5, 1), (5, 1, inf), (inf, 1, inf), (1e-3, 1e3, 2), (0.999, 3, 1)],
        INVALID_PAIR, lambda lam, upper: stats.truncexpon(lam * upper, scale=1 / lam), between(None, 1),
        [(1, 1), (1e-9, 2), (10, 3), (1e3, 1)],
    ),
    "truncated_pareto": family(
        truncated_pareto, truncated_pareto_tails, pareto_interval, (lambda alpha, m, upper: m, lambda alpha, m, upper: upper),
        [(1, 2, 1, 3), (3, 2, 1, 3), (0.99, 2, 1, 3), (3.5, 2, 1, 3), (inf, 2, 1, 3), (2, 0, 1, 3), (2, 1e-30, 1, 3),
         (2, -1, 1, 3),
         (1e5, 2, 1, 1e10), (1e5, 0.5, 1, inf), (2, 30, 1, 1e3), (1.5, -30, 1, 2), (1 + 2**-20, 2, 1, 1 + 2**-18),
         (-inf, 2, 1, 3)],
        [(1, 0, 1), (1, -1, 1), (1, 2, 1), (1, 1, 1), (np.nan, 1, 2), (1, np.nan, 2), (1, 1, np.nan)],
        lambda alpha, m, upper: stats.truncpareto(alpha, upper / m, scale=m), between(1, 2),
        [(1, 1, 2), (0.5, 1, 1e6), (10, 2, 3), (-2, 1, 3)],
    ),
    "truncated_weibull": family(
        truncated_weibull, truncated_weibull_tails, weibull_interval,
        (lambda alpha, beta, lower, upper: lower, lambda alpha, beta, lower, upper: upper),
        [(1, 2, 1, 0.5, 3), (0.5, 2, 1, 0.5, 3), (3, 2, 1, 0.5, 3), (0, 1, 1, 0, 2), (0, 0.5, 1, 0, 2), (0, 2, 1, 0, 2),
         (0.4, 2, 1, 0.5, 3), (4, 2, 1, 0.5, 3), (1, 2, 1, 0, inf), (inf, 2, 1, 0, inf), (20, 1, 1, 19, 21),
         (30, 2, 1, 30, inf),
         (1e-20, 3, 1, 0, 2e-20), (1 + 2**-20, 2, 1, 1, 1 + 2**-18), (0.5, 1e-10, 1, 0.25, 1)],
        [(0, 1, 0, 1), (-1, 1, 0, 1), (1, 0, 0, 1), (1, 1, -1, 1), (1, 1, 2, 1), (1, 1, 1, 1), (np.nan, 1, 0, 1),
         (1, np.nan, 0, 1),
         (1, 1, np.nan, 1), (1, 1, 0, np.nan)],
        lambda alpha, beta, lower, upper: stats.truncweibull_min(alpha, lower / beta, upper / beta, scale=beta), between(2, 3),
        [(1, 1, 0, 2), (0.5, 1, 0.1, 1), (3, 2, 1, 5), (2, 1, 3, 4)],
    ),
}  # fmt: skip
