"""Series, waiting times, power laws and differences of whole numbers; numbers drawn without replacement."""

import functools
from types import SimpleNamespace

import mpmath as mp
import numpy as np
from families import family
from references_discrete import draws, inf, log_choose, nan, parameters, positive, unit, up_to
from scipy import stats
from tails import from_log_sf


def counted(logpmf, tails, parameters, ends, extreme, invalid, theirs=None, observations=None, drawn=(), **options):
    """A family's member whose support are whole numbers behind the first of `ends`, up to the second."""

    def on_whole_numbers(x, *p):
        low, high = (end(*p) if callable(end) else end for end in ends)
        return logpmf(x, *p) if mp.isint(x) and low < x <= high else -mp.inf

    return family(
        on_whole_numbers, tails, parameters, ends, extreme, invalid, theirs, observations or draws(theirs), drawn, **options
    )


def summed(logpmf, x, ends, center):
    """Both tails, the one behind x by its sum, until nothing more is added."""
    below, k = x < center, x if x < center else x + 1
    start, total, term = k, mp.mpf(0), mp.mpf(1)
    while ends[0] < k <= ends[1]:
        term = mp.exp(logpmf(k))
        total += term
        if term < mp.eps * total and abs(k - start) > 2:
            break
        k += -1 if below else 1
    return (total, 1 - total) if below else (1 - total, total)


# ---- (log-)probabilities; both tails ---------------------------------------------------------------------------------


def discrete_laplace_tails(x, a):
    p = mp.exp(-a)
    if x < 0:
        return p**-x / (1 + p), 1 - p**-x / (1 + p)
    return 1 - p ** (x + 1) / (1 + p), p ** (x + 1) / (1 + p)


def boltzmann_tails(x, lam, n):
    whole = -mp.expm1(-lam * n)
    return -mp.expm1(-lam * (x + 1)) / whole, mp.exp(-lam * (x + 1)) * -mp.expm1(-lam * (n - x - 1)) / whole


def log_series_tails(x, p):
    """With t = p exp(-s) in the integral of t^x / (1 - t) from 0 to p."""
    first = min(-mp.log(p), 1 / (x + 1)) / 4
    nodes = [mp.mpf(0), *(first * 2**j for j in range(int(mp.log(100 / (x + 1) / first, 2)) + 2))]
    sf = mp.quad(lambda s: mp.exp(-(x + 1) * s) / (1 - p * mp.exp(-s)), nodes, method="gauss-legendre")
    sf *= p ** (x + 1) / -mp.log1p(-p)
    return 1 - sf, sf


def yule_simon_tails(x, alpha):
    sf = mp.exp(mp.loggamma(x + 1) + mp.loggamma(alpha + 1) - mp.loggamma(x + alpha + 1))
    return 1 - sf, sf


def discrete_weibull(x, q, beta):
    return mp.log(q ** (x**beta) - q ** ((x + 1) ** beta))


def discrete_weibulls(q, beta):
    """scipy.stats has none: its distribution function."""
    q, beta = map(np.asarray, (q, beta))
    return SimpleNamespace(
        cdf=lambda x: np.where(np.floor(x) < 0, 0.0, 1 - q ** (np.maximum(np.floor(x), -1) + 1.0) ** beta),
        stats=lambda moments: (np.nan, np.nan, np.nan),
        rvs=lambda random_state: np.floor((np.log(random_state.uniform(size=q.shape)) / np.log(q)) ** (1 / beta)),
    )


def hypergeometric(x, total, k, n):
    return log_choose(k, x) + log_choose(total - k, n - x) - log_choose(total, n)


def hypergeometric_ends(total, k, n):
    return max(mp.mpf(0), n - total + k) - 1, min(k, n)


def hypergeometric_tails(x, total, k, n):
    return summed(lambda j: hypergeometric(j, total, k, n), x, hypergeometric_ends(total, k, n), n * k / total)


def fisher(x, total, k, n, omega):
    low, high = map(int, hypergeometric_ends(total, k, n))
    terms = [mp.exp(hypergeometric(mp.mpf(j), total, k, n)) * omega**j for j in range(low + 1, high + 1)]
    return mp.log(terms[int(x) - low - 1] / mp.fsum(terms))


