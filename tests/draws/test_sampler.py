"""Random draws: their distribution against scipy.stats', and what `rvs` promises beside that."""

import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import references_continuous
import references_discrete
import references_vector
from references_scipy import SCIPY
from scipy import special, stats

import gpustats as gs
from gpustats.language.library import library

inf = np.inf
N = 50_000
# The smallest p-value that passes, with seeds that are fixed, and with fresh ones: of so many, some are small by chance.
THRESHOLD, FRESH_THRESHOLD = 1e-4, 1e-8

each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def known_by_cdf(cdf, mean=np.nan, var=np.nan):
    """What scipy.stats has no distribution for."""
    return SimpleNamespace(cdf=cdf, stats=lambda moments: (mean, var, np.nan))


def tabulated(distribution, low, high):
    """A distribution whose distribution function is slow: it is interpolated between 2001 points, from `low` to `high`."""
    points = np.linspace(low, high, 2001)
    values = distribution.cdf(points)
    return SimpleNamespace(cdf=lambda x: np.interp(x, points, values), stats=distribution.stats)


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


#: Density -> a scipy.stats distribution (or what has its methods `cdf` and `stats`) of the parameters.
DISTRIBUTIONS = SCIPY | {
    "skew_normal": lambda mu, sigma, alpha: stats.skewnorm(alpha, mu, sigma),
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
    "beta_binomial": stats.betabinom,
    "zero_inflated_poisson": lambda psi, mu: zero_inflated(psi, stats.poisson(mu)),
    "zero_inflated_binomial": lambda psi, n, p: zero_inflated(psi, stats.binom(n, p)),
    "zero_inflated_negative_binomial": lambda psi, mu, alpha: zero_inflated(psi, negative_binomial(mu, alpha)),
    "categorical": lambda p: among(np.divide(p, np.sum(p))),
    "categorical_logit": lambda eta: among(special.softmax(eta)),
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
    "skew_normal": [(0, 1, 0), (1, 2, 3), (0, 1, -0.5), (0, 1, 1e3), (3, 1, -1e30), (0, 1, 1e-30)],
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
    "triangular": [(0, 0.3, 1), (0, 0, 1), (0, 1, 1), (-5, -4.9, 10), (1000, 1000.5, 1001)],
    "von_mises": [(0, 0), (1, 1e-3), (0, 1e-20), (0, 1), (-2, 50), (3, 4), (10, 2), (0, 1000), (1, 1e8)],
    "wald": [(1, 1), (1, 1e6), (1e4, 1), (1, 1e-4), (3, 0.2)],
    "rice": [(0, 1), (1, 1), (10, 0.5), (1e5, 10)],
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
    "beta_binomial": [(0, 1, 1), (10, 2, 3), (100, 0.01, 0.02), (1000, 0.5, 7), (50, 1e6, 1e6)],
    "zero_inflated_poisson": [(0, 3), (0.3, 2), (0.9, 50), (1, 4)],
    "zero_inflated_binomial": [(0.3, 10, 0.5), (0.9, 1000, 0.3)],
    "zero_inflated_negative_binomial": [(0.3, 4, 1.5), (0.8, 100, 0.3)],
    "categorical": [([1.0],), ([0, 0.2, 0, 0.5, 0.3, 0],), (np.full(300, 1 / 300),)],
    "categorical_logit": [([3.0],), ([-1, 2, -inf, 1000, 999],), ([-inf, -800, -801, -inf],)],
    "ordered_logit": [(0.5, [0.0]), (-1, [-2, -1, 0, 3]), (30, [-2, 31])],
}  # fmt: skip

VECTOR = {
    "dirichlet": [([1.0],), ([1, 2, 3],), ([0.5, 0.3, 0.9],), ([1e-3, 1e-3, 2e-3],), ([1e-3, 5, 0.2],), ([1e5, 2e5, 10],)],
    "multinomial": [
        (0, [0.3, 0.7]), (20, [0.2, 0, 0.5, 0.3, 0]), (1000, [0.1] * 10), (10**9, [1e-9, 0.5, 0.5 - 1e-9]), (7, [1.0]),
    ],
}  # fmt: skip


