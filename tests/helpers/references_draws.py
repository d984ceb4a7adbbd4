"""Parameters to draw at, the distributions of the draws, and the tests that compare the two."""

import functools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from references_cdf import CDFS
from references_families import FAMILIES
from references_scipy import SCIPY
from scipy import special, stats

import gpustats as gs

inf = np.inf
N = 20_000
EACH = 50  # of so many sorted draws, one whose distribution function is evaluated

# The smallest p-value that passes, with seeds that are fixed, and with fresh ones: of so many, some are small by chance.
THRESHOLD, FRESH_THRESHOLD = 1e-4, 1e-8


def known_by_cdf(cdf, mean=np.nan, var=np.nan):
    """What scipy.stats has no distribution for."""
    return SimpleNamespace(cdf=cdf, stats=lambda moments: (mean, var, np.nan))


def tabulated(distribution, low, high):
    """A distribution whose functions are slow: all is interpolated between 2001 points, from `low` to `high`."""
    points = np.linspace(low, high, 2001)
    values, density = distribution.cdf(points), distribution.pdf(points)

    def mean(of):
        return np.trapezoid(of * density, points)

    centre = mean(points)
    var, fourth = mean((points - centre) ** 2), mean((points - centre) ** 4)
    return SimpleNamespace(
        cdf=lambda x: np.interp(x, points, values), stats=lambda moments: (centre, var, fourth / var**2 - 3)
    )


def von_mises(mu, kappa):
    """Around 0, because scipy's distribution function of draws in [-pi, pi] is that of an interval around the mean."""
    if kappa == 0:
        return stats.uniform(-np.pi, 2 * np.pi)
    reach = min(np.pi, 10 / np.sqrt(kappa))
    return tabulated(stats.vonmises(kappa), -reach, reach)


def zero_inflated(psi, base):
    mean, var = base.stats("mv")
    return known_by_cdf(
        lambda k: np.where(k < 0, 0.0, 1 - psi + psi * base.cdf(k)), psi * mean, psi * (var + (1 - psi) * mean**2)
    )


def negative_binomial(mu, alpha):
    return stats.nbinom(alpha, alpha / (alpha + mu))


def among(probabilities):
    """Categories 0, 1, … with these probabilities."""
    cumulative = np.concatenate([[0.0], np.cumsum(probabilities)])
    numbers = np.arange(len(probabilities))
    mean = np.sum(numbers * probabilities)
    return known_by_cdf(
        lambda k: cumulative[np.clip(np.asarray(k, int) + 1, 0, len(numbers))],
        mean, np.sum((numbers - mean) ** 2 * probabilities),
    )  # fmt: skip


def interpolated(x_points, pdf_points):
    x, f = np.asarray(x_points, float), np.asarray(pdf_points, float)
    h = np.diff(x)
    area = np.append(0.0, np.cumsum(h * (f[1:] + f[:-1]) / 2))

    def cdf(y):
        y = np.clip(y, x[0], x[-1])
        i = np.clip(np.searchsorted(x, y, "right") - 1, 0, len(h) - 1)
        along = y - x[i]
        return (area[i] + along * (f[i] + along / h[i] * (f[i + 1] - f[i]) / 2)) / area[-1]

    def mean(power):
        points, weights = np.polynomial.legendre.leggauss(4)
        y = (x[:-1] + np.outer((points + 1) / 2, h))
        heights = f[:-1] + np.outer((points + 1) / 2, np.diff(f))
        return np.sum(weights[:, None] / 2 * h * heights * y**power) / area[-1]

    return known_by_cdf(cdf, mean(1), mean(2) - mean(1) ** 2)