def fisher_tails(x, total, k, n, omega):
    low, high = map(int, hypergeometric_ends(total, k, n))
    terms = [mp.exp(hypergeometric(mp.mpf(j), total, k, n)) * omega**j for j in range(low + 1, high + 1)]
    return mp.fsum(terms[: int(x) - low]) / mp.fsum(terms), mp.fsum(terms[int(x) - low :]) / mp.fsum(terms)


@functools.cache
def wallenius_masses(total, k, n, omega, digits):
    """The probabilities of 0, …, n successes, draw by draw."""
    masses = [mp.mpf(1)]
    for drawn in range(int(n)):
        more = [mp.mpf(0)] * (drawn + 2)
        for x, mass in enumerate(masses):
            successes, failures = omega * max(k - x, 0), max(total - k - (drawn - x), 0)
            if mass:
                more[x + 1] += mass * successes / (successes + failures)
                more[x] += mass * failures / (successes + failures)
        masses = more
    return masses


def wallenius(x, total, k, n, omega):
    return mp.log(wallenius_masses(total, k, n, omega, mp.mp.dps)[int(x)])


def wallenius_tails(x, total, k, n, omega):
    masses = wallenius_masses(total, k, n, omega, mp.mp.dps)
    return mp.fsum(masses[: int(x) + 1]), mp.fsum(masses[int(x) + 1 :])


def few_draws_without_replacement(rng, n):
    return (*draws_without_replacement(rng, n, 4), np.exp(rng.normal(0, 1.5, n)))


def draws_without_replacement(rng, n, log_most=6):
    total = np.round(np.exp(rng.uniform(0, log_most, n)))
    return total, np.floor(rng.uniform(size=n) * (total + 1)), np.floor(rng.uniform(size=n) * (total + 1))


def between_the_ends(rng, p):
    low, high = np.maximum(0, p[2] - p[0] + p[1]), np.minimum(p[1], p[2])
    return low + np.floor(rng.uniform(size=low.shape) * (high - low + 1))


def negative_hypergeometric(x, total, n, r):
    return log_choose(x + r - 1, x) + log_choose(total - r - x, n - x) - log_choose(total, n)


def negative_hypergeometric_tails(x, total, n, r):
    ends, center = (-1, n), r * n / (total - n + 1)
    return summed(lambda j: negative_hypergeometric(j, total, n, r), x, ends, center)


def until_failures(rng, n):
    total, successes, rest = draws_without_replacement(rng, n)
    successes = np.minimum(successes, total - 1)
    return total, successes, 1 + np.floor(rng.uniform(size=n) * (total - successes))


def power_sum(a, first, last):
    """The sum of k^-a for k = first, …, last"""
    if a == 1:
        return mp.digamma(last + 1) - mp.digamma(first)
    if mp.isinf(last):
        return mp.zeta(a, first)
    return mp.fsum(mp.mpf(k) ** -a for k in range(int(first), int(last) + 1)) if last - first < 60 else (
        mp.zeta(a, first) - mp.zeta(a, last + 1))  # fmt: skip


def zipfian(x, a, n):
    return -a * mp.log(x) - mp.log(power_sum(a, mp.mpf(1), n))


def zipf_tails(x, a):
    return 1 - mp.zeta(a, x + 1) / mp.zeta(a), mp.zeta(a, x + 1) / mp.zeta(a)


def zipfian_tails(x, a, n):
    whole = power_sum(a, mp.mpf(1), n)
    return power_sum(a, mp.mpf(1), x) / whole, power_sum(a, x + 1, n) / whole


def skellam(x, mu1, mu2):
    """The sum of P(first = j + x) P(second = j), from its largest term in both directions."""
    middle = mp.floor((mp.sqrt(x * x + 4 * mu1 * mu2) - x) / 2)
    middle = max(middle, -x, mp.mpf(0))
    largest = (middle + x) * mp.log(mu1) + middle * mp.log(mu2) - mp.loggamma(middle + x + 1) - mp.loggamma(middle + 1)
    total, term, j = mp.mpf(1), mp.mpf(1), middle
    while term > mp.eps * total / 1000:
        j += 1
        term *= mu1 * mu2 / ((j + x) * j)
        total += term
    term, j = mp.mpf(1), middle
    while j > 0 and j + x > 0 and term > mp.eps * total / 1000:
        term *= (j + x) * j / (mu1 * mu2)
        total += term
        j -= 1
    return largest - mu1 - mu2 + mp.log(total)


