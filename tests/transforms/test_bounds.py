"""Densities truncated and censored, against SciPy and PyMC."""

import numpy as np
import pytest
from mpmath import mp, mpf
from references import exactly
from references_cdf import log_mass
from references_continuous import REFERENCES
from scipy import stats
from thorough import THOROUGH, some
from transformed import assert_close

import gpustats as gs
from gpustats.transforms import Censor, Truncate, ZeroInflate

N = 50
inf = np.inf

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
    "lower, upper, dtype", [
        (0.5, None, np.float64), (0.5, 2.0, np.float64), pytest.param(None, 2.0, np.float64, marks=THOROUGH),
        pytest.param(0.5, 2.0, np.float32, marks=THOROUGH),
    ],
)

WHOLE_BOUNDS = [(1, None), (None, 4), (1, 4), (1, 1)]


def given(lower, upper):
    return {name: value for name, value in (("lower", lower), ("upper", upper)) if value is not None}


@pytest.mark.parametrize("name", some(CONTINUOUS, 12))
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


@pytest.mark.parametrize("name", some(["geometric", "bernoulli"]))
@pytest.mark.parametrize("lower, upper", some(WHOLE_BOUNDS, 2))
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


@pytest.mark.parametrize("name, parameters, bounds", some(FAR))
def test_truncation_in_far_tails(name, parameters, bounds):
    low, high = np.clip(bounds, -1e300, bounds[0] + abs(bounds[0]) if np.isinf(bounds[1]) else inf)
    x = low + (high - low) * np.linspace(0.0, 1.0, 9)
    exact = exactly(lambda x: REFERENCES[name].logpdf.__wrapped__(x, *parameters) - log_mass(name, *bounds, *parameters))
    got = Truncate(gs.densities[name], *bounds).logpdf(x, *map(float, parameters))
    # The normalised log-density is the difference of two numbers of the size of log_mass.
    size = max(1, abs(float(exactly(lambda x: log_mass(name, *bounds, *parameters))(0.0))))
    assert np.abs(got - exact(x)).max() <= 2e-15 * size


# (density, its parameters, its distribution function for mpmath, points: in the middle, in tails, at a kink and at a zero)
NARROW = [
    ("normal", (0.3, 1.2), lambda x: mp.ncdf((x - mpf(0.3)) / mpf(1.2)), (0.3, 6.0, -40.0)),
    ("laplace", (0.3, 1.2), lambda x: (1 - mp.sign(u := x - mpf(0.3)) * mp.expm1(-abs(u) / mpf(1.2))) / 2, (0.3, 30.0)),
    ("gamma", (2.5, 1.25), lambda x: mp.gammainc(2.5, 0, 1.25 * x, regularized=True), (1e-5, 2.0)),
    (
        "double_gamma", (2.5, 0.0, 1.0), lambda x: (1 + mp.sign(x) * mp.gammainc(2.5, 0, abs(x), regularized=True)) / 2,
        (0.0, 2.0),
    ),
]


@pytest.mark.parametrize("dtype", some([np.float64, np.float32], 2))
@pytest.mark.parametrize("name, parameters, cdf, points", NARROW)
def test_narrow_intervals(name, parameters, cdf, points, dtype):
    """However narrow they are: the difference of two distribution functions would have no digits left."""
    widths = np.array([0.3, 3e-2, 1e-3, 1e-6, 1e-9, 1e-14, 1e-20])
    ends = {(dtype(c - part * w), dtype(c + (1 - part) * w)) for c in points for w in widths for part in (0.5, 0.3)}
    low, high = np.array(sorted((a, b) for a, b in ends if a < b and (name != "gamma" or a > 0))).T
    with mp.workdps(100):
        a, b = ([mpf(float(v)) for v in side] for side in (low, high))
        mass = np.array([float(mp.log(cdf(v) - cdf(u))) for u, v in zip(a, b, strict=True)])
        part = np.array([float(mp.log(cdf(u + (v - u) / 4) - cdf(u))) for u, v in zip(a, b, strict=True)])
    given, x = [dtype(p) for p in parameters], low.astype(dtype)
    truncated, inner = Truncate(gs.densities[name], 0.0, 1.0), gs.densities[name].logpdf(x, *given)
    size = np.maximum(1, np.maximum(abs(inner), abs(mass)))
    error = abs(truncated.logpdf(x, *given, low, high) - (inner - mass)) / size
    assert error.max() < (1e-12 if dtype is np.float64 else 1e-5)
    if dtype is np.float64:
        wide = (high - low) > 1e-4  # elsewhere a quarter of the way is rounded
        quarter = (low + (high - low) / 4)[wide]
        got = truncated.logcdf(quarter, *given, low[wide], high[wide])
        np.testing.assert_allclose(got, (part - mass)[wide], rtol=1e-9, atol=1e-12)