#: Density -> a scipy.stats distribution (or what has its methods `cdf` and `stats`) of the parameters.
DISTRIBUTIONS = SCIPY | {
    "skew_normal": lambda alpha, mu, sigma: stats.skewnorm(alpha, mu, sigma),
    "normal_identity": stats.norm,
    "student_t": stats.t,
    "student_t_identity": stats.t,
    "half_student_t": lambda nu, sigma: known_by_cdf(lambda x: 1 - 2 * stats.t.sf(x, nu, 0, sigma)),
    "logit_normal": lambda mu, sigma: known_by_cdf(
        lambda x: stats.norm.cdf(special.logit(np.clip(x, 0, 1)), mu, sigma)
    ),
    "kumaraswamy": lambda a, b: known_by_cdf(
        lambda x: -np.expm1(b * np.log(-np.expm1(a * np.log(np.clip(x, 0, 1)))))
    ),
    "gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "gamma_log": lambda eta, alpha: stats.gamma(alpha, scale=np.exp(eta) / alpha),
    "inverse_gamma": lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    "chi_squared": stats.chi2,
    "beta": stats.beta,
    "beta_logit": lambda eta, phi: stats.beta(phi * special.expit(eta), phi * special.expit(-eta)),
    "interpolated": interpolated,
    "rice": lambda nu, sigma: tabulated(
        stats.rice(nu / sigma, scale=sigma), max(nu - 10 * sigma, 0), nu + 10 * sigma
    ),
    "von_mises": von_mises,
    "bernoulli_logit": lambda eta: stats.bernoulli(special.expit(eta)),
    "bernoulli_probit": lambda eta: stats.bernoulli(special.ndtr(eta)),
    "bernoulli_cloglog": lambda eta: stats.bernoulli(-np.expm1(-np.exp(eta))),
    "poisson": stats.poisson,
    "poisson_log": lambda eta: stats.poisson(np.exp(eta)),
    "binomial": stats.binom,
    "binomial_logit": lambda n, eta: stats.binom(n, special.expit(eta)),
    "negative_binomial": lambda mu, alpha: negative_binomial(mu, alpha),
    "negative_binomial_log": lambda eta, alpha: negative_binomial(np.exp(eta), alpha),
    "beta_binomial": lambda alpha, beta, n: stats.betabinom(n, alpha, beta),
    "zero_inflated_poisson": lambda psi, mu: zero_inflated(psi, stats.poisson(mu)),
    "zero_inflated_binomial": lambda psi, n, p: zero_inflated(psi, stats.binom(n, p)),
    "zero_inflated_negative_binomial": lambda psi, mu, alpha: zero_inflated(psi, negative_binomial(mu, alpha)),
    "categorical": lambda p: among(np.divide(p, np.sum(p))),
    "categorical_logit": lambda eta: among(special.softmax(eta)),
    "poisson_binomial": lambda p: among(functools.reduce(np.convolve, [[1 - q, q] for q in p])),
    "ordered_probit": lambda eta, cutpoints, sigma: among(
        np.diff([0, *special.ndtr(np.subtract(cutpoints, eta) / sigma), 1])
    ),
    "ordered_logit": lambda eta, cutpoints: among(np.diff([0, *special.expit(np.subtract(cutpoints, eta)), 1])),
}

