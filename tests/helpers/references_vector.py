"""References of the densities with vector arguments: their definitions, evaluated by mpmath at 60 digits."""

import functools

import mpmath as mp
import numpy as np
from references import Reference, log_uniform
from references_discrete import OUTSIDE, expit, log, log_choose, log_factorial, times_log
from scipy import stats

INF = mp.inf
inf = np.inf
nan = np.nan


# ---- log-densities; vectors are lists of mpmath numbers --------------------------------------------------------------


def is_category(x, count):
    return mp.isint(x) and 0 <= x < count


def categorical(x, p):
    return log(p[int(x)]) if is_category(x, len(p)) else -INF


def categorical_logit(x, eta):
    return eta[int(x)] - mp.log(sum(mp.exp(e) for e in eta)) if is_category(x, len(eta)) else -INF


def ordered_logit(x, eta, cutpoints):
    if not is_category(x, len(cutpoints) + 1):
        return -INF
    bounds = [0, *(expit(c - eta) for c in cutpoints), 1]
    return mp.log(bounds[int(x) + 1] - bounds[int(x)])


def ordered_probit(x, eta, cutpoints, sigma):
    if not is_category(x, len(cutpoints) + 1):
        return -INF
    bounds = [-INF, *((c - eta) / sigma for c in cutpoints), INF]
    below, above = bounds[int(x)], bounds[int(x) + 1]
    return mp.log(mp.ncdf(above) - mp.ncdf(below) if above < 0 else mp.ncdf(-below) - mp.ncdf(-above))


def successes(p):
    """The probabilities of each number of successes, trial by trial."""
    masses = [mp.mpf(1)]
    for q in p:
        masses = [(1 - q) * a + q * b for a, b in zip([*masses, 0], [0, *masses])]
    return masses


def poisson_binomial(x, p):
    return log(successes(p)[int(x)]) if is_category(x, len(p) + 1) else -INF


def dirichlet(x, a):
    if min(x) < 0 or abs(sum(x) - 1) > 1e-3:
        return -INF
    return mp.loggamma(sum(a)) + sum(times_log(c - 1, y) - mp.loggamma(c) for y, c in zip(x, a))


def multinomial(x, n, p):
    if sum(x) != n or min(x) < 0 or not all(map(mp.isint, x)):
        return -INF
    return log_factorial(n) + sum(times_log(y, q) - log_factorial(y) for y, q in zip(x, p))


def dirichlet_multinomial(x, n, a):
    if sum(x) != n or min(x) < 0 or not all(map(mp.isint, x)):
        return -INF
    outcomes = sum(mp.loggamma(y + b) - mp.loggamma(b) - log_factorial(y) for y, b in zip(x, a))
    return log_factorial(n) + mp.loggamma(sum(a)) - mp.loggamma(n + sum(a)) + outcomes


def interval(x, x_points):
    return max(i for i in range(len(x_points) - 1) if x_points[i] <= x or i == 0)


def interpolated(x, x_points, pdf_points):
    if not x_points[0] <= x <= x_points[-1]:
        return -INF
    i = interval(x, x_points)
    share = (x - x_points[i]) / (x_points[i + 1] - x_points[i])
    area = sum(
        (pdf_points[j] + pdf_points[j + 1]) / 2 * (x_points[j + 1] - x_points[j]) for j in range(len(x_points) - 1)
    )
    return log(pdf_points[i] * (1 - share) + pdf_points[i + 1] * share) - mp.log(area)


def garch11(x, omega, alpha_1, beta_1, initial_vol):
    variance, total = initial_vol**2, mp.mpf(0)
    for i, y in enumerate(x):
        if i:
            variance = omega + alpha_1 * x[i - 1] ** 2 + beta_1 * variance
        total -= (mp.log(2 * mp.pi * variance) + y**2 / variance) / 2
    return total


def von_mises_fisher(x, mu, kappa):
    """With kappa mu' x as kappa - kappa (x - mu)' (x - mu) / 2"""
    if abs(sum(y * y for y in x) - 1) > 1e-3:
        return -INF
    order = mp.mpf(len(x)) / 2 - 1
    along = -kappa * sum((y - m) ** 2 for y, m in zip(x, mu)) / 2
    if kappa == 0:
        return along - mp.log(2) - (order + 1) * mp.log(mp.pi) + mp.loggamma(order + 1)
    scaled = mp.besseli(order, kappa) * mp.exp(-kappa)
    return order * mp.log(kappa) - (order + 1) * mp.log(2 * mp.pi) - mp.log(scaled) + along