def test_derivatives_between_narrow_bounds():
    """Of x - mean in mu, times z' in sigma; of the log of the width in the bounds. mpmath, 40 digits."""
    low, width = 1.0, 2.0**-19
    _, slopes = Truncate(gs.normal, 0.0, 1.0).loglik_and_grad([1.0 + 2**-21], 0.3, 1.2, low, low + width)
    with mp.workdps(40):
        def value(mu, sigma, a, b):
            z = lambda t: (t - mu) / sigma  # noqa: E731
            return -z(mpf(1) + mpf(2) ** -21) ** 2 / 2 - mp.log(sigma) - mp.log(mp.ncdf(z(b)) - mp.ncdf(z(a)))

        row = mpf(0.3), mpf(1.2), mpf(low), mpf(low + width)
        want = [float(mp.diff(value, row, tuple(int(i == j) for j in range(4)))) for i in range(4)]
    np.testing.assert_allclose([slopes[n] for n in ("mu", "sigma", "lower", "upper")], want, rtol=1e-9, atol=1e-13)


def test_a_jump_within_narrow_bounds():
    """A user's density of 1/4 below mu and 3/4 above: P = (mu - a) / 4 + 3 (b - mu) / 4, whose derivative in mu is -1/2."""
    steps = gs.register("""
        // steps: two levels
        // x: real    mu: real
        real steps_logpdf(real x, real mu) { return fabs(x - mu) > 1 ? -INFINITY : x < mu ? log(0.25) : log(0.75); }
        real steps_cdf(real x, real mu)
        {
            real z = fmin(fmax(x - mu, (real)-1), (real)1);
            return z < 0 ? 0.25 * (1 + z) : 0.25 + 0.75 * z;
        }""", replace=True)
    for w in (2.0**-8, 2.0**-16, 2.0**-30):
        value, slopes = Truncate(steps, 0.0, 1.0).loglik_and_grad([1 - w], 1.0, 1 - w, 1 + 4 * w)
        np.testing.assert_allclose(value, np.log(0.25) - np.log(3.25 * w), atol=1e-14 / w)
        np.testing.assert_allclose(slopes["mu"], 0.5 / (3.25 * w), rtol=1e-14 / w)


def test_few_whole_numbers_of_many():
    """[m - 1, m + 1] of a Poisson distribution of mean m = 10^12: nearly a third each."""
    truncated, m = Truncate(gs.poisson, 0, 1), 1e12
    np.testing.assert_allclose(truncated.logpmf([m - 1, m, m + 1], m, m - 1, m + 1), -np.log(3), rtol=1e-11)
    np.testing.assert_allclose(truncated.cdf([m - 1, m], m, m - 1, m + 1), [1 / 3, 2 / 3], rtol=1e-11)
    np.testing.assert_allclose(truncated.sf([m - 1, m], m, m - 1, m + 1), [2 / 3, 1 / 3], rtol=1e-11)


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


@THOROUGH
def test_truncation_to_nothing_is_nan(frechet):
    for density, parameters, lower, upper in (
        (gs.normal, (0.0, 1.0), 1.0, 1.0), (gs.normal, (0.0, 1.0), 2.0, 1.0), (gs.normal, (0.0, 1.0), np.nan, 1.0),
        (gs.exponential, (1.0,), -2.0, -1.0), (frechet, (2.0, 1.0), -2.0, 0.0), (gs.kumaraswamy, (2.0, 3.0), 1.0, 2.0),
        (gs.geometric, (0.5,), 3.0, 2.0), (gs.geometric, (0.5,), 1.5, 3.0), (gs.normal, (0.0, -1.0), 0.0, 1.0),
    ):  # fmt: skip
        truncated = Truncate(density, lower, upper)
        for x in (1.0, 4.0) if density.discrete else (0.25, 1.0):
            assert np.isnan(truncated.logpdf(x, *parameters)) and np.isnan(truncated.logcdf(x, *parameters))