CONTINUOUS = {
    "normal": [(0, 1), (-5, 0.2), (1e8, 300), (0, 1e-30)],
    "normal_identity": [(0, 1), (1e8, 300)],
    "half_normal": [(1,), (1e-30,)],
    "truncated_normal": [
        (0, 1, -1, 2), (0, 1, -inf, inf), (0, 1, 0, inf), (2, 0.5, -inf, 0), (0, 1, 3, 5), (0, 1, -0.1, 0.5),
        (0, 1, -1.2, 1.2), (0, 1, -1.3, 1.3), (0, 1, 0.1, 0.2), (0, 1, 0.1, 4), (0, 1, 0.1, inf), (0, 1e10, 0, 1),
        (0, 1, 40, inf), (0, 1, -inf, -40), (0, 1, 40, 40.01), (0, 1, -41, -40), (-3, 2, 1000, 1001), (0, 1, -1e-3, 2e-3),
    ],
    "skew_normal": [(0, 0, 1), (3, 1, 2), (-0.5, 0, 1), (1e3, 0, 1), (-1e30, 3, 1), (1e-30, 0, 1)],
    "ex_gaussian": [(0, 1, 1), (5, 0.01, 2), (0, 2, 0.01), (-3, 1, 20)],
    "student_t": [(3, 0, 1), (0.1, 0, 1), (1, 5, 2), (30, -1, 0.1), (1e9, 2, 0.5), (inf, 0, 1)],
    "student_t_identity": [(3, 0, 1), (1, 5, 2)],
    "half_student_t": [(3, 1), (0.1, 2), (1e9, 1), (inf, 3)],
    "cauchy": [(0, 1), (-10, 0.01), (0, 1e20)],
    "half_cauchy": [(1,), (1e-10,)],
    "laplace": [(0, 1), (5, 0.1), (0, 1e20)],
    "asymmetric_laplace": [(1, 0, 1), (3, -2, 0.5), (1e-3, 0, 1), (1e3, 1, 2), (1e-30, 0, 1)],
    "logistic": [(0, 1), (100, 0.5)],
    "log_normal": [(0, 1), (3, 0.01), (-2, 8)],
    "logit_normal": [(0, 1), (0, 10), (2, 0.1), (-30, 5)],
    "gumbel": [(0, 1), (-5, 3)],
    "moyal": [(0, 1), (10, 0.1)],
    "exponential": [(1,), (1e20,)],
    "gamma": [(1, 1), (1e-3, 1), (0.5, 2), (0.999, 1), (3.5, 1e-10), (1e6, 1e3), (1e9, 1)],
    "gamma_log": [(0, 1), (2, 0.5), (-20, 300), (30, 1e-2), (-50, 1e-3)],
    "inverse_gamma": [(1, 1), (1e-2, 1), (0.3, 2), (5, 1e10), (1e6, 1e6)],
    "chi_squared": [(1,), (0.01,), (3,), (1e6,)],
    "weibull": [(1, 1), (0.05, 2), (100, 3)],
    "pareto": [(1, 1), (0.1, 2), (1e4, 3)],
    "beta": [(2, 3), (1, 1), (0.5, 0.5), (0.99, 0.99), (1e-3, 1e-3), (1e-3, 5), (3, 0.01), (1e5, 0.2), (1e6, 1e6)],
    "beta_logit": [(0, 2), (1, 0.5), (-3, 1e-2), (2, 1e6), (-5, 30)],
    "kumaraswamy": [(2, 3), (0.5, 0.5), (0.01, 0.01), (1e-3, 1), (1000, 1e5), (1, 1e-3)],
    "uniform": [(0, 1), (-3, 7), (1e6, 1e6 + 1), (-1e-30, 1e-30)],
    "triangular": [(0, 1, 0.3), (0, 1, 0), (0, 1, 1), (-5, 10, -4.9), (1000, 1001, 1000.5)],
    "von_mises": [(0, 0), (1, 1e-3), (0, 1e-20), (0, 1), (-2, 50), (3, 4), (10, 2), (0, 1000), (1, 1e8)],
    "wald": [(1, 1), (1, 1e6), (1e4, 1), (1, 1e-4), (3, 0.2)],
    "rice": [(0, 1), (1, 1), (10, 0.5), (1e5, 10)],
    "interpolated": [([0, 1], [1, 3]), ([-1, 0, 2, 2.5], [0, 1, 0, 2]), ([0, 1e-10, 1, 2], [1e10, 1, 0, 0])],
}  # fmt: skip