def multivariate_hypergeometric(x, n, m):
    if sum(x) != n or min(x) < 0 or not all(map(mp.isint, x)) or any(y > k for y, k in zip(x, m)):
        return -INF
    return sum(log_choose(k, y) for y, k in zip(x, m)) - log_choose(sum(m), n)


def stick_breaking_weights(x, alpha):
    if min(x) < 0 or abs(sum(x) - 1) > 1e-3:
        return -INF
    rests = [sum(x[i:]) for i in range(1, len(x) - 1)]
    return (len(x) - 1) * mp.log(alpha) + times_log(alpha - 1, x[-1]) - sum(map(mp.log, rests))


def zero_sum_normal(x, sigma):
    """The density of the numbers in an orthonormal basis: for vectors that sum to zero, their squares sum to theirs."""
    if abs(sum(x)) > 1e-3 * sum(map(abs, x)) or any(map(mp.isinf, x)):
        return -INF
    return -(len(x) - 1) * mp.log(sigma * mp.sqrt(2 * mp.pi)) - sum(y * y for y in x) / (2 * sigma**2)


def normal_inverse_gamma(x, mu, lam, alpha, beta):
    mean, variance = x
    if variance <= 0 or mp.isinf(variance) or mp.isinf(mean):
        return -INF
    of_variance = alpha * mp.log(beta) - mp.loggamma(alpha) - (alpha + 1) * mp.log(variance) - beta / variance
    return of_variance + (mp.log(lam / (2 * mp.pi * variance)) - lam * (mean - mu) ** 2 / variance) / 2


# ---- random arguments ------------------------------------------------------------------------------------------------


def exactly(function, *ranks, digits=60):
    """Makes of a function of mpmath numbers and lists of them one of float64 arrays; rank 1: along the last axis."""

    @functools.wraps(function)
    def elementwise(*args):
        shape = np.broadcast_shapes(*(np.shape(a)[: np.ndim(a) - rank] for a, rank in zip(args, ranks)))
        values = np.empty(shape)
        whole = [np.broadcast_to(a, shape + np.shape(a)[np.ndim(a) - rank :]) for a, rank in zip(args, ranks)]
        with mp.workdps(digits):
            for i in np.ndindex(shape):
                row = [list(map(mp.mpf, a[i].tolist())) if rank else mp.mpf(float(a[i]))
                 for a, rank in zip(whole, ranks)]
                values[i] = float(function(*row))
        return values

    return elementwise


def weights(rng, n, dim=4):
    p = log_uniform(rng, 0.01, 1, (n, dim))
    return p / p.sum(-1, keepdims=True)


def category(index, more=0):
    """Observations from 0 to the length of parameter `index`, which is left out unless `more` is 1"""
    return lambda rng, p: rng.integers(0, p[index].shape[-1] + more, len(p[index])).astype(float)


def dirichlet_draws(rng, p):
    x = rng.gamma(p[0]) ** rng.uniform(0.5, 1.5, (len(p[0]), 1)) + 1e-20
    return x / x.sum(-1, keepdims=True)


def multinomial_draws(rng, p):
    flat = np.full(p[1].shape[-1], 1 / p[1].shape[-1])
    tilt = rng.uniform(size=(len(p[0]), 1))
    return rng.multinomial(p[0].astype(int), tilt * p[1] + (1 - tilt) * flat).astype(float)


def dirichlet_multinomial_draws(rng, p):
    return multinomial_draws(rng, (p[0], p[1] / p[1].sum(-1, keepdims=True)))


def lattice(rng, n):
    return np.cumsum(log_uniform(rng, 0.01, 10, (n, 5)), -1) - 5, log_uniform(rng, 0.01, 10, (n, 5))


def between_points(rng, p):
    return p[0][:, 0] + rng.uniform(size=len(p[0])) * (p[0][:, -1] - p[0][:, 0])


def series(rng, p):
    return rng.normal(size=(len(p[0]), 6)) * p[3][:, None]