def skellam_tails(x, mu1, mu2):
    return summed(lambda j: skellam(j, mu1, mu2), x, (-mp.inf, mp.inf), mu1 - mu2)


OUTSIDE = (-1, 0.5, inf, -inf)
INVALID_PAIR = [(0, 1), (1, 0), (-1, 1), (1, -1), (nan, 1), (1, nan)]
BELOW_ONE = [(0,), (1,), (-0.1,), (1.1,), (nan,)]

REFERENCES = {
    "discrete_laplace": counted(
        lambda x, a: mp.log(mp.tanh(a / 2)) - a * abs(x), discrete_laplace_tails, parameters(positive(0.01, 10)),
        (-inf, inf),
        [(x, 1) for x in (0.5, inf, -inf)]
        + [(x, a) for a in (1e-300, 1e-30, 1e-3, 1, 50, 800) for x in (0, 1, -1, 1000, -1e9)],
        [(0,), (-1,), (nan,)], stats.dlaplace, drawn=[(1,), (1e-3,), (30,), (0.3,)],
    ),
    "planck": counted(
        lambda x, lam: mp.log(-mp.expm1(-lam)) - lam * x, lambda x, lam: from_log_sf(-lam * (x + 1)),
        parameters(positive(0.01, 10)), (-1, inf),
        [(x, 1) for x in OUTSIDE] + [(x, a) for a in (1e-300, 1e-30, 1e-3, 1, 50, 800) for x in (0, 1, 1000, 1e9)],
        [(0,), (-1,), (nan,)], stats.planck, drawn=[(1,), (1e-3,), (30,), (0.3,)],
    ),
    "boltzmann": counted(
        lambda x, lam, n: mp.log(mp.expm1(-lam) / mp.expm1(-lam * n)) - lam * x, boltzmann_tails,
        parameters(positive(0.001, 0.3), lambda rng, n: np.round(np.exp(rng.uniform(0, 7, n)))), (-1, lambda lam, n: n - 1),
        [(x, 1, 5) for x in (5, 6, *OUTSIDE)]
        + [(x, a, n) for a in (1e-30, 1e-3, 1, 50, 800) for n in (1, 2, 1001, 1e9) for x in (0, 1, 1000, 1e9 - 1)],
        [(0, 5), (-1, 5), (nan, 5), (1, 0), (1, -1), (1, 2.5), (1, nan)], stats.boltzmann,
        lambda rng, p: np.floor(rng.uniform(size=p[0].shape) ** 2 * p[1]),
        drawn=[(1, 5), (1e-6, 1000), (30, 10), (0.3, 1)],
    ),
    "log_series": counted(
        lambda x, p: x * mp.log(p) - mp.log(x) - mp.log(-mp.log1p(-p)), log_series_tails, parameters(unit), (0, inf),
        [(x, 0.5) for x in (0, *OUTSIDE)]
        + [(x, p) for p in (1e-300, 1e-30, 1e-3, 0.5, 0.99, 1 - 2**-20) for x in (1, 2, 100, 1e6)],
        BELOW_ONE, stats.logser, drawn=[(0.5,), (1e-6,), (0.99,), (0.3,)], digits=30,
    ),
    "yule_simon": counted(
        lambda x, alpha: mp.log(alpha) + mp.log(mp.beta(x, alpha + 1)), yule_simon_tails, parameters(positive(0.1, 100)),
        (0, inf),
        [(x, 2) for x in (0, *OUTSIDE)]
        + [(x, alpha) for alpha in (1e-30, 1e-9, 0.4, 1, 3, 1e3, 1e12) for x in (1, 2, 100, 1e9)],
        [(0,), (-1,), (nan,)], stats.yulesimon, lambda rng, p: np.maximum(draws(stats.yulesimon)(rng, p), 1),
        drawn=[(2,), (1.2,), (11,), (1e3,)],
    ),
    "discrete_weibull": counted(
        discrete_weibull, lambda x, q, beta: from_log_sf((x + 1) ** beta * mp.log(q)), parameters(unit, positive(0.3, 3)),
        (-1, inf),
        [(x, 0.5, 1) for x in OUTSIDE]
        + [(x, q, beta) for q in (1e-30, 0.5, 1 - 2**-20) for beta in (1e-3, 0.5, 1, 3) for x in (0, 1, 2, 100)],
        [(0, 1), (1, 1), (-0.1, 1), (1.1, 1), (nan, 1), (0.5, 0), (0.5, -1), (0.5, nan)], discrete_weibulls,
        drawn=[(0.5, 1), (0.9, 0.5), (0.999, 2), (1e-3, 1)], scipy=False,
    ),
    "negative_hypergeometric": counted(
        negative_hypergeometric, negative_hypergeometric_tails, until_failures, (-1, lambda total, n, r: n),
        [(x, 10, 4, 3) for x in (5, *OUTSIDE)]
        + [(0, 1, 0, 1), (0, 5, 0, 3), (5, 6, 5, 1), (0, 6, 5, 1), (300, 1000, 700, 200), (700, 1000, 700, 300),
           (1, 2**20, 3, 2**19), (3, 2**20, 3, 2**20 - 3)],
        [(5, 6, 1), (5, 5, 1), (5, 4, 2), (5, 2, -1), (5.5, 2, 1), (5, -1, 1), (nan, 2, 1), (5, nan, 1), (5, 2, nan)],
        stats.nhypergeom, up_to(1), drawn=[(10, 4, 3), (1000, 300, 50), (20, 19, 1)],
    ),
    "hypergeometric": counted(
        hypergeometric, hypergeometric_tails, draws_without_replacement,
        (lambda *p: hypergeometric_ends(*p)[0], lambda *p: hypergeometric_ends(*p)[1]),
        [(x, 10, 4, 5) for x in (5, *OUTSIDE)]
        + [(0, 0, 0, 0), (0, 5, 0, 3), (3, 5, 5, 3), (2, 5, 2, 5), (1, 5, 2, 5), (300, 1000, 700, 400), (400, 1000, 700, 400),
           (100, 1000, 700, 400), (2, 2**20, 3, 2**19), (0, 2**20, 2**19, 20), (2**13 + 99, 2**20, 2**14, 2**19)],
        [(5, 6, 1), (5, 2, 6), (5.5, 2, 1), (5, -1, 1), (nan, 2, 1), (5, nan, 1), (5, 2, nan)],
        stats.hypergeom, between_the_ends,
        drawn=[(10, 4, 3), (1000, 300, 50), (20, 19, 1), (1e6, 3e5, 2e5), (50, 40, 45)],
    ),
    "fisher_noncentral_hypergeometric": counted(
        fisher, fisher_tails, lambda rng, n: (*draws_without_replacement(rng, n), np.exp(rng.normal(0, 2, n))),
        (lambda *p: hypergeometric_ends(*p[:3])[0], lambda *p: hypergeometric_ends(*p[:3])[1]),
        [(x, 10, 4, 5, 2) for x in (5, *OUTSIDE)]
        + [(0, 0, 0, 0, 2), (0, 5, 0, 3, 2), (3, 5, 5, 3, 2), (2, 5, 2, 5, 2), (300, 1000, 700, 400, 0.5),
           (400, 1000, 700, 400, 30), (100, 1000, 700, 400, 1e-3), (2, 20, 3, 5, 1e-12), (0, 20, 3, 5, 1e12), (2, 20, 3, 5, 1)],
        [(5, 6, 1, 1), (5, 2, 6, 1), (5.5, 2, 1, 1), (5, -1, 1, 1), (nan, 2, 1, 1), (5, nan, 1, 1), (5, 2, nan, 1),
         (5, 2, 3, 0), (5, 2, 3, -1), (5, 2, 3, nan)],
        lambda total, k, n, omega: stats.nchypergeom_fisher(total, k, n, omega), between_the_ends, scipy=False,
        drawn=[(10, 4, 3, 2), (1000, 300, 50, 0.1), (20, 19, 1, 5), (500, 40, 450, 30)], rtol32=1e-4,
        reason="logarithms of binomial coefficients of hundreds of objects are subtracted",
    ),
    "wallenius_noncentral_hypergeometric": counted(
        wallenius, wallenius_tails, few_draws_without_replacement,
        (lambda *p: hypergeometric_ends(*p[:3])[0], lambda *p: hypergeometric_ends(*p[:3])[1]),
        [(x, 10, 4, 5, 2) for x in (5, *OUTSIDE)]
        + [(0, 0, 0, 0, 2), (0, 5, 0, 3, 2), (3, 5, 5, 3, 2), (2, 5, 2, 5, 2), (1, 5, 2, 4, 3), (30, 100, 70, 40, 0.5),
           (40, 100, 70, 40, 30), (10, 100, 70, 40, 1e-3), (2, 20, 3, 5, 1e-12), (0, 20, 3, 5, 1e12), (2, 20, 3, 5, 1)],
        [(5, 6, 1, 1), (5, 2, 6, 1), (5.5, 2, 1, 1), (5, -1, 1, 1), (nan, 2, 1, 1), (5, nan, 1, 1), (5, 2, nan, 1),
         (5, 2, 3, 0), (5, 2, 3, -1), (5, 2, 3, nan)],
        lambda total, k, n, omega: stats.nchypergeom_wallenius(total, k, n, omega), between_the_ends, scipy=False,
        drawn=[(10, 4, 3, 2), (1000, 300, 50, 0.1), (20, 19, 1, 5), (500, 40, 450, 30)],
        rtol32=1e-4, reason="omega's derivative is a mean of what takes both signs",
    ),
    "zipf": counted(
        lambda x, a: -a * mp.log(x) - mp.log(mp.zeta(a)), zipf_tails,
        parameters(lambda rng, n: 1 + np.exp(rng.uniform(-0.8, 2.5, n))), (0, inf),
        [(x, 2) for x in (0, *OUTSIDE)]
        + [(x, a) for a in (1 + 2**-20, 1.5, 3, 12.5, 40, 1000) for x in (1, 2, 11, 100, 1e9)],
        [(1,), (0.5,), (0,), (-1,), (nan,)], stats.zipf,
        lambda rng, p: np.floor(np.exp(rng.uniform(0, 8, len(p[0])))), drawn=[(1.7,), (2.5,), (6,), (20,)], digits=40,
    ),
    "zipfian": counted(
        zipfian, zipfian_tails, parameters(positive(0.01, 20), lambda rng, n: np.round(np.exp(rng.uniform(0, 8, n)))),
        (0, lambda a, n: n),
        [(x, 2, 9) for x in (0, 10, *OUTSIDE)]
        + [(x, a, n) for a in (0, 1e-9, 0.5, 1, 1 + 2**-20, 3, 40, 1000) for n in (1, 2, 13, 1e9) for x in (1, 2, 11, 1e9)],
        [(-1, 5), (nan, 5), (1, 0), (1, -1), (1, 2.5), (1, nan)], stats.zipfian,
        lambda rng, p: 1 + np.floor(rng.uniform(size=len(p[0])) ** 3 * p[1]),
        drawn=[(0, 10), (1, 1000), (0.5, 50), (2, 7), (1.2, 1e5)], digits=40,
    ),
    "skellam": counted(
        skellam, skellam_tails, parameters(positive(0.1, 100), positive(0.1, 100)), (-inf, inf),
        [(x, 2, 3) for x in (0.5, inf, -inf)]
        + [(x, mu1, mu2) for mu1 in (1e-30, 0.5, 300) for mu2 in (1e-30, 2, 400) for x in (0, 1, -1, -100, 30, 1000)]
        + [(300, 2**12, 2**12), (0, 2**10, 2**12 - 2**10), (2**10, 2**11 - 64, 2**10), (-(2**10), 2**5, 2**10)],
        INVALID_PAIR, stats.skellam, drawn=[(1, 1), (30, 0.2), (1e5, 1e4), (1e-3, 5)], digits=30, scipy=False,
    ),
}  # fmt: skip