def cases(table):
    listed = [(name, parameters) for name, sets in table.items() for parameters in sets]
    return pytest.mark.parametrize("name,parameters", listed, ids=[f"{n}{p}"[:60] for n, p in listed])


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
    come from, in the way that suits the distribution best.
    """
    with np.errstate(all="ignore"):
        below, above = map(cdf, neighbours(np.sort(x)))
    n = len(x)
    rank = np.arange(n)
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


def assert_moments(x, distribution):
    """Mean and variance within 5 standard errors, where they exist, and where they are not of a few draws only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean, var, kurtosis = map(float, distribution.stats("mvk"))
    if not (0 < var < inf and -2 <= kurtosis < 100):
        return
    rounding = np.finfo(x.dtype if x.dtype.kind == "f" else float).eps * abs(mean)
    deviations = (x.astype(float) - mean) / np.sqrt(var)
    error = 5 / np.sqrt(len(x))
    assert abs(deviations.mean()) < error + rounding / np.sqrt(var)
    assert abs((deviations**2).mean() - 1) < error * np.sqrt(kurtosis + 2) + rounding / np.sqrt(var)


def in_support(name, x, parameters):
    """Whether all draws are possible values."""
    domain = gs.densities[name].domains["x"].split()
    lower = 0 if {"nonnegative", "unit"} & set(domain) else -inf
    upper = 1 if "unit" in domain else inf
    if name in ("uniform", "triangular"):
        lower, upper = parameters[0], parameters[-1]
    elif name == "truncated_normal":
        lower, upper = parameters[2:]
    elif name == "pareto":
        lower = parameters[1]
    elif name == "von_mises":
        lower, upper = -np.pi, np.pi
    return np.all((x >= x.dtype.type(lower)) & (x <= x.dtype.type(upper)))


def as_given(parameters, dtype):
    """Parameters as a kernel of this type sees them."""
    return [float(dtype(p)) if np.ndim(p) == 0 else np.asarray(p, dtype) for p in parameters]


def assert_continuous(name, parameters, dtype, rng, n=N, threshold=THRESHOLD):
    x = gs.densities[name].rvs(*parameters, size=n, rng=rng, dtype=dtype)
    assert x.dtype == dtype and x.shape == (n,)
    assert not np.isnan(x).any()
    parameters = as_given(parameters, dtype)
    assert in_support(name, x, parameters)
    distribution = DISTRIBUTIONS[name](*parameters)
    if name == "von_mises":
        x = np.remainder(x - parameters[0] + np.pi, 2 * np.pi).astype(dtype) - dtype(np.pi)
    assert kolmogorov_smirnov(x, distribution.cdf) > threshold
    assert_moments(x, distribution)


def assert_discrete(name, parameters, rng, n=N, threshold=THRESHOLD):
    density, distribution = gs.densities[name], DISTRIBUTIONS[name](*parameters)
    edges = edges_of(density.rvs(*parameters, size=10_000, rng=rng))
    x = density.rvs(*parameters, size=n, rng=rng)
    assert x.dtype == np.int64 and x.shape == (n,)
    assert (density.logpmf(np.unique(x).astype(float), *parameters) > -inf).all()
    assert chi_squared(x, distribution.cdf, edges) > threshold
    assert_moments(x, distribution)


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


# ---- distributions


def test_every_density_has_a_sampler():
    sampled = {name for name in library.built_in if library.get(name).role("sample")}
    assert sampled == library.built_in
    elliptical = {name for name in library.built_in if library.get(name).elliptical}
    assert sampled - elliptical == CONTINUOUS.keys() | DISCRETE.keys() | VECTOR.keys()


@cases(CONTINUOUS)
@each_dtype
def test_continuous(name, parameters, dtype):
    assert_continuous(name, parameters, dtype, gs.Generator(2011))