def direction(rng, n, dim=4):
    x = rng.normal(size=(n, dim))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def directions_around(rng, p):
    x = p[0] + rng.normal(size=p[0].shape) / np.sqrt(0.1 + p[1][:, None])
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def drawn_without_replacement(rng, p):
    return np.array([rng.multivariate_hypergeometric(m.astype(int), int(n)) for n, m in zip(*p)], float)


def numbers_of_kinds(rng, n, dim=4):
    m = np.round(log_uniform(rng, 1, 500, (n, dim)))
    return np.floor(rng.uniform(size=n) * (m.sum(-1) + 1)), m


def zero_sums(rng, p):
    x = p[0][:, None] * rng.normal(size=(len(p[0]), 4)) * log_uniform(rng, 0.1, 10, (len(p[0]), 1))
    return x - x.mean(-1, keepdims=True)


def means_and_variances(rng, p):
    mu, lam, alpha, beta = p
    variance = beta / rng.gamma(alpha) * log_uniform(rng, 0.3, 3, len(mu))
    return np.stack([mu + rng.standard_t(2, len(mu)) * np.sqrt(variance / lam), variance], -1)


def row_by_row(function):
    """scipy.stats' density, which takes one set of parameters at a time"""
    return lambda *args: np.array([function(*row) for row in zip(*args)])


QUARTERS = (0.25, 0.25, 0.5)

