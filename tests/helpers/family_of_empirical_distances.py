"""Distances between empirical distribution functions and the true one."""

import mpmath as mp
import numpy as np
from families import family
from references_continuous import INVALID_SCALE, inf, parameters, positive
from scipy import stats


def terms(function):
    """The sum of function(k) over k = 1, 2, … until nothing is added"""
    total, k = mp.mpf(0), 1
    while True:
        term = function(k)
        total, k = total + term, k + 1
        if abs(term) <= mp.eps * abs(total) * mp.mpf("1e-10") and k > 3:
            return total


def kolmogorov(x, sigma):
    if x == 0 or mp.isinf(x):
        return -mp.inf
    z = x / sigma
    if z > 1:
        return mp.log(8 * z / sigma * terms(lambda k: -((-1) ** k) * k**2 * mp.exp(-2 * k**2 * z**2)))
    odd = terms(lambda k: ((2 * k - 1) ** 2 * mp.pi**2 / (4 * z**2) - 1) * mp.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * z**2)))
    return mp.log(mp.sqrt(2 * mp.pi) / z**2 / sigma * odd)


def kolmogorov_tails(x, sigma):
    z = x / sigma
    if z > 1:
        above = 2 * terms(lambda k: -((-1) ** k) * mp.exp(-2 * k**2 * z**2))
        return 1 - above, above
    below = mp.sqrt(2 * mp.pi) / z * terms(lambda k: mp.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * z**2)))
    return below, 1 - below


def above_terms(x, n):
    """The terms of P(X > x), and the derivatives of their logarithms"""
    for j in range(int(mp.ceil(n * (1 - x)))):
        p, q = x + j / n, 1 - x - j / n
        term = mp.binomial(n, j) * x * p ** (j - 1) * q ** (n - j)
        yield term, 1 / x + (j - 1) / p - (n - j) / q


def one_sided(x, n):
    if x in (0, 1):
        return mp.mpf(0) if n == 1 or not x else -mp.inf
    return mp.log(-mp.fsum(term * slope for term, slope in above_terms(x, n)))


def one_sided_tails(x, n):
    above = mp.fsum(term for term, _ in above_terms(x, n))
    return 1 - above, above


def two_sided_below(x, n):
    """P(X <= x) and its derivative, x < 1/2: coefficient n of A(n x)^2 / A(2 n x), see the density's source"""
    n, d = int(n), n * x
    with mp.workdps(mp.mp.dps + int(4 * d + 2)):

        def polynomial(x, factor):
            """The coefficients of A(x), and their derivatives in d, of which x is a multiple"""
            numbers = range(int(mp.ceil(x)))
            values = [(j - x) ** j / mp.factorial(j) for j in numbers]
            return values, [-factor * j * (j - x) ** (j - 1) / mp.factorial(j) if j else mp.mpf(0) for j in numbers]

        top, dtop = polynomial(d, 1)
        bottom, dbottom = polynomial(2 * d, 2)

        def product(a, b, i):
            return mp.fsum(a[j] * b[i - j] for j in range(max(0, i - len(b) + 1), min(i + 1, len(a))))

        value, change = [], []
        for i in range(n + 1):
            value.append(product(top, top, i) - product(bottom[1:], value, i - 1))
            change.append(2 * product(top, dtop, i) - product(bottom[1:], change, i - 1) - product(dbottom, value, i))
        scale = mp.factorial(n) / mp.mpf(n) ** n
        return value[n] * scale, change[n] * scale * n


def two_sided(x, n):
    if 2 * n * x <= 1:
        return -mp.inf
    return mp.log(2) + one_sided(x, n) if 2 * x >= 1 else mp.log(two_sided_below(x, n)[1])


def two_sided_tails(x, n):
    if 2 * n * x <= 1:
        return mp.mpf(0), mp.mpf(1)
    if 2 * x >= 1:
        above = 2 * one_sided_tails(x, n)[1]
        return 1 - above, above
    below = two_sided_below(x, n)[0]
    return below, 1 - below


def sizes(rng, n):
    return np.floor(np.exp(rng.uniform(0, np.log(150), n)))


def distances(rng, p):
    """Not at multiples of 1 / n, where the density has kinks"""
    n = p[0]
    x = np.minimum(np.sqrt(rng.exponential(1, n.shape) / (2 * n)), 0.95)
    return (np.floor(n * x) + rng.uniform(0.1, 0.9, n.shape)) / n


def two_sided_distances(rng, p):
    """Likewise, at multiples of 1 / (2 n)"""
    return (np.maximum(np.floor(2 * p[0] * distances(rng, p)), 1) + rng.uniform(0.1, 0.9, p[0].shape)) / (2 * p[0])


REFERENCES = {
    "kolmogorov_smirnov": family(
        two_sided, two_sided_tails, parameters(sizes), (lambda n: 0.5 / n, 1),
        [(0, 1), (1, 1), (1, 5), (0.75, 1), (0.25, 1), (0.75, 3), (0.46875, 4), (0.125, 5), (0.3125, 5), (0.3125, 10),
         (0.28125, 10), (0.0625, 100), (0.028, 100), (0.25, 100), (0.005078125, 100), (0.03125, 200), (0.125, 200), (0.9, 300),
         (0.999, 4)],
        [(0,), (-1,), (0.5,), (np.nan,)], stats.kstwo, two_sided_distances, [(1,), (2,), (10,), (60,)],
        rtol32=2e-4, reason="up to three digits cancel where x is small",
    ),
    "kolmogorov_smirnov_one_sided": family(
        one_sided, one_sided_tails, parameters(sizes), (0, 1),
        [(0, 1), (0, 5), (1, 1), (1, 5), (0.25, 1), (0.75, 3), (1e-10, 4), (1e-30, 100), (1e-3, 500), (0.5, 1000), (0.9, 300),
         (0.01, 1000), (0.03125, 200), (0.999, 50), (0.99999, 3), (1 - 2**-20, 4), (0.7, 3), (0.95, 5), (0.999, 4)],
        [(0,), (-1,), (0.5,), (np.nan,)], stats.ksone, distances, [(1,), (2,), (10,), (60,)],
        rtol32=2e-4, reason="up to three digits cancel where x is small",
    ),
    "kolmogorov": family(
        kolmogorov, kolmogorov_tails, parameters(positive()), (0, inf),
        [(0, 1), (inf, 1), (0.05, 1), (0.01, 1), (1, 1), (0.9990234375, 1), (5, 1), (100, 1), (1e-30, 1e-30), (0.02, 0.01)],
        INVALID_SCALE, lambda sigma: stats.kstwobign(scale=sigma),
        lambda rng, p: p[0] * rng.uniform(0.3, 3, p[0].shape), [(1,), (1e-5,)],
    ),
}  # fmt: skip