DISCRETE = {
    "bernoulli": [(0,), (0.3,), (0.999,), (1,)],
    "bernoulli_logit": [(0,), (-5,), (40,), (-inf,)],
    "bernoulli_probit": [(0,), (-3,), (9,), (-inf,)],
    "bernoulli_cloglog": [(0,), (-5,), (4,), (-inf,)],
    "geometric": [(1,), (0.3,), (0.999,), (1e-3,), (1e-9,)],
    "discrete_uniform": [(0, 0), (-3, 7), (5, 1e12)],
    "poisson": [(0,), (1e-3,), (1,), (9.9,), (10.1,), (30,), (1e4,), (1e9,), (1e15,)],
    "poisson_log": [(-7,), (2.3,), (10,), (-inf,)],
    "binomial": [
        (0, 0.5), (1, 0.5), (10, 0.3), (30, 0.5), (50, 0), (50, 1), (100, 0.0999), (100, 0.101), (100, 0.9),
        (1e9, 1e-9), (1e9, 0.5), (1e9, 1 - 1e-6), (1e15, 0.3),
    ],
    "binomial_logit": [(10, 0.5), (30, -2), (100, 5), (1000, -0.1), (1000, 40), (20, -inf), (20, inf)],
    "negative_binomial": [(5, 1e-2), (0, 1), (3, 0.7), (100, 3), (1e6, 2.5), (3, 1e9)],
    "negative_binomial_log": [(1, 0.5), (8, 20), (-3, 4)],
    "beta_binomial": [(1, 1, 0), (2, 3, 10), (0.01, 0.02, 100), (0.5, 7, 1000), (1e6, 1e6, 50)],
    "zero_inflated_poisson": [(0, 3), (0.3, 2), (0.9, 50), (1, 4)],
    "zero_inflated_binomial": [(0.3, 10, 0.5), (0.9, 1000, 0.3)],
    "zero_inflated_negative_binomial": [(0.3, 4, 1.5), (0.8, 100, 0.3)],
    "categorical": [([1.0],), ([0, 0.2, 0, 0.5, 0.3, 0],), (np.full(300, 1 / 300),)],
    "categorical_logit": [([3.0],), ([-1, 2, -inf, 1000, 999],), ([-inf, -800, -801, -inf],)],
    "poisson_binomial": [([0.1, 0.6, 0.7, 0.8],), ([0, 1, 0.5, 1e-3],), (np.linspace(0.01, 0.5, 40),)],
    "ordered_logit": [(0.5, [0.0]), (-1, [-2, -1, 0, 3]), (30, [-2, 31])],
    "ordered_probit": [(0.5, [0.0], 2), (-1, [-2, -1, 0, 3], 1)],
}  # fmt: skip

DISTRIBUTIONS |= {name: reference.theirs for name, reference in FAMILIES.items()}
for _name, _reference in FAMILIES.items():
    (DISCRETE if gs.densities[_name].discrete else CONTINUOUS)[_name] = list(_reference.drawn)

VECTOR = {
    "dirichlet": [([1.0],), ([1, 2, 3],), ([0.5, 0.3, 0.9],), ([1e-3, 1e-3, 2e-3],), ([1e-3, 5, 0.2],), ([1e5, 2e5, 10],)],
    "multinomial": [
        (0, [0.3, 0.7]), (20, [0.2, 0, 0.5, 0.3, 0]), (1000, [0.1] * 10), (10**9, [1e-9, 0.5, 0.5 - 1e-9]), (7, [1.0]),
    ],
    "dirichlet_multinomial": [(0, [0.3, 0.7]), (20, [0.2, 1, 5]), (1000, [1.0] * 10), (7, [1.0])],
    "von_mises_fisher": [([0, 1], 0), ([0.6, 0.8], 3), ([1, 0, 0], 1e4), ([0, 0.6, 0, 0.8], 0.5), ([0.1] * 100, 50)],
    "multivariate_hypergeometric": [(0, [3, 7]), (20, [20, 1, 0, 50]), (300, [100] * 10), (7, [7])],
    "stick_breaking_weights": [(1,), (0.1,), (30,)],
    "normal_inverse_gamma": [(0.5, 2, 3, 4), (-1, 0.1, 0.6, 100)],
    "zero_sum_normal": [(1,), (1e-3,)],
}  # fmt: skip

#: Densities of vectors whose length no parameter tells.
SERIES = {"garch11": [(1.0, 0.3, 0.5, 2.0), (0.0, 0.1, 0.9, 1.0), (0.2, 0.0, 0.0, 1e3)]}


def label(name, parameters):
    """The name of a test."""
    return f"{name}{parameters}"[:60]


def cases(table):
    listed = [(name, parameters) for name, sets in table.items() for parameters in sets]
    return pytest.mark.parametrize("name,parameters", listed, ids=[label(n, p) for n, p in listed])


def neighbours(x):
    """A bit less and a bit more than each number: what else may have been rounded to it, subnormal numbers included."""
    info = np.finfo(x.dtype)
    size = np.abs(x.astype(float))
    with np.errstate(invalid="ignore", over="ignore"):
        inwards, outwards = size - (4 * info.eps * size + info.tiny), size + (4 * info.eps * size + info.tiny)
    inwards, outwards = np.where(size < inf, inwards, info.max), np.where(outwards < info.max, outwards, inf)
    return np.where(x < 0, -outwards, inwards), np.where(x < 0, -inwards, outwards)


