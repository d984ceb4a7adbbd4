"""Transforms that make a density of a density."""

import mpmath as mp
import numpy as np
import pytest
from references import derivative, errors, exactly
from references_cdf import log_mass
from references_continuous import REFERENCES
from scipy import stats

import gpustats as gs
from gpustats.transforms import Censor, Exp, Grad, LocScale, Power, Truncate, Weighted, ZeroInflate

N = 50
inf = np.inf

each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

# A user's density, whose parameters have names that a transform might want for itself.
FRECHET = """
// frechet: the Fréchet distribution
// x: positive    log_mass: positive, shape    at: positive, scale
real frechet_logpdf(real x, real log_mass, real at)
{
    real log_z = log(x / at);
    return log(log_mass / at) - (1 + log_mass) * log_z - exp(-log_mass * log_z);
}
real frechet_logcdf(real x, real log_mass, real at)
{
    return -exp(-log_mass * log(x / at));
}
"""


@pytest.fixture
def frechet():
    return gs.register(FRECHET)


def assert_close(got, want, dtype=np.float64, factor=1.0):
    assert np.shape(got) == np.shape(want) and got.dtype == dtype
    assert errors(got, want).max() <= factor * (1e-12 if dtype == np.float64 else 1e-5)


# ---- Truncate

# (density, its parameters, scipy's distribution with the same)
CONTINUOUS = {
    "normal": ((0.5, 1.5), stats.norm(0.5, 1.5)),
    "exponential": ((0.7,), stats.expon(scale=1 / 0.7)),
    "weibull": ((1.7, 2.5), stats.weibull_min(1.7, scale=2.5)),
    "pareto": ((2.5, 0.3), stats.pareto(2.5, scale=0.3)),
    "logistic": ((0.5, 0.8), stats.logistic(0.5, 0.8)),
    "gumbel": ((0.5, 0.8), stats.gumbel_r(0.5, 0.8)),
    "cauchy": ((0.5, 0.8), stats.cauchy(0.5, 0.8)),
    "log_normal": ((0.3, 0.8), stats.lognorm(0.8, scale=np.exp(0.3))),
    "wald": ((1.5, 2.0), stats.invgauss(0.75, scale=2.0)),
}
DISCRETE = {
    "geometric": ((0.3,), stats.geom(0.3)),
    "bernoulli": ((0.3,), stats.bernoulli(0.3)),
}
each_bounds = pytest.mark.parametrize(  # in single precision with both, whose code is that of either
    "lower, upper, dtype", [(0.5, None, np.float64), (None, 2.0, np.float64), (0.5, 2.0, np.float64), (0.5, 2.0, np.float32)]
)
WHOLE_BOUNDS = [(1, None), (None, 4), (1, 4), (1, 1)]


def given(lower, upper):
    return {name: value for name, value in (("lower", lower), ("upper", upper)) if value is not None}


@pytest.mark.parametrize("name", CONTINUOUS)
@each_bounds
def test_truncated(name, lower, upper, dtype):
    parameters, theirs = CONTINUOUS[name]
    truncated = Truncate(gs.densities[name], lower, upper)
    assert truncated.parameters == (*gs.densities[name].parameters, *given(lower, upper))
    x = np.r_[-1.0, 0.4, 0.5, np.linspace(0.5, 2, 20), 2.0, 2.1, 30].astype(dtype)
    a, b = (-inf if lower is None else lower), (inf if upper is None else upper)
    mass = theirs.cdf(b) - theirs.cdf(a)
    want = np.where((x >= a) & (x <= b), theirs.logpdf(x.astype(float)) - np.log(mass), -inf)
    assert_close(truncated.logpdf(x, *parameters), want, dtype)
    between = exactly(lambda low, high: log_mass(name, low, high, *parameters))
    clipped = np.clip(x.astype(float), a, b)
    assert_close(truncated.logcdf(x, *parameters), between(a, clipped) - between(a, b), dtype)
    assert_close(truncated.logsf(x, *parameters), between(clipped, b) - between(a, b), dtype)