@pytest.mark.parametrize("name", some(CONTINUOUS, 6))
@each_bounds
def test_censored(name, lower, upper, dtype):
    parameters, theirs = CONTINUOUS[name]
    x = np.r_[-1.0, 0.4, 0.5, np.linspace(0.6, 1.9, 20), 2.0, 2.1, 30].astype(dtype)
    a, b = (-inf if lower is None else lower), (inf if upper is None else upper)
    z = x.astype(float)
    want = np.select([z < a, z > b, z == a, z == b], [-inf, -inf, theirs.logcdf(z), theirs.logsf(z)], theirs.logpdf(z))
    assert_close(Censor(gs.densities[name], lower, upper).logpdf(x, *parameters), want, dtype)


@pytest.mark.parametrize("name", some(["geometric", "bernoulli"]))
@pytest.mark.parametrize("lower, upper", some([(1, None), (None, 4), (0, 1), (2, 5)], 2))
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


@pytest.mark.parametrize("name", some(PYMC, 8))
@pytest.mark.parametrize("lower, upper", [(1, None), (1, 4)])
def test_pymc_agrees(name, lower, upper):
    pm = pytest.importorskip("pymc")
    theirs, parameters = PYMC[name]
    discrete = gs.densities[name].discrete
    x = np.arange(0, 7) if discrete else np.r_[0.5, 1.0, np.linspace(1.1, 3.9, 12), 4.0, 4.5]
    bounds = {n: v if discrete else np.float64(v) for n, v in given(lower, upper).items()}
    for transform, wrap in ((Truncate, pm.Truncated), (Censor, pm.Censored)):
        want = pm.logp(wrap.dist(getattr(pm, theirs).dist(*float64(*parameters)), **bounds), x).eval(mode="FAST_COMPILE")
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
    expected = pm.logp(getattr(pm, theirs).dist(*float64(*parameters)), x).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(got, expected, rtol=1e-10)
    np.testing.assert_allclose(got, gs.densities[f"zero_inflated_{name}"].logpmf(x, *parameters), rtol=1e-13)