REFERENCES = {
    "categorical": Reference(
        exactly(categorical, 0, 1), lambda rng, n: (weights(rng, n),), category(0),
        [(x, QUARTERS) for x in (0, 1, 2, 3, 1e9, *OUTSIDE)]
        + [(x, (0, 1, 0)) for x in (0, 1, 2)]
        + [(0, (1e-30, 0.5, 0.5))],
        [((0.5, 0.6, 0.1),), ((-0.5, 1, 0.5),), ((nan, 0.5, 0.5),)],
    ),
    "categorical_logit": Reference(
        exactly(categorical_logit, 0, 1), lambda rng, n: (rng.normal(0, 5, (n, 4)),), category(0),
        [(x, (1, 2, 3)) for x in (0, 1, 2, 3, 1e9, *OUTSIDE)]
        + [(x, (-700, 0, 700)) for x in (0, 1, 2)]
        + [(1, (1e5, 1e5, 1e5)), (2, (1e5, 0, -1e5)), (1, (-1e30, -1e30, -1e30)), (0, (40, 0, 0)), (0, (-inf, 0, 0)),
           (1, (-inf, 0, 0))],
        [((nan, 0, 0),)],
    ),
    "ordered_logit": Reference(
        exactly(ordered_logit, 0, 0, 1, digits=1000),
        lambda rng, n: (rng.normal(0, 3, n), np.cumsum(log_uniform(rng, 0.01, 10, (n, 4)), -1) - 5),
        category(1, more=1),
        [(x, 0.5, (-1, 0, 2)) for x in (0, 1, 2, 3, 4, 1e9, *OUTSIDE)]
        + [(x, eta, (-1, 0, 2)) for x in (0, 1, 2, 3) for eta in (30, -30, 700, -700)]
        + [(1, 0, (0, 1e-10, 1)), (1, 5, (5, 5 + 2**-20, 6)), (1, 0, (-1000, 1000, 1001)), (1, 0, (1000, 1001, 1002))],
        [(nan, (0, 1, 2)), (0, (0, 0, 1)), (0, (1, 0, 2)), (0, (nan, 0, 1)), (0, (0, 1, nan))],
    ),
    "ordered_probit": Reference(
        exactly(ordered_probit, 0, 0, 1, 0, digits=60),
        lambda rng, n: (
            rng.normal(0, 3, n), np.cumsum(log_uniform(rng, 0.01, 10, (n, 4)), -1) - 5, log_uniform(rng, 0.1, 10, n)
        ),
        category(1, more=1),
        [(x, 0.5, (-1, 0, 2), 1) for x in (0, 1, 2, 3, 4, 1e9, *OUTSIDE)]
        + [(x, eta, (-1, 0, 2), sigma) for x in (0, 1, 2, 3) for eta, sigma in ((30, 1), (-30, 1), (700, 30), (0, 1e-3))]
        + [(1, 0, (0, 1e-10, 1), 1), (1, 5, (5, 5 + 2**-20, 6), 1), (1, 0, (10, 11, 12), 1)],
        [(nan, (0, 1, 2), 1), (0, (0, 0, 1), 1), (0, (1, 0, 2), 1), (0, (nan, 0, 1), 1), (0, (0, 1, 2), 0),
         (0, (0, 1, 2), nan)],
    ),
    "poisson_binomial": Reference(
        exactly(poisson_binomial, 0, 1), lambda rng, n: (rng.beta(0.5, 0.5, (n, 5)),), category(0, more=1),
        [(x, (0.1, 0.6, 0.7, 0.8, 0.3)) for x in (0, 1, 3, 5, 6, 1e9, *OUTSIDE)]
        + [(x, (0, 1, 0.5, 1e-9, 0)) for x in range(5)]
        + [(x, (1, 1, 0, 1, 0)) for x in (2, 3, 4)]
        + [(x, (1e-30, 1e-20, 1e-10, 0.5, 1 - 2**-20)) for x in range(6)]
        + [(x, (1 - 2**-20, 1 - 2**-20, 1, 2**-10, 0.25)) for x in range(1, 6)],
        [((-0.1, 0.5, 0.5, 0.5, 0.5),), ((0.5, 1.1, 0.5, 0.5, 0.5),), ((nan, 0.5, 0.5, 0.5, 0.5),)],
    ),
    "dirichlet": Reference(
        exactly(dirichlet, 1, 1), lambda rng, n: (log_uniform(rng, 0.1, 100, (n, 4)),), dirichlet_draws,
        [(QUARTERS, a) for a in ((1, 1, 1), (3, 4, 5), (1e6, 1e6, 2e6), (1e6, 1e6, 1e6))]
        + [(QUARTERS, a) for a in ((1e-8, 1e-8, 1e-8), (1e-8, 1, 1e8))]
        + [((0, 0.5, 0.5), a) for a in ((1, 2, 3), (2, 2, 3), (0.5, 2, 3))]
        + [((0, 0.5, 0.5), a) for a in ((1, 200, 300), (2, 200, 300), (0.5, 200, 300))]
        + [((1e-30, 0.5, 0.5), a) for a in ((0.5, 2, 3), (500, 2, 3))]
        + [((0.25 + 2**-10, 0.25 - 2**-10, 0.5), (1e6, 1e6, 2e6)), ((1, 0, 0), (2, 1, 1)),
           ((1e-5, 0.5, 0.5 - 1e-5), (1.3, 12345.678, 12345.678)), ((0.125, 0.375, 0.5), (3.3e11, 1.1e12, 1.7e12)),
           ((0.5, 0.5, 0.5), (1, 1, 1)), ((-0.5, 1, 0.5), (1, 1, 1))],
        [((0, 1, 1),), ((-1, 1, 1),), ((nan, 1, 1),)],
        scipy=row_by_row(stats.dirichlet.logpdf),
    ),
    "multinomial": Reference(
        exactly(multinomial, 1, 0, 1), lambda rng, n: (np.round(log_uniform(rng, 1, 1000, n)), weights(rng, n)),
        multinomial_draws,
        [((1, 2, 3), 6, QUARTERS), ((1, 2, 3), 7, QUARTERS), ((0, 0, 0), 0, QUARTERS), ((0, 0, 5), 5, (0, 0, 1)),
         ((1, 0, 4), 5, (0, 0, 1)), ((0, 0, 500), 500, (0, 0, 1)), ((1, 0, 499), 500, (0, 0, 1)),
         ((0.5, 0.5, 1), 2, QUARTERS), ((-1, 2, 1), 2, QUARTERS), ((2**28, 2**28, 2**29), 2**30, QUARTERS),
         ((2**28 + 12352, 2**28, 2**29 - 12352), 2**30, QUARTERS), ((64, 2**28, 2**30 - 2**28 - 64), 2**30, QUARTERS),
         ((2**18 + 300, 2**18, 2**19 - 300), 2**20, QUARTERS), ((1, 2**19, 2**19 - 1), 2**20, QUARTERS),
         ((0, 300, 700), 1000, (1e-30, 0.25, 0.75)), ((5, 300, 695), 1000, (1e-30, 0.25, 0.75))],
        [(-1, QUARTERS), (2.5, QUARTERS), (nan, QUARTERS), (3, (0.5, 0.5, 0.5)), (3, (nan, 0.5, 0.5))],
        scipy=row_by_row(stats.multinomial.logpmf),
    ),
    "dirichlet_multinomial": Reference(
        exactly(dirichlet_multinomial, 1, 0, 1),
        lambda rng, n: (np.round(log_uniform(rng, 1, 1000, n)), log_uniform(rng, 0.1, 100, (n, 4))),
        dirichlet_multinomial_draws,
        [((1, 2, 3), 6, (1, 2, 3)), ((1, 2, 3), 7, (1, 2, 3)), ((0, 0, 0), 0, (1, 2, 3)), ((0, 0, 5), 5, (0.5, 1, 2)),
         ((0.5, 0.5, 1), 2, (1, 2, 3)), ((-1, 2, 1), 2, (1, 2, 3)), ((3, 7, 1), 11, (3e12, 7e12, 1e12)),
         ((0, 0, 11), 11, (3e12, 7e12, 1e12)), ((3, 7, 1), 11, (1e-8, 1e-8, 1e-8)), ((0, 0, 11), 11, (1e-8, 1e-8, 1e-8)),
         ((2**18 + 300, 2**18, 2**19 - 300), 2**20, (2**20, 2**20, 2**21)), ((0, 300, 700), 1000, (1e-30, 1, 3))],
        [(-1, (1, 1, 1)), (2.5, (1, 1, 1)), (nan, (1, 1, 1)), (3, (1, 1, 0)), (3, (1, 1, nan))],
        scipy=row_by_row(lambda x, n, a: stats.dirichlet_multinomial.logpmf(x.astype(int), a, int(n))),
    ),
    "interpolated": Reference(
        exactly(interpolated, 0, 1, 1), lattice, between_points,
        [(x, (-1, 0, 2.5), (0, 1, 0.5)) for x in (-2, -1, -0.999, 0, 1, 2, 2.25, 2.5, 3, inf, -inf)]
        + [(x, (0, 1, 2), (0, 0, 1)) for x in (0, 0.5, 1, 1 + 1e-5, 2)]
        + [(0.5, (0, 1, 1e30), (1, 1, 1)), (1e-30, (0, 1e-30, 1), (1e30, 1, 1e-30)), (1.5, (0, 1, 2), (1e-30, 1e-30, 0)),
           (2e6 + 0.125, (2e6, 2e6 + 0.25, 2e6 + 1), (3, 1, 2))],
        [((0, 1, 2), (0, 0, 0)), ((0, 0, 1), (1, 1, 1)), ((1, 0, 2), (1, 1, 1)), ((0, 1, 2), (-1, 1, 1)),
         ((0, nan, 1), (1, 1, 1)), ((0, 1, 2), (1, nan, 1)), ((0, 1, 2), (1, inf, 1)), ((-inf, 1, 2), (1, 1, 1))],
    ),
    "garch11": Reference(
        exactly(garch11, 1, 0, 0, 0, 0),
        lambda rng, n: (log_uniform(rng, 0.01, 10, n), rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n),
                        log_uniform(rng, 0.1, 10, n)),
        series,
        [((0.5, -1, 3), *p) for p in ((1, 0, 0, 1), (0, 0.5, 0.5, 2), (0, 1, 0, 1), (1e-10, 0.1, 0.9, 1e3), (1, 3, 2, 1))]
        + [((1e10, 1, 0), 1, 0.1, 0.5, 1e10), ((0, 0, 0), 0.1, 0.2, 0.3, 1e-10), ((2, 0, 1), 1, 0.1, 0.1, 1)],
        [(-1, 0.1, 0.1, 1), (1, -0.1, 0.1, 1), (1, 0.1, -0.1, 1), (1, 0.1, 0.1, 0), (nan, 0.1, 0.1, 1), (1, 0.1, 0.1, nan)],
    ),
    "von_mises_fisher": Reference(
        exactly(von_mises_fisher, 1, 1, 0), lambda rng, n: (direction(rng, n), log_uniform(rng, 0.01, 1000, n)),
        directions_around,
        [((0, 0.6, 0.8), (0, 1, 0), kappa) for kappa in (0, 1e-10, 1, 30, 1e4, 1e10)]
        + [((0, 1, 0), (0, 1, 0), kappa) for kappa in (1, 1e10)]
        + [((0, 0.5, 0), (1, 0, 0), 1), ((2, 0, 0), (0, 1, 0), 1)],
        [((1, 1, 0), 1), ((0, 0, 0), 1), ((1, 0, 0), -1), ((1, 0, 0), nan), ((nan, 0, 0), 1), ((1, 0, 0), inf)],
        scipy=row_by_row(lambda x, mu, kappa: stats.vonmises_fisher(mu, kappa).logpdf(x)),
    ),
    "multivariate_hypergeometric": Reference(
        exactly(multivariate_hypergeometric, 1, 0, 1), numbers_of_kinds, drawn_without_replacement,
        [((1, 2, 3), 6, (5, 4, 3)), ((1, 2, 3), 7, (5, 4, 3)), ((0, 0, 0), 0, (5, 4, 3)), ((5, 4, 3), 12, (5, 4, 3)),
         ((1, 2, 4), 7, (5, 4, 3)), ((0, 2, 3), 5, (0, 4, 3)), ((0.5, 0.5, 1), 2, (5, 4, 3)), ((-1, 2, 1), 2, (5, 4, 3)),
         ((300, 200, 100), 600, (1000, 700, 300)), ((2**14 + 64, 2**14, 2**15 - 64), 2**16, (2**18, 2**18, 2**19))],
        [(-1, (1, 1, 1)), (2.5, (1, 1, 1)), (nan, (1, 1, 1)), (1, (1, 1, -1)), (1, (1, 1, nan)), (1, (1, 1, 0.5))],
        scipy=row_by_row(lambda x, n, m: stats.multivariate_hypergeom.logpmf(x.astype(int), m.astype(int), int(n))),
    ),
    "stick_breaking_weights": Reference(
        exactly(stick_breaking_weights, 1, 0), lambda rng, n: (log_uniform(rng, 0.1, 100, n),),
        lambda rng, p: dirichlet_draws(rng, (np.ones((len(p[0]), 4)),)),
        [(QUARTERS, alpha) for alpha in (1e-8, 0.5, 1, 2, 1e8)]
        + [((0.5, 0.5, 0), 1), ((0.5, 0.5, 0), 2), ((0, 0.5, 0.5), 2), ((1e-30, 0.5, 0.5), 0.5), ((0.5, 0.5, 0.5), 1),
           ((-0.5, 1, 0.5), 1)],
        [(0,), (-1,), (nan,)],
    ),
    "zero_sum_normal": Reference(
        exactly(zero_sum_normal, 1, 0), lambda rng, n: (log_uniform(rng, 0.01, 100, n),), zero_sums,
        [((1, -3, 2), sigma) for sigma in (1e-3, 1, 1e10)]
        + [((0, 0, 0), 2), ((1, 1, 0), 1), ((-3, -2, 0), 1), ((1e-30, -1e-30, 0), 1e-20), ((2e5, -1e5, -1e5), 1),
           ((inf, -inf, 0), 1), ((inf, 0, 0), 1)],
        [(0,), (-1,), (nan,)],
    ),
    "normal_inverse_gamma": Reference(
        exactly(normal_inverse_gamma, 1, 0, 0, 0, 0),
        lambda rng, n: (rng.normal(0, 3, n), *(log_uniform(rng, 0.1, 100, n) for _ in range(3))), means_and_variances,
        [((0.5, variance), 0.3, 2, 3, 1.5) for variance in (1e-3, 1, 1e3, 1e10, 0, -1, inf)]
        + [((mean, 2), 0.3, 2, 3, 1.5) for mean in (0.3, 1e3, -1e6, inf, -inf)]
        + [((0.5, 1.0), 0.5, 1e-10, 1e-5, 1e-5), ((0.5, 1.0), 0.5, 1e10, 1e5, 1e5), ((0.5, 1.001), 0.5, 1, 1e6, 1e6)],
        [(nan, 1, 1, 1), (0, 0, 1, 1), (0, 1, -1, 1), (0, 1, 1, 0), (0, 1, 1, nan)],
        scipy=lambda x, *p: stats.normal_inverse_gamma.logpdf(x[:, 0], x[:, 1], *p),
    ),
}  # fmt: skip