def kolmogorov_smirnov(x, cdf):
    """The p-value of draws x, of which each stands for what has been rounded to it.

    So values that rounding has made equal, those that underflowed to 0 above all, count as spread over the interval that they
    come from, in the way that suits the distribution best. The statistic is taken at every `EACH`-th draw, the least and the
    largest: it may miss EACH / n of the largest distance, and the p-value is no smaller than that of all draws.
    """
    n = len(x)
    rank = np.append(np.arange(0, n - 1, EACH), n - 1)
    with np.errstate(all="ignore"):
        below, above = map(cdf, neighbours(np.sort(x)[rank]))
    return stats.kstwo.sf(max(np.max((rank + 1) / n - above), np.max(below - rank / n)), n)


def chi_squared(x, cdf, edges):
    """The p-value of draws x of whole numbers, counted in the intervals that end with `edges`, made larger where need be."""
    probability = np.diff([0, *cdf(edges.astype(float)), 1])
    bins, expected, kept = np.searchsorted(edges, x), np.zeros(1), np.zeros(len(edges) + 1, int)
    for i, p in enumerate(probability):
        if expected[-1] >= 10 and len(x) * probability[i:].sum() >= 10:
            expected = np.append(expected, 0)
        expected[-1] += len(x) * p
        kept[i] = len(expected) - 1
    counts = np.bincount(kept[bins], minlength=len(expected))
    if len(expected) == 1:  # all of them are the same number, nearly always
        return 1.0
    return stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), len(expected) - 1)


def edges_of(draws):
    """Ends of intervals, from draws that are not those to be tested."""
    return np.unique(np.quantile(draws, np.linspace(0, 1, 201), method="lower"))


def integrated(distribution):
    """Whether scipy.stats has no formulas of the moments of a distribution, frozen or not: its integrals take long."""
    kind, general = type(getattr(distribution, "dist", distribution)), (stats.rv_continuous, stats.rv_discrete)
    return any(issubclass(kind, g) and kind._stats is g._stats and kind._munp is g._munp for g in general)