@THOROUGH
@pytest.mark.parametrize(
    "inner, bounds, parameters, theirs",
    [
        (gs.normal, {"lower": -1.0, "upper": 2.0}, (0.0, 1.0), stats.truncnorm(-1, 2)),
        (gs.exponential, {"upper": 1.5}, (2.0,), stats.truncexpon(3, scale=0.5)),
    ],
)
def test_quantiles_and_moments_between_bounds(inner, bounds, parameters, theirs):
    truncated, q = Truncate(inner, **bounds)(*parameters), np.r_[0, 1e-10, 0.1, 0.5, 0.9, 1]
    np.testing.assert_allclose(truncated.ppf(q), theirs.ppf(q), rtol=1e-9)
    np.testing.assert_allclose(truncated.cdf(truncated.ppf(q)), q, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([truncated.mean(), truncated.var()], theirs.stats(), rtol=1e-11)
    np.testing.assert_allclose(truncated.support(), theirs.support())


def test_moments_of_a_censored_density(rng):
    """They count what lies beyond the bounds."""
    censored = Censor(gs.normal, lower=0.0, upper=2.0)(0.5, 1.0)
    below, above, between = stats.norm.cdf(-0.5), stats.norm.sf(1.5), stats.truncnorm(-0.5, 1.5, loc=0.5)
    inside = 1 - below - above
    np.testing.assert_allclose(censored.mean(), 2 * above + inside * between.mean(), rtol=1e-12)
    entropy = inside * (between.entropy() - np.log(inside)) - below * np.log(below) - above * np.log(above)
    np.testing.assert_allclose(censored.entropy(), entropy, rtol=1e-8)  # of an integrand with jumps
    np.testing.assert_allclose(censored.ppf([0, 0.1, 0.5, 0.99, 1]), [0, 0, 0.5, 2, 2], atol=1e-15)
    assert censored.support() == (0, 2)


# (density, its parameters, x, the ends of its support)
ENDS = [
    ("exponential", (1.3,), 0.7, (0.0, inf)), ("kumaraswamy", (1.2, 2.2), 0.3, (0.0, 1.0)),
    ("pareto", (2.4, 1.2), 1.7, (1.2, inf)), ("normal", (0.3, 1.2), 0.7, (-inf, inf)),
    ("poisson", (4.5,), 3, (0, inf)), ("binomial", (7, 0.3), 3, (0, 7)),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters, x, ends", some(ENDS, 2))
def test_bounds_at_the_ends_of_the_support(name, parameters, x, ends):
    """They leave nothing out, whether at an end or beyond it: values and derivatives are those without bounds."""
    inner = gs.densities[name]
    outer = [end + side if abs(end) < inf else end for end, side in zip(ends, (-1, 1), strict=True)]
    free = [n for n, v in zip(inner.parameters, parameters, strict=True) if n not in ("n", "m")]
    want, slopes = inner.loglik_and_grad([x], *parameters, wrt=free)
    for transform in (Truncate, Censor):
        bounded = transform(inner, lower=0, upper=1)
        for lower, upper in (ends, outer):
            got, found = bounded.loglik_and_grad([x], *parameters, lower, upper, wrt=free)
            np.testing.assert_allclose(got, want, rtol=1e-14)
            np.testing.assert_allclose([found[n] for n in free], [slopes[n] for n in free], rtol=1e-13)
    half = Truncate(inner, lower=0, upper=1)
    for bounds in ((ends[0], x), (x, ends[1])):
        value, slope = half.loglik_and_grad([x], *parameters, *bounds, wrt=free)
        inside = inner.logcdf(x, *parameters) if bounds[1] == x else inner.logsf(x - inner.discrete, *parameters)
        np.testing.assert_allclose(value, want - inside, rtol=1e-12)
        for n in free:
            i, h = inner.parameters.index(n), 1e-5
            moved = [[p + d * h * (i == j) for j, p in enumerate(parameters)] for d in (1, -1)]
            up, down = (float(half.logpdf(x, *p, *bounds)) for p in moved)
            np.testing.assert_allclose(slope[n], (up - down) / (2 * h), rtol=1e-6)


def test_bounds_where_draws_may_be_the_end_itself():
    """A bound belongs to the interval."""
    bills = gs.transforms.Hurdle(gs.gamma)(0.6, 2.0, 1.5)
    truncated, x = Truncate(gs.transforms.Hurdle(gs.gamma), lower=0.0, upper=2.0), np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(truncated.logpdf(x, 0.6, 2.0, 1.5), bills.logpdf(x) - bills.logcdf(2.0), rtol=1e-14)
    assert Censor(gs.transforms.Hurdle(gs.gamma), upper=0.0).logpdf(0.0, 0.6, 2.0, 1.5) == 0


@THOROUGH
def test_infinite_bounds_of_counts():
    """Beside finite ones, in one array."""
    upper, x = np.array([inf, 4, inf]), np.array([2, 4, 9])
    want = np.where(np.isinf(upper), stats.poisson.logpmf(x, 4.5), stats.poisson.logsf(3, 4.5))
    np.testing.assert_allclose(Censor(gs.poisson, upper=upper).logpmf(x, 4.5), want, rtol=1e-13)
    want = stats.poisson.logpmf(x, 4.5) - np.where(np.isinf(upper), 0, stats.poisson.logcdf(4, 4.5))
    np.testing.assert_allclose(Truncate(gs.poisson, upper=upper).logpmf(x, 4.5), want, rtol=1e-13)
    draws = Truncate(gs.poisson, lower=2, upper=inf).rvs(4.5, size=1000, rng=1)
    assert draws.min() == 2 and abs(draws.mean() - stats.poisson(4.5).expect(lb=2, conditional=True)) < 0.3


def test_no_draws_from_an_empty_interval():
    calls = [
        lambda: Truncate(gs.exponential, upper=1.0).rvs(1.0, -1.0, size=3), lambda: Truncate(gs.geometric, upper=0).rvs(0.3),
        lambda: Truncate(gs.normal, lower=3.0, upper=2.0).rvs(0.0, 1.0, size=3), lambda: gs.uniform.rvs(1.0, 0.0),
        lambda: gs.discrete_uniform.rvs(5, 1, size=2), lambda: gs.truncated_normal.rvs(0.0, 1.0, 10.0, 5.0),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="which do not go together"):
            call()
    with pytest.raises(ValueError, match="lower=0.0, upper=-1.0, which"):
        gs.uniform.rvs(0.0, [[1.0], [-1.0]], size=(4, 2, 3))