@cases(DISCRETE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_discrete(name, parameters):
    assert_discrete(name, parameters, gs.Generator(2011))


@pytest.mark.parametrize("a", [p for (p,) in VECTOR["dirichlet"]], ids=str)
@each_dtype
def test_dirichlet(a, dtype):
    assert_dirichlet(a, dtype, gs.Generator(2011), 50_000)


@pytest.mark.parametrize("n,p", VECTOR["multinomial"], ids=str)
def test_multinomial(n, p):
    assert_multinomial(n, p, gs.Generator(2011), 50_000)


@pytest.mark.slow
@cases(CONTINUOUS | DISCRETE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_a_million_draws(name, parameters):
    if name in DISCRETE:
        assert_discrete(name, parameters, gs.Generator(4022), 1_000_000)
    else:
        for dtype in (np.float64, np.float32):
            assert_continuous(name, parameters, dtype, gs.Generator(4022), 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE, *VECTOR])
def test_random_parameters(name):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")  # pytest shows it where the test fails
    references = references_continuous.REFERENCES | references_discrete.REFERENCES | references_vector.REFERENCES
    for row in zip(*references[name].parameters(np.random.default_rng(seed), 10)):
        parameters = tuple(np.asarray(p).tolist() for p in row)
        print(f"parameters {parameters}")
        rng, n = gs.Generator(seed), 500_000
        if name == "dirichlet":
            assert_dirichlet(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "multinomial":
            assert_multinomial(*parameters, rng, n, FRESH_THRESHOLD)
        elif name in DISCRETE:
            assert_discrete(name, parameters, rng, n, FRESH_THRESHOLD)
        else:
            for dtype in (np.float64, np.float32):
                assert_continuous(name, parameters, dtype, rng, n, FRESH_THRESHOLD)


# ---- one stream, however it is asked for

ORDINARY = {name: sets[1 if name == "triangular" else 0] for name, sets in (CONTINUOUS | DISCRETE | VECTOR).items()}
ORDINARY |= {"bernoulli": (0.3,), "geometric": (0.3,), "discrete_uniform": (-3, 7), "poisson": (30,), "poisson_log": (3,),
             "binomial": (100, 0.4), "zero_inflated_poisson": (0.3, 2), "categorical_logit": ([-1, 2, 1],),
             "beta_binomial": (100, 2, 3), "dirichlet": ([1, 2, 3],), "multinomial": (20, [0.2, 0.3, 0.5]),
             "negative_binomial": (100, 3), "categorical": ([0.2, 0.3, 0.5],), "mvnormal": ([0, 1], np.eye(2)),
             "mv_student_t": (5, [0, 1], np.eye(2))}  # fmt: skip

STORED = Path(__file__).with_name("draws.json")


def draws_to_store(name, dtype):
    """A few draws from the middle of a stream."""
    rng = gs.Generator(2026)
    rng.take(1_000_003)
    kind = None if gs.densities[name].discrete else dtype
    return gs.densities[name].rvs(*ORDINARY[name], size=5, rng=rng, dtype=kind)


@pytest.mark.parametrize("name", ORDINARY)
@each_dtype
def test_draws_are_the_same_on_every_device(name, dtype):
    """To rounding, those that a CPU once made: the numbers that a seed stands for stay what they are."""
    want = json.loads(STORED.read_text())[np.dtype(dtype).name][name]
    got = draws_to_store(name, dtype)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


#: One for each way of drawing: from one uniform number, from one normal number, from attempts, from several numbers.
KINDS = ["cauchy", "normal", "gamma", "wald", "geometric", "poisson", "binomial", "categorical", "dirichlet", "multinomial"]


@pytest.mark.parametrize("name", ORDINARY)
def test_draws_in_parts_are_those_of_one_call(name):
    rvs, parameters = gs.densities[name].rvs, ORDINARY[name]
    whole = rvs(*parameters, size=5000, rng=7)
    rng = gs.Generator(7)
    parts = [rvs(*parameters, size=n, rng=rng) for n in (1, 1000, 2, 0, 3997)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(np.unique(whole, axis=0)) > 1


@pytest.mark.parametrize("name", KINDS)
def test_float32_draws_in_parts(name):
    if gs.densities[name].discrete:
        return
    whole = gs.densities[name].rvs(*ORDINARY[name], size=5000, rng=7, dtype=np.float32)
    rng = gs.Generator(7)
    parts = [gs.densities[name].rvs(*ORDINARY[name], size=n, rng=rng, dtype=np.float32) for n in (1, 1000, 2, 3997)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def stretched(parameters, shapes):
    """Each parameter, repeated to an array of a shape."""
    return [np.broadcast_to(p, shape + np.shape(p)).copy() for p, shape in zip(parameters, shapes)]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("shapes", [[(7,)], [(40, 7)], [(40, 1), (7,)], [(40, 7), ()]], ids=str)
def test_equal_parameters_in_arrays_change_nothing(name, shapes):
    parameters = [np.asarray(p, float) for p in ORDINARY[name]]
    want = gs.densities[name].rvs(*parameters, size=(40, 7), rng=3)
    got = gs.densities[name].rvs(*stretched(parameters, shapes * len(parameters)), size=(40, 7), rng=3)
    np.testing.assert_array_equal(got, want)


def test_each_place_has_its_own_parameters():
    mu, sigma = np.array([[0.0], [1e6]]), np.array([1e-3, 1.0, 10.0])
    x = gs.normal.rvs(mu, sigma, size=(20_000, 2, 3), rng=1)
    np.testing.assert_allclose(x.mean(0), mu + 0 * sigma, atol=0.3)
    np.testing.assert_allclose(x.std(0), sigma + 0 * mu, rtol=0.03)
    counts = gs.categorical.rvs([[1.0, 0, 0], [0, 0, 1.0]], size=(50, 2), rng=1)
    np.testing.assert_array_equal(counts, [[0, 2]] * 50)
    shares = gs.dirichlet.rvs(np.array([[1e6, 1.0, 1.0], [1.0, 1.0, 1e6]]), rng=1)
    np.testing.assert_array_equal(shares.argmax(1), [0, 2])


def test_streams():
    draw = lambda rng: gs.normal.rvs(0.0, 1.0, size=1000, rng=rng)  # noqa: E731
    np.testing.assert_array_equal(draw(5), draw(gs.Generator(5)))
    np.testing.assert_array_equal(draw(np.random.default_rng(5)), draw(np.random.default_rng(5)))
    others = [draw(5), draw(6), draw([5, 6]), draw(None), draw(None), *map(draw, gs.Generator(5).spawn(2)),
              draw(gs.Generator(5).jumped())]  # fmt: skip
    correlations = np.corrcoef(others) - np.eye(len(others))
    assert np.abs(correlations).max() < 0.2
    with pytest.raises(TypeError, match="rng must be a seed"):
        draw("seed")


def test_neighbouring_draws_are_independent():
    for name in ("normal", "cauchy", "gamma"):
        parameters = ORDINARY[name]
        u = DISTRIBUTIONS[name](*parameters).cdf(gs.densities[name].rvs(*parameters, size=N, rng=1))
        for lag in (1, 2, 3, 4, 63, 64, 128):
            assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < 5 / np.sqrt(N)


# ---- shapes and types


def test_shapes_are_those_of_numpy():
    numpys = np.random.default_rng(1)
    vector, column = np.zeros(4), np.zeros((3, 1))
    for mu in (0.0, vector, column):
        for sigma in (1.0, vector + 1, column + 1):
            for size in (None, (3, 4), (2, 3, 4), (2, 1, 3, 4), (0, 3, 4)):
                assert gs.normal.rvs(mu, sigma, size=size).shape == np.shape(numpys.normal(mu, sigma, size)), (mu, sigma, size)
    for size, shape in [(None, ()), ((), ()), (0, (0,)), (5, (5,)), (np.int64(5), (5,)), ([2, 3], (2, 3)), ((3, 0), (3, 0))]:
        assert gs.poisson.rvs(3.0, size=size).shape == shape
        assert gs.dirichlet.rvs([1.0, 2.0], size=size).shape == (*shape, 2)
        assert gs.multinomial.rvs(3, [0.5, 0.5], size=size).shape == (*shape, 2)
    assert gs.multinomial.rvs(np.ones((4, 1)), np.full((3, 2), 0.5)).shape == (4, 3, 2)
    assert gs.normal.rvs(np.zeros(0), 1.0).shape == (0,)


def test_types():
    single, double = np.float32([1, 2]), np.array([1.0, 2.0])
    assert gs.gamma.rvs(single, single).dtype == gs.gamma.rvs(single, 1.0).dtype == np.float32
    assert gs.gamma.rvs(double, single).dtype == gs.gamma.rvs(1, 2).dtype == np.float64
    assert gs.gamma.rvs(double, 1.0, dtype="float32").dtype == gs.dirichlet.rvs(single).dtype == np.float32
    assert gs.poisson.rvs(single).dtype == gs.poisson.rvs(double, dtype=np.int64).dtype == np.int64
    assert gs.multinomial.rvs(3, single / 3).dtype == np.int64
    with pytest.raises(TypeError, match="float32 or float64"):
        gs.gamma.rvs(1.0, 1.0, dtype=int)
    with pytest.raises(TypeError, match="whole numbers"):
        gs.poisson.rvs(1.0, dtype=float)


def test_float32_probabilities():
    """They sum to one within the rounding of their own type, not of that in which draws are made."""
    p = np.float32([1 / 3, 2 / 3])
    assert abs(p.sum(dtype=float) - 1) > np.sqrt(np.finfo(float).eps)
    for given in (p, gs.to_device(p)):
        assert (gs.to_host(gs.multinomial.rvs(3, given, size=9)).sum(1) == 3).all()
        assert (gs.to_host(gs.categorical.rvs(given, size=9)) >= 0).all()


def test_the_order_of_parameters_and_names():
    want = gs.gamma.rvs(2.0, 3.0, size=5, rng=1)
    np.testing.assert_array_equal(gs.gamma.rvs(beta=3.0, alpha=2.0, size=5, rng=1), want)
    np.testing.assert_array_equal(gs.gamma.rvs(2.0, beta=3.0, size=5, rng=1), want)
    with pytest.raises((TypeError, ValueError), match="beta"):
        gs.gamma.rvs(2.0)


@pytest.mark.parametrize("name", KINDS)
def test_out(name):
    density, parameters = gs.densities[name], ORDINARY[name]
    want = density.rvs(*parameters, size=(6, 5), rng=2)
    for out in (np.empty_like(want), np.empty((2, *want.shape), want.dtype)[1]):
        assert density.rvs(*parameters, rng=2, out=out) is out
        np.testing.assert_array_equal(out, want)
        assert density.rvs(*parameters, size=(6, 5), rng=2, out=out) is out
    on_device = density.rvs(*parameters, size=(6, 5), rng=3, device=True)
    assert not isinstance(on_device, np.ndarray)
    assert on_device.dtype == want.dtype and on_device.shape == want.shape
    assert density.rvs(*parameters, rng=2, out=on_device) is on_device
    np.testing.assert_array_equal(gs.to_host(on_device), want)


def test_float32_out():
    out = np.empty(7, np.float32)
    gs.gamma.rvs(2.0, 3.0, rng=2, out=out)
    np.testing.assert_array_equal(out, gs.gamma.rvs(2.0, 3.0, size=7, rng=2, dtype="float32"))


def test_out_that_does_not_fit():
    with pytest.raises(ValueError, match="shape"):
        gs.normal.rvs(0.0, 1.0, size=3, out=np.empty(4))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        gs.normal.rvs(np.zeros(4), 1.0, out=np.empty(3))
    with pytest.raises(ValueError, match="shape"):
        gs.dirichlet.rvs([1.0, 2.0], out=np.empty((4, 3)))
    with pytest.raises(ValueError, match="contiguous"):
        gs.normal.rvs(0.0, 1.0, out=np.empty((3, 4)).T)
    with pytest.raises(TypeError, match="int"):
        gs.normal.rvs(0.0, 1.0, out=np.empty(3, int))
    with pytest.raises(TypeError, match="float32"):
        gs.normal.rvs(0.0, 1.0, dtype="float64", out=np.empty(3, np.float32))
    with pytest.raises(TypeError, match="int64"):
        gs.poisson.rvs(1.0, out=np.empty(3))
    with pytest.raises(TypeError, match="list"):
        gs.normal.rvs(0.0, 1.0, out=[0.0])


def test_parameters_on_the_device():
    mu = np.array([0.0, 100.0])
    x = gs.normal.rvs(gs.to_device(mu), 1.0, size=(5, 2), rng=4)
    assert not isinstance(x, np.ndarray)
    np.testing.assert_array_equal(gs.to_host(x), gs.normal.rvs(mu, 1.0, size=(5, 2), rng=4))
    bad = gs.to_device(np.array([-1.0, 1.0]))  # not read back to be checked
    np.testing.assert_array_equal(np.isnan(gs.to_host(gs.exponential.rvs(bad))), [True, False])
    assert (gs.to_host(gs.poisson.rvs(bad)) < 0).tolist() == [True, False]
    assert np.isnan(gs.to_host(gs.dirichlet.rvs(bad))).all()


# ---- errors


@pytest.mark.parametrize("size", [-1, 1.5, (2, -3), "many", (2, None)], ids=str)
def test_bad_sizes(size):
    with pytest.raises(ValueError, match="size must be"):
        gs.normal.rvs(0.0, 1.0, size=size)


def test_sizes_that_do_not_fit_the_parameters():
    for size in (5, (4, 3), ()):
        with pytest.raises(ValueError, match=r"size .* mu \(4,\)"):
            gs.normal.rvs(np.zeros(4), 1.0, size=size)
    with pytest.raises(ValueError, match="shape"):
        gs.normal.rvs(np.zeros(4), np.ones(3))


BAD = [
    ("normal", "sigma", (0.0, -1.0)), ("normal", "mu", (np.nan, 1.0)), ("normal", "sigma", (0.0, np.array([[1.0, 2], [0, 1]]))),
    ("gamma", "alpha", (0.0, 1.0)), ("poisson", "mu", (-1.0,)), ("binomial", "n", (1.5, 0.5)), ("binomial", "p", (3, 1.1)),
    ("dirichlet", "a", ([1.0, -1.0],)), ("dirichlet", "a", (np.ones((3, 2)) * [[1], [1], [0]],)),
    ("categorical", "p", ([0.5, 0.6],)), ("multinomial", "p", (3, [0.5, np.nan])),
    ("ordered_logit", "cutpoints", (0.0, [1.0, 1.0])),
]  # fmt: skip


@pytest.mark.parametrize("name,parameter,parameters", BAD, ids=[f"{n}-{p}-{i}" for i, (n, p, _) in enumerate(BAD)])
def test_parameters_outside_their_domains(name, parameter, parameters):
    with pytest.raises(ValueError, match=f"^{parameter} must be"):
        gs.densities[name].rvs(*parameters, size=None)


def test_parameters_that_do_not_go_together_give_nan():
    assert np.isnan(gs.uniform.rvs(1.0, 0.0, size=3)).all()
    assert np.isnan(gs.triangular.rvs(0.0, 2.0, 1.0, size=3)).all()
    assert np.isnan(gs.truncated_normal.rvs(0.0, 1.0, 2.0, 2.0, size=3)).all()


# ---- densities of users

LOMAX = """
// lomax: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive
__device__ real lomax_logpdf(real x, real alpha, real scale)
{
    return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
}
"""
LOMAX_CDF = """
__device__ real lomax_logsf(real x, real alpha, real scale)
{
    return -alpha * log1p(x / scale);
}
"""
LOMAX_SAMPLE = """
__device__ real lomax_sample(rng_t *rng, real alpha, real scale)
{
    return scale * expm1(exponential(rng) / alpha);
}
"""


@pytest.mark.parametrize("more", [LOMAX_SAMPLE, LOMAX_CDF, LOMAX_CDF + LOMAX_SAMPLE], ids=["sampler", "sf", "both"])
@pytest.mark.parametrize("alpha,scale", [(2.0, 3.0), (0.1, 1.0), (100.0, 1e10)])
@each_dtype
def test_a_users_density(more, alpha, scale, dtype):
    x = gs.register(LOMAX + more).rvs(alpha, scale, size=N, rng=1, dtype=dtype)
    assert x.dtype == dtype and (x >= 0).all()
    assert kolmogorov_smirnov(x, stats.lomax(float(dtype(alpha)), scale=scale).cdf) > THRESHOLD


def without_sampler(name):
    """A copy of a built-in density that has its distribution function, but no sampler."""
    source = gs.densities[name].source
    return gs.register(source[: source.index(f"__device__ real {name}_sample")].replace(f"{name}_", f"{name}_copy_"))


INVERTED = {
    "cauchy": [(0, 1), (-10, 0.01)], "wald": [(1, 1), (1, 1e-4)], "gumbel": [(-5, 3)], "kumaraswamy": [(0.5, 0.5)],
    "truncated_normal": [(0, 1, -1, 2), (0, 1, 40, inf), (-3, 2, 1000, 1001)], "normal": [(0, 1), (1e8, 300)],
    "geometric": [(0.3,), (1e-9,), (1,)], "discrete_uniform": [(-3, 7), (0, 0), (-(10**12), 5)], "bernoulli": [(0.3,)],
}  # fmt: skip


@cases(INVERTED)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_distribution_functions_are_inverted(name, parameters):
    density, distribution = without_sampler(name), DISTRIBUTIONS[name](*parameters)
    if density.discrete:
        x = density.rvs(*parameters, size=N, rng=1)
        assert chi_squared(x[2000:], distribution.cdf, edges_of(x[:2000])) > THRESHOLD
    else:
        for dtype in (np.float64, np.float32):
            x = density.rvs(*parameters, size=N // 5, rng=1, dtype=dtype)
            assert kolmogorov_smirnov(x, distribution.cdf) > THRESHOLD


def test_a_density_without_sampler_and_distribution_function():
    density = gs.register(LOMAX)
    with pytest.raises(NotImplementedError, match=r"lomax_sample\(rng_t \*rng.*lomax_logcdf"):
        density.rvs(1.0, 1.0)


@pytest.mark.parametrize(
    "sampler,message",
    [
        ("real lomax_sample(rng_t *rng, real scale) { return uniform(rng); }", "must take the parameters"),
        ("real lomax_sample(real alpha, real scale) { return 1; }", "rng_t"),
        ("real lomax_sample(rng_t *rng, real alpha, real scale) { return uniform(rng) + normal(rng); }", "several draws"),
        ("real lomax_sample(rng_t *rng, real alpha, real scale) { return gaussian(rng); }", "unknown function gaussian"),
    ],
)
def test_samplers_that_are_refused(sampler, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        gs.register(f"{LOMAX}__device__ {sampler}\n")


if __name__ == "__main__":  # stores the draws anew
    values = {
        np.dtype(dtype).name: {name: draws_to_store(name, dtype).tolist() for name in ORDINARY}
        for dtype in (np.float64, np.float32)
    }
    text = json.dumps(values)
    for name in ORDINARY:
        text = text.replace(f'"{name}":', f'\n"{name}":')
    STORED.write_text(text.replace(" \n", "\n") + "\n")