@pytest.mark.parametrize("name", ["geometric", "bernoulli"])
@pytest.mark.parametrize("lower, upper", WHOLE_BOUNDS)
def test_truncated_discrete(name, lower, upper):
    parameters, theirs = DISCRETE[name]
    truncated = Truncate(gs.densities[name], lower, upper)
    x = np.arange(-2.0, 12)
    inside = (x >= (-inf if lower is None else lower)) & (x <= (inf if upper is None else upper))
    pmf = np.where(inside, theirs.pmf(x), 0)
    pmf /= theirs.pmf(np.arange(-2, 1000))[np.r_[inside, np.full(988, upper is None)]].sum()
    got = truncated.pmf(x, *parameters)
    np.testing.assert_allclose(got, pmf, rtol=1e-13)
    np.testing.assert_allclose(truncated.cdf(x + 0.5, *parameters), np.cumsum(pmf), rtol=1e-13)
    assert truncated.discrete and (truncated.logpmf([0.5, 1.5], *parameters) == -inf).all()


def test_truncation_has_scipys_special_cases():
    x = np.linspace(0.1, 3, N)
    assert_close(Truncate(gs.exponential, upper=3.0).logpdf(x, 2.0), stats.truncexpon(6, scale=0.5).logpdf(x))
    want = stats.truncweibull_min(1.7, 0.1, 3, scale=1).logpdf(x)
    assert_close(Truncate(gs.weibull, 0.1, 3.0).logpdf(x, 1.7, 1.0), want)
    want = stats.truncpareto(2.5, 30, scale=0.1).logpdf(x)
    assert_close(Truncate(gs.pareto, upper=3.0).logpdf(x, 2.5, 0.1), want)
    for lower, upper in ((0.0, inf), (-inf, 3.0), (0.0, 3.0), (8.0, 9.0), (-9.0, -8.0)):
        z = np.linspace(max(lower, -9), min(upper, 9), N)
        assert_close(Truncate(gs.normal, lower, upper).logpdf(z, 0.0, 1.0), stats.truncnorm(lower, upper).logpdf(z), factor=10)