@functools.cache
def moments(name, *parameters):
    """Mean, variance and kurtosis."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(map(float, DISTRIBUTIONS[name](*parameters).stats("mvk")))


def assert_moments(x, name, parameters):
    """Mean and variance within 5 standard errors, where they exist, and where they are not of a few draws only."""
    mean, var, kurtosis = moments(name, *(tuple(np.ravel(p)) if np.ndim(p) else p for p in parameters))
    if not (0 < var < inf and -2 <= kurtosis < 100):
        return
    rounding = np.finfo(x.dtype if x.dtype.kind == "f" else float).eps * abs(mean)
    deviations = (x.astype(float) - mean) / np.sqrt(var)
    error = 5 / np.sqrt(len(x))
    assert abs(deviations.mean()) < error + rounding / np.sqrt(var)
    assert abs((deviations**2).mean() - 1) < error * np.sqrt(kurtosis + 2) + rounding / np.sqrt(var)


def in_support(name, x, parameters):
    """Whether all draws are possible values."""
    ends = CDFS[name][1:]
    lower, upper = (x.dtype.type(end(*parameters) if callable(end) else end) for end in ends)
    return np.all((x >= lower) & (x <= upper))


def as_given(parameters, dtype):
    """Parameters as a kernel of this type sees them."""
    return [float(dtype(p)) if np.ndim(p) == 0 else np.asarray(p, dtype) for p in parameters]


def assert_continuous(name, parameters, dtype, rng, n=N, threshold=THRESHOLD):
    x = gs.densities[name].rvs(*parameters, size=n, rng=rng, dtype=dtype)
    assert x.dtype == dtype and x.shape == (n,)
    assert not np.isnan(x).any()
    as_asked, parameters = parameters, as_given(parameters, dtype)  # moments are computed once for both types
    assert in_support(name, x, parameters)
    distribution = DISTRIBUTIONS[name](*parameters)
    if name == "von_mises":
        x = np.remainder(x - parameters[0] + np.pi, 2 * np.pi).astype(dtype) - dtype(np.pi)
    assert kolmogorov_smirnov(x, distribution.cdf) > threshold
    if n > N or not integrated(distribution):
        assert_moments(x, name, as_asked)


def assert_discrete(name, parameters, rng, n=N, threshold=THRESHOLD):
    density, distribution = gs.densities[name], DISTRIBUTIONS[name](*parameters)
    edges = edges_of(density.rvs(*parameters, size=10_000, rng=rng))
    x = density.rvs(*parameters, size=n, rng=rng)
    assert x.dtype == np.int64 and x.shape == (n,)
    assert (density.logpmf(np.unique(x).astype(float), *parameters) > -inf).all()
    assert chi_squared(x, distribution.cdf, edges) > threshold
    if n > N or not integrated(distribution):
        assert_moments(x, name, parameters)


def assert_dirichlet(a, dtype, rng, n=N, threshold=THRESHOLD):
    x = gs.dirichlet.rvs(a, size=n, rng=rng, dtype=dtype)
    a = np.asarray(a, float)
    assert x.dtype == dtype and x.shape == (n, len(a))
    assert (x >= 0).all() and np.abs(x.sum(1, dtype=float) - 1).max() < 8 * np.finfo(dtype).eps
    if len(a) == 1:
        assert (x == 1).all()
        return
    for i in range(len(a)):
        assert kolmogorov_smirnov(x[:, i], stats.beta(a[i], a.sum() - a[i]).cdf) > threshold
    if a.min() > 0.1:  # the first two shares, whatever the others are
        share = x[:, 0] / (x[:, 0] + x[:, 1])
        assert kolmogorov_smirnov(share, stats.beta(*a[:2]).cdf) > threshold


def assert_garch11(omega, alpha_1, beta_1, initial_vol, dtype, rng, n=N, threshold=THRESHOLD):
    """Every value is normal, divided by the volatility that those before it make."""
    x = gs.garch11.rvs(omega, alpha_1, beta_1, initial_vol, rng=rng, out=np.empty((n, 4), dtype)).astype(float)
    variance = np.full(n, initial_vol**2)
    for i in range(4):
        variance = omega + alpha_1 * x[:, i - 1] ** 2 + beta_1 * variance if i else variance
        assert kolmogorov_smirnov(x[:, i] / np.sqrt(variance), stats.norm.cdf) > threshold
        assert i == 0 or abs(stats.spearmanr(x[:, i - 1], x[:, i] / np.sqrt(variance))[0]) < 6 / np.sqrt(n)


def assert_multinomial(n, p, rng, draws=N, threshold=THRESHOLD):
    p = np.asarray(p, float)
    x = gs.multinomial.rvs(n, p, size=draws + 2000, rng=rng)
    assert x.dtype == np.int64 and x.shape == (draws + 2000, len(p))
    assert (x >= 0).all() and (x.sum(1) == n).all()
    assert (x[:, p == 0] == 0).all()
    several = [(x[:, i], p[i]) for i in range(len(p))]
    several += [(x[:, i] + x[:, i + 1], p[i] + p[i + 1]) for i in range(len(p) - 1)]
    for counts, probability in several:
        cdf = stats.binom(n, min(probability, 1)).cdf
        assert chi_squared(counts[2000:], cdf, edges_of(counts[:2000])) > threshold


def assert_dirichlet_multinomial(n, a, rng, draws=N, threshold=THRESHOLD):
    a = np.asarray(a, float)
    x = gs.dirichlet_multinomial.rvs(n, a, size=draws + 2000, rng=rng)
    assert x.dtype == np.int64 and x.shape == (draws + 2000, len(a))
    assert (x >= 0).all() and (x.sum(1) == n).all()
    for i in range(len(a) if len(a) > 1 else 0):
        cdf = stats.betabinom(n, a[i], a.sum() - a[i]).cdf
        assert chi_squared(x[2000:, i], cdf, edges_of(x[:2000, i])) > threshold


def assert_von_mises_fisher(mu, kappa, dtype, rng, n=N, threshold=THRESHOLD):
    """The part along the mean direction, whose density is exp(kappa t) (1 - t^2)^((d - 3) / 2); what is across has no mean."""
    mu = np.asarray(mu, float)
    x = gs.von_mises_fisher.rvs(mu, kappa, size=n, rng=rng, dtype=dtype)
    assert x.dtype == dtype and x.shape == (n, len(mu))
    assert np.abs((x.astype(float) ** 2).sum(1) - 1).max() < 50 * np.finfo(dtype).eps
    angle = np.linspace(0, min(np.pi, 12 / np.sqrt(max(kappa, 1e-9))), 20001)  # cos(angle) is that part
    density = np.exp(kappa * (np.cos(angle) - 1)) * np.sin(angle) ** (len(mu) - 2)
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    away = x.astype(float) - mu * np.sign(x.astype(float) @ mu)[:, None]
    chord = 2 * np.arcsin(np.minimum(np.linalg.norm(away, axis=1) / 2, 1))
    angles = np.where(x.astype(float) @ mu > 0, chord, np.pi - chord)
    assert stats.kstest(angles, lambda a: np.interp(a, angle, cdf / cdf[-1])).pvalue > threshold
    across = x.astype(float) - np.outer(x.astype(float) @ mu, mu)
    assert np.abs(across.mean(0)).max() < 5 * across.std(0).max() / np.sqrt(n) + 1e-6


def assert_multivariate_hypergeometric(n, m, rng, draws=N, threshold=THRESHOLD):
    x = gs.multivariate_hypergeometric.rvs(n, np.asarray(m, float), size=draws + 2000, rng=rng)
    assert x.dtype == np.int64 and x.shape == (draws + 2000, len(m))
    assert (x >= 0).all() and (x.sum(1) == n).all() and (x <= m).all()
    several = [(x[:, i], m[i]) for i in range(len(m))] + [(x[:, i] + x[:, i + 1], m[i] + m[i + 1]) for i in range(len(m) - 1)]
    for counts, k in several:
        cdf = stats.hypergeom(int(np.sum(m)), int(k), int(n)).cdf
        assert chi_squared(counts[2000:], cdf, edges_of(counts[:2000])) > threshold


def assert_zero_sum_normal(sigma, dtype, rng, n=N, threshold=THRESHOLD):
    """Of three numbers: each, and the difference of two of them, which does not depend on the third."""
    x = gs.zero_sum_normal.rvs(sigma, size=n, rng=rng, out=np.empty((n, 3), dtype))
    assert x.dtype == dtype and np.abs(x.sum(1, dtype=float)).max() < 16 * np.finfo(dtype).eps * sigma
    for part, variance in ((x[:, 0], 2 / 3), (x[:, 1] - x[:, 2], 2)):
        assert kolmogorov_smirnov(part.astype(dtype), stats.norm(0, sigma * np.sqrt(variance)).cdf) > threshold
    assert abs(np.corrcoef(x[:, 0], x[:, 1] - x[:, 2])[0, 1]) < 5 / np.sqrt(n)


def assert_normal_inverse_gamma(mu, lam, alpha, beta, dtype, rng, n=N, threshold=THRESHOLD):
    x = gs.normal_inverse_gamma.rvs(mu, lam, alpha, beta, size=n, rng=rng, out=np.empty((n, 2), dtype))
    assert x.dtype == dtype
    assert kolmogorov_smirnov(x[:, 1], stats.invgamma(alpha, scale=beta).cdf) > threshold
    away = (x[:, 0].astype(float) - mu) / np.sqrt(x[:, 1].astype(float) / lam)
    assert stats.kstest(away, "norm").pvalue > threshold
    assert stats.spearmanr(np.abs(away), x[:, 1]).pvalue > threshold


def assert_stick_breaking_weights(alpha, dtype, rng, n=N, threshold=THRESHOLD):
    """Of four shares: each is broken off what is left by those before it."""
    x = gs.stick_breaking_weights.rvs(alpha, size=n, rng=rng, out=np.empty((n, 4), dtype))
    assert x.dtype == dtype and x.shape == (n, 4)
    assert (x >= 0).all() and np.abs(x.sum(1, dtype=float) - 1).max() < 8 * np.finfo(dtype).eps
    kept = x[:, 1:].sum(1, dtype=float)
    assert kolmogorov_smirnov(kept.astype(dtype), stats.beta(alpha, 1).cdf) > threshold
    if alpha > 0.5:
        assert kolmogorov_smirnov((x[:, 1] / kept).astype(dtype), stats.beta(1, alpha).cdf) > threshold