# (density, its parameters, bounds): mass that is out of float64's reach, in either tail
FAR = [
    ("normal", (0, 1), (50, inf)), ("normal", (0, 1), (50, 51)), ("normal", (0, 1), (-51, -50)),
    ("exponential", (1,), (1e4, inf)), ("exponential", (1,), (1e4, 1e4 + 1)),
    ("logistic", (0, 1), (800, 802)), ("logistic", (0, 1), (-802, -800)), ("logistic", (0, 1), (-800, 800)),
    ("gumbel", (0, 1), (800, 803)), ("gumbel", (0, 1), (-9, -8)), ("moyal", (0, 1), (1600, 1605)),
    ("cauchy", (0, 1), (1e20, 3e20)), ("cauchy", (0, 1), (-3e20, -1e20)),
    ("wald", (1, 1), (2000, 2002)), ("wald", (1, 1), (1e-4, 2e-4)), ("ex_gaussian", (0, 1, 1), (-41, -40)),
    ("weibull", (2, 1), (30, 31)), ("weibull", (2, 1), (1e-200, 3e-200)), ("kumaraswamy", (50, 3), (1e-9, 3e-9)),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters, bounds", FAR)
def test_truncation_in_far_tails(name, parameters, bounds):
    low, high = np.clip(bounds, -1e300, bounds[0] + abs(bounds[0]) if np.isinf(bounds[1]) else inf)
    x = low + (high - low) * np.linspace(0.0, 1.0, 9)
    exact = exactly(lambda x: REFERENCES[name].logpdf.__wrapped__(x, *parameters) - log_mass(name, *bounds, *parameters))
    got = Truncate(gs.densities[name], *bounds).logpdf(x, *map(float, parameters))
    # The normalised log-density is the difference of two numbers of the size of log_mass.
    size = max(1, abs(float(exactly(lambda x: log_mass(name, *bounds, *parameters))(0.0))))
    assert np.abs(got - exact(x)).max() <= 2e-15 * size


@pytest.mark.parametrize("lower", [0.0, np.zeros(N), np.full((3, 1), 0.5)], ids=["number", "observations", "sets"])
def test_bounds_of_every_shape(lower, rng):
    x, mu = rng.exponential(size=N), np.array([[0.0], [0.5], [1.0]])
    truncated = Truncate(gs.normal, lower=lower)
    full = np.broadcast_to(lower, (3, N))
    want = np.where(x < full, -inf, stats.norm.logpdf(x, mu) - stats.norm.logsf(full, mu))
    assert_close(truncated.logpdf(x, mu, 1.0), want)
    np.testing.assert_allclose(truncated.loglik(x, mu, 1.0), want.sum(-1), rtol=1e-13)
    np.testing.assert_allclose(gs.Likelihood(truncated, x)(mu, 1.0), want.sum(-1), rtol=1e-13)


def test_the_normaliser_is_made_once_for_each_set():
    source = Truncate(gs.normal, 0.0, 2.0).kernel_source("table")
    evaluate = source[source.index("normal_truncated_logpdf_evaluate(") :]
    assert "log_ndtr" not in evaluate and "log_cdf_difference" not in evaluate
    assert "log_cdf_difference" in source


def test_bounds_are_defaults():
    truncated = Truncate(gs.normal, lower=0.5, upper=[2.0, 3.0])
    other = Truncate(gs.normal, -inf, inf)
    assert list(truncated.defaults) == ["lower", "upper"]
    got = truncated.logpdf(1.0, 0.0, 1.0)
    np.testing.assert_array_equal(got, other.logpdf(1.0, 0.0, 1.0, [0.5, 0.5], [2.0, 3.0]))
    np.testing.assert_array_equal(truncated.logpdf(1.0, 0.0, 1.0, upper=3.0), got[1])
    np.testing.assert_array_equal(truncated.cdf(1.0, 0.0, 1.0, upper=3.0), np.exp(other.logcdf(1.0, 0.0, 1.0, 0.5, 3.0)))
    with pytest.raises(ValueError, match="needs sigma"):
        truncated.logpdf(1.0, 0.0)


def test_truncation_to_nothing_is_nan(frechet):
    for density, parameters, lower, upper in (
        (gs.normal, (0.0, 1.0), 1.0, 1.0), (gs.normal, (0.0, 1.0), 2.0, 1.0), (gs.normal, (0.0, 1.0), np.nan, 1.0),
        (gs.exponential, (1.0,), -2.0, -1.0), (frechet, (2.0, 1.0), -2.0, 0.0), (gs.kumaraswamy, (2.0, 3.0), 1.0, 2.0),
        (gs.geometric, (0.5,), 3.0, 2.0), (gs.geometric, (0.5,), 1.5, 3.0), (gs.normal, (0.0, -1.0), 0.0, 1.0),
    ):  # fmt: skip
        truncated = Truncate(density, lower, upper)
        for x in (1.0, 4.0) if density.discrete else (0.25, 1.0):
            assert np.isnan(truncated.logpdf(x, *parameters)) and np.isnan(truncated.logcdf(x, *parameters))


# ---- Censor


@pytest.mark.parametrize("name", CONTINUOUS)
@each_bounds
def test_censored(name, lower, upper, dtype):
    parameters, theirs = CONTINUOUS[name]
    x = np.r_[-1.0, 0.4, 0.5, np.linspace(0.6, 1.9, 20), 2.0, 2.1, 30].astype(dtype)
    a, b = (-inf if lower is None else lower), (inf if upper is None else upper)
    z = x.astype(float)
    want = np.select([z < a, z > b, z == a, z == b], [-inf, -inf, theirs.logcdf(z), theirs.logsf(z)], theirs.logpdf(z))
    assert_close(Censor(gs.densities[name], lower, upper).logpdf(x, *parameters), want, dtype)


@pytest.mark.parametrize("name", ["geometric", "bernoulli"])
@pytest.mark.parametrize("lower, upper", [(1, None), (None, 4), (0, 1), (2, 5)])
def test_censored_discrete(name, lower, upper):
    parameters, theirs = DISCRETE[name]
    censored = Censor(gs.densities[name], lower, upper)
    x = np.arange(-2.0, 12)
    a, b = (-inf if lower is None else lower), (inf if upper is None else upper)
    want = np.select([(x < a) | (x > b), x == a, x == b], [0, theirs.cdf(x), theirs.sf(x - 1)], theirs.pmf(x))
    np.testing.assert_allclose(censored.pmf(x, *parameters), want, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(censored.cdf(x, *parameters), np.where(x < a, 0, np.where(x >= b, 1, theirs.cdf(x))), rtol=1e-13)
    np.testing.assert_allclose(np.exp(censored.logsf(x, *parameters)), 1 - censored.cdf(x, *parameters), atol=1e-14)


def test_censoring_where_the_density_has_no_mass():
    assert Censor(gs.exponential, upper=-1.0).logpdf(-1.0, 2.0) == 0  # every observation is recorded as the bound
    assert Censor(gs.exponential, lower=-1.0).logpdf(-1.0, 2.0) == -inf
    assert np.isnan(Censor(gs.exponential, 2.0, 2.0).logpdf(2.0, 2.0))


def test_a_censoring_time_for_each_observation(rng):
    end = np.where(rng.uniform(size=N) < 0.3, inf, rng.uniform(0.5, 2, N))
    x = np.minimum(rng.weibull(1.5, N), end)
    alpha = np.array([[1.0], [1.5], [2.0]])
    want = np.where(x == end, stats.weibull_min.logsf(x, alpha), stats.weibull_min.logpdf(x, alpha)).sum(-1)
    likelihood = gs.Likelihood(Censor(gs.weibull, upper=end), x)
    np.testing.assert_allclose(likelihood(alpha, 1.0), want, rtol=1e-12)


# ---- PyMC has some of them


def float64(*values):
    """PyMC computes in float32 with numbers that fit into it."""
    return [np.float64(v) for v in values]


PYMC = {
    "normal": ("Normal", (0.5, 1.5)),
    "exponential": ("Exponential", (0.7,)),
    "weibull": ("Weibull", (1.7, 2.5)),
    "gumbel": ("Gumbel", (0.5, 0.8)),
    "laplace": ("Laplace", (0.5, 0.8)),
    "geometric": ("Geometric", (0.3,)),
}


@pytest.mark.parametrize("name", PYMC)
@pytest.mark.parametrize("lower, upper", [(1, None), (1, 4)])
def test_pymc_agrees(name, lower, upper):
    pm = pytest.importorskip("pymc")
    theirs, parameters = PYMC[name]
    discrete = gs.densities[name].discrete
    x = np.arange(0, 7) if discrete else np.r_[0.5, 1.0, np.linspace(1.1, 3.9, 12), 4.0, 4.5]
    bounds = {n: v if discrete else np.float64(v) for n, v in given(lower, upper).items()}
    for transform, wrap in ((Truncate, pm.Truncated), (Censor, pm.Censored)):
        want = pm.logp(wrap.dist(getattr(pm, theirs).dist(*float64(*parameters)), **bounds), x).eval()
        got = transform(gs.densities[name], lower, upper).logpdf(x.astype(float), *parameters)
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7)  # PyMC's normal tails have constants in float32


@pytest.mark.parametrize("theirs, name, parameters", [
    ("ZeroInflatedPoisson", "poisson", (0.7, 3.0)),
    ("ZeroInflatedBinomial", "binomial", (0.7, 8, 0.4)),
    ("ZeroInflatedNegativeBinomial", "negative_binomial", (0.7, 3.0, 1.5)),
])  # fmt: skip
def test_pymc_agrees_on_further_zeros(theirs, name, parameters):
    pm = pytest.importorskip("pymc")
    x = np.arange(9)
    inflated = ZeroInflate(gs.densities[name])
    assert inflated.parameters[0] == "psi"
    got = inflated.logpmf(x, *parameters)
    np.testing.assert_allclose(got, pm.logp(getattr(pm, theirs).dist(*float64(*parameters)), x).eval(), rtol=1e-10)
    np.testing.assert_allclose(got, gs.densities[f"zero_inflated_{name}"].logpmf(x, *parameters), rtol=1e-13)


# ---- LocScale, ZeroInflate


@each_dtype
def test_moved_and_stretched(dtype, rng):
    x = rng.normal(0, 5, (N, 1)).astype(dtype)
    loc, scale = np.array([-1.5, 0.5, 2.0], dtype), np.array([0.5, 1.0, 4.0], dtype)
    for density, theirs in ((gs.gamma, stats.gamma(2.5, loc, scale)), (gs.weibull, stats.weibull_min(2.5, loc, scale))):
        moved = LocScale(density)
        assert moved.domains["x"] == "real"
        assert_close(moved.logpdf(x, 2.5, 1.0, loc, scale), theirs.logpdf(x.astype(float)), dtype, factor=4)
        assert np.isnan(moved.logpdf(1.0, 2.5, 1.0, 0.0, -1.0))
    assert_close(moved.logcdf(x, 2.5, 1.0, loc, scale), theirs.logcdf(x.astype(float)), dtype, factor=4)
    assert_close(moved.logsf(x, 2.5, 1.0, loc, scale), theirs.logsf(x.astype(float)), dtype, factor=4)


def test_further_zeros():
    for density, parameters in ((gs.geometric, (0.3,)), (gs.discrete_uniform, (-2, 7)), (gs.discrete_uniform, (1, 7))):
        x = np.arange(-3.0, 200)
        inflated = ZeroInflate(density)
        pmf = inflated.pmf(x, 0.6, *parameters)
        np.testing.assert_allclose(pmf, 0.6 * density.pmf(x, *parameters) + 0.4 * (x == 0), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(inflated.cdf(x, 0.6, *parameters), np.cumsum(pmf), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(np.exp(inflated.logsf(x, 0.6, *parameters)), 1 - np.cumsum(pmf), rtol=1e-12, atol=1e-14)
        assert np.isnan(inflated.logpmf(x, 1.1, *parameters)).all()


def test_further_zeros_of_a_vectors_density(rng):
    p = rng.dirichlet(np.ones(4), 3)
    x = np.arange(6)
    got = ZeroInflate(gs.categorical).pmf(x[:, None], 0.8, p)
    want = 0.8 * np.vstack([p.T, np.zeros((2, 3))]) + 0.2 * (x == 0)[:, None]
    np.testing.assert_allclose(got, want, rtol=1e-13)


# ---- Weighted, Power


@pytest.mark.parametrize("transform, name", [(Weighted, "weight"), (Power, "power")])
def test_multiplied(transform, name, rng):
    density = transform(gs.gamma)
    assert density.parameters == ("alpha", "beta", name)
    x, weight = rng.exponential(size=N), rng.exponential(size=N)
    want = weight * stats.gamma.logpdf(x, 2.5)
    assert_close(density.logpdf(x, 2.5, 1.0, weight), want)
    np.testing.assert_allclose(density.loglik(x, 2.5, 1.0, weight), want.sum(), rtol=1e-13)
    np.testing.assert_array_equal(density.logpdf([-1.0, 0.0, 2.0], 2.5, 1.0, 0.0), 0)
    np.testing.assert_array_equal(density.logpdf([-1.0, 0.0], 2.5, 1.0, 2.0), -inf)
    assert np.isnan(density.logpdf([-1.0, 1.0], 2.5, -1.0, 0.0)).all()
    assert np.isnan(density.logpdf([-1.0, 1.0], 2.5, 1.0, -1.0)).all() and np.isnan(density.logpdf(np.nan, 2.5, 1.0, 0.0))


def test_weighted_vectors(rng):
    a, weight = np.array([2.0, 3.0, 1.5]), np.array([0.0, 0.5, 2.0])
    x = rng.dirichlet(a, N)
    weighted = Weighted(gs.dirichlet)
    want = np.array([stats.dirichlet.logpdf(row, a) for row in x])[:, None] * weight
    assert_close(weighted.logpdf(x[:, None], a, weight), want)
    np.testing.assert_allclose(weighted.loglik(x, a, weight[:, None]), want.sum(0), rtol=1e-13)
    np.testing.assert_array_equal(weighted.logpdf(np.array([0.5, 0.6, 0.1]), a, weight), [0, -inf, -inf])
    counts = np.array([1, 2, 0])
    got = Power(gs.multinomial).logpmf(counts, 3, np.array([0.2, 0.3, 0.5]), power=0.5)
    np.testing.assert_allclose(got, 0.5 * stats.multinomial.logpmf(counts, 3, [0.2, 0.3, 0.5]), rtol=1e-13)


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
@each_dtype
def test_weighted_elliptical(name, dtype, rng):
    density, more = gs.densities[name], {} if name == "mvnormal" else {"nu": dtype(5)}
    x, mu, cov = rng.normal(size=(N, 3)).astype(dtype), np.zeros(3, dtype), (2 * np.eye(3) + 0.5).astype(dtype)
    weight = np.array([0.0, 0.5, 2.0], dtype)
    plain = density.logpdf(x, mu=mu, cov=cov, **more)
    weighted = Weighted(density)
    assert weighted.parameters == (*density.parameters, "weight")
    assert_close(weighted.logpdf(x[:, None], mu=mu, cov=cov, weight=weight, **more), plain[:, None] * weight, dtype)
    tril = np.linalg.cholesky(cov).astype(dtype)
    sums = weighted.loglik(x, mu=mu, scale_tril=tril, weight=weight[:, None], **more)
    np.testing.assert_allclose(sums, plain.sum(dtype=float) * weight, rtol=1e-12 if dtype == np.float64 else 1e-5)
    each = rng.exponential(size=N).astype(dtype)
    assert_close(weighted.logpdf(x, mu=mu, cov=cov, weight=each, **more), plain * each, dtype)
    total = weighted.loglik(x, mu=mu, cov=cov, weight=each, **more)
    np.testing.assert_allclose(total, (plain * each).sum(dtype=float), rtol=1e-12 if dtype == np.float64 else 1e-5)
    assert np.isnan(weighted.logpdf(x, mu=mu, cov=cov, weight=dtype(-1), **more)).all()


# ---- composition


def test_they_compose(rng):
    x = rng.uniform(0, 2, N)
    truncated = stats.truncnorm(0, 2)
    np.testing.assert_allclose(Exp(Truncate(gs.normal, 0.0, 2.0))(x, 0.0, 1.0), truncated.pdf(x), rtol=1e-13)
    weighted = Weighted(Truncate(gs.normal, 0.0, 2.0))
    assert weighted.parameters == ("mu", "sigma", "weight", "lower", "upper")
    assert weighted.defaults == {"lower": 0.0, "upper": 2.0}
    assert_close(weighted.logpdf(x, 0.0, 1.0, 3.0), 3 * truncated.logpdf(x))
    assert_close(weighted.logpdf(x, 0.0, 1.0, 3.0, lower=-inf), 3 * stats.truncnorm(-inf, 2).logpdf(x))
    twice = Truncate(Truncate(gs.normal, lower=0.0), upper=2.0)
    assert twice.parameters == ("mu", "sigma", "lower", "upper")
    assert_close(twice.logpdf(x, 0.0, 1.0), truncated.logpdf(x))
    assert_close(twice.logsf(x, 0.0, 1.0), truncated.logsf(x))
    moved = LocScale(Truncate(gs.normal, 0.0, 2.0))
    assert_close(moved.logpdf(1 + 3 * x, 0.0, 1.0, 1.0, 3.0), stats.truncnorm(0, 2, 1, 3).logpdf(1 + 3 * x))
    assert_close(Truncate(LocScale(gs.weibull), upper=9.0).logpdf(1 + 3 * x, 1.7, 1.0, 1.0, 3.0),
                 stats.weibull_min.logpdf(1 + 3 * x, 1.7, 1, 3) - stats.weibull_min.logcdf(9, 1.7, 1, 3))  # fmt: skip
    counts = Truncate(ZeroInflate(gs.geometric), upper=4)
    assert counts.pmf(np.arange(7), 0.6, 0.3).sum() == pytest.approx(1, abs=1e-14)


def test_a_users_density(frechet, rng):
    assert Truncate(frechet, 0.5, 2.0).parameters == ("log_mass", "at", "lower", "upper")
    theirs = stats.invweibull(2.5, scale=1.5)
    x = rng.uniform(0.5, 2, N)
    log_mass = np.log(theirs.cdf(2) - theirs.cdf(0.5))
    assert_close(Truncate(frechet, 0.5, 2.0).logpdf(x, 2.5, 1.5), theirs.logpdf(x) - log_mass)
    assert Censor(frechet, upper=2.0).logpdf(2.0, 2.5, 1.5) == pytest.approx(theirs.logsf(2), rel=1e-13)
    assert_close(frechet.logsf(x, 2.5, 1.5), theirs.logsf(x))
    truncated = Truncate(frechet, lower=0.5)
    gs.register(FRECHET.replace("log(x / at)", "0"), replace=True)  # a density stays what it was made of
    assert_close(truncated.logpdf(x, 2.5, 1.5), theirs.logpdf(x) - theirs.logsf(0.5))
    assert Truncate(gs.densities["frechet"], lower=0.5).logpdf(1.0, 2.5, 1.5) != truncated.logpdf(1.0, 2.5, 1.5)
    assert not any("truncated" in name or "censored" in name for name in set(gs.densities) - {"truncated_normal"})


# ---- mistakes


@pytest.mark.parametrize("make, error, words", [
    (lambda: Truncate(gs.poisson, lower=1), NotImplementedError, "poisson has no poisson_logcdf"),
    (lambda: Censor(gs.gamma, upper=1.0), NotImplementedError, "gamma has no gamma_logcdf and no gamma_logsf"),
    (lambda: Truncate(gs.normal), ValueError, "Truncate needs lower, or upper"),
    (lambda: Truncate(gs.uniform, lower=1.0), ValueError, "adds a parameter lower, but uniform has one"),
    (lambda: Weighted(Weighted(gs.normal)), ValueError, "adds a parameter weight, but normal_weighted"),
    (lambda: Censor(gs.mvnormal, lower=1.0), ValueError, "single number, which mvnormal is not"),
    (lambda: LocScale(gs.dirichlet), ValueError, "single number, which dirichlet is not"),
    (lambda: LocScale(gs.poisson), ValueError, "a continuous density, which poisson is not"),
    (lambda: ZeroInflate(gs.normal), ValueError, "a discrete density, which normal is not"),
    (lambda: Power(Exp(gs.normal)), TypeError, "Power takes a density, not Pointwise"),
])  # fmt: skip
def test_what_cannot_be_transformed(make, error, words):
    with pytest.raises(error, match=words):
        make()


# ---- gradients


def truncated_weibull(x, alpha, beta, lower, upper):
    z, a, b = ((v / beta) ** alpha for v in (x, lower, upper))
    return mp.log(alpha / beta) + (alpha - 1) * mp.log(x / beta) - z - mp.log(mp.exp(-a) - mp.exp(-b))


def censored_normal(x, mu, sigma, lower, upper):
    if x == lower:
        return mp.log(mp.erfc((mu - lower) / sigma / mp.sqrt(2)) / 2)
    if x == upper:
        return mp.log(mp.erfc((upper - mu) / sigma / mp.sqrt(2)) / 2)
    return -(((x - mu) / sigma) ** 2) / 2 - mp.log(sigma) - mp.log(2 * mp.pi) / 2


def stretched_logistic(x, mu, s, loc, scale):
    z = ((x - loc) / scale - mu) / s
    return -z - 2 * mp.log1p(mp.exp(-z)) - mp.log(s * scale)


def inflated_geometric(x, psi, p):
    return mp.log(1 - psi) if x == 0 else mp.log(psi * p) + (x - 1) * mp.log(1 - p)


def powered_gumbel(x, mu, beta, power):
    z = (x - mu) / beta
    return power * (-z - mp.exp(-z) - mp.log(beta))


GRADIENTS = [
    (lambda: Truncate(gs.weibull, 0.5, 3.0), truncated_weibull, (0.5, 1.0, 3.0), (1.7, 2.5, 0.5, 3.0)),
    (lambda: Censor(gs.normal, -1.0, 2.0), censored_normal, (-1.0, 0.5, 2.0), (0.3, 1.2, -1.0, 2.0)),
    (lambda: Censor(gs.normal, -30.0, 40.0), censored_normal, (-30.0, 0.5, 40.0), (0.3, 1.2, -30.0, 40.0)),
    (lambda: LocScale(gs.logistic), stretched_logistic, (-40.0, 0.5, 3.0), (0.3, 1.2, 0.7, 2.0)),
    (lambda: ZeroInflate(gs.geometric), inflated_geometric, (0.0, 1.0, 5.0), (0.6, 0.3)),
    (lambda: Power(gs.gumbel), powered_gumbel, (-1.0, 0.5, 7.0), (0.3, 1.2, 0.0)),
    (lambda: Weighted(Truncate(gs.weibull, 0.5, 3.0)),
     lambda x, alpha, beta, weight, *bounds: weight * truncated_weibull(x, alpha, beta, *bounds),
     (0.5, 1.0, 3.0), (1.7, 2.5, 0.7, 0.5, 3.0)),
]  # fmt: skip


@pytest.mark.parametrize("make, exact, x, parameters", GRADIENTS)
def test_gradients(make, exact, x, parameters):
    density, x = make(), np.array(x)
    wrt = [n for n in density.parameters if n not in density.defaults]
    _, got = density.loglik_and_grad(x, *parameters, wrt=wrt)
    assert list(got) == wrt
    for name, value in got.items():
        i = list(density.domains).index(name)
        want = sum(derivative(exact, (float(v), *parameters), [i], direction=name == "power") for v in x)
        np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-12, err_msg=name)


def test_gradients_in_the_bounds():
    truncated = Truncate(gs.weibull, 0.5, 3.0)
    _, got = truncated.loglik_and_grad(np.array([0.75, 1.0]), 1.7, 2.5, wrt=("x", "lower", "upper"))
    for i, name in ((0, "x"), (3, "lower"), (4, "upper")):
        want = [derivative(truncated_weibull, (v, 1.7, 2.5, 0.5, 3.0), [i]) for v in (0.75, 1.0)]
        np.testing.assert_allclose(got[name], want if name == "x" else sum(want), rtol=1e-10, err_msg=name)
    score = Grad(truncated, "x")
    assert score(0.25, 1.7, 2.5, 0.5, 3.0) == 0 and np.isnan(score(1.0, 1.7, -2.5, 0.5, 3.0))
