"""Densities that are moved, weighted and composed, and the derivatives of all transforms."""

import mpmath as mp
import numpy as np
import pytest
from references import derivative
from scipy import stats
from thorough import THOROUGH, double_first, some
from transformed import FRECHET, assert_close

import gpustats as gs
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.transforms import Censor, Exp, Grad, Hurdle, LocScale, Power, Truncate, Weighted, ZeroInflate

N = 50
inf = np.inf
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


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


@THOROUGH
def test_further_zeros():
    for density, parameters in ((gs.geometric, (0.3,)), (gs.discrete_uniform, (-2, 7)), (gs.discrete_uniform, (1, 7))):
        x = np.arange(-3.0, 200)
        inflated = ZeroInflate(density)
        pmf = inflated.pmf(x, 0.6, *parameters)
        np.testing.assert_allclose(pmf, 0.6 * density.pmf(x, *parameters) + 0.4 * (x == 0), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(inflated.cdf(x, 0.6, *parameters), np.cumsum(pmf), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(np.exp(inflated.logsf(x, 0.6, *parameters)), 1 - np.cumsum(pmf), rtol=1e-12, atol=1e-14)
        assert np.isnan(inflated.logpmf(x, 1.1, *parameters)).all()


def test_zeros_of_their_own():
    """A proportion psi of draws that are not zero: of a discrete density, and of continuous ones."""
    x = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])
    counts, times = Hurdle(gs.bernoulli), Hurdle(gs.exponential)
    np.testing.assert_allclose(counts.pmf(x, 0.3, 0.2), [0, 0.7, 0, 0.3, 0], rtol=1e-14)
    np.testing.assert_allclose(counts.cdf(x, 0.3, 0.2), [0, 0.7, 0.7, 1, 1], rtol=1e-14)
    np.testing.assert_allclose(counts.sf(x, 0.3, 0.2), [1, 0.3, 0.3, 0, 0], rtol=1e-14)
    assert abs(counts.rvs(0.3, 0.2, size=10_000, rng=1).mean() - 0.3) < 0.02
    theirs = stats.expon(scale=0.5)
    np.testing.assert_allclose(times.pdf(x, 0.3, 2.0), np.where(x == 0, 0.7, 0.3 * theirs.pdf(x)), rtol=1e-14)
    np.testing.assert_allclose(times.cdf(x, 0.3, 2.0), np.where(x < 0, 0, 0.7 + 0.3 * theirs.cdf(x)), rtol=1e-14)
    np.testing.assert_allclose(times.sf(x, 0.3, 2.0), np.where(x < 0, 1, 0.3 * theirs.sf(x)), rtol=1e-14)
    np.testing.assert_allclose(times(0.3, 2.0).stats(), [0.15, 0.3 * 0.5 - 0.15**2], rtol=1e-14)
    assert times(0.3, 2.0).support() == (0, np.inf) and np.isnan(times.logpdf(x, 1.3, 2.0)).all()


def test_further_zeros_of_a_vectors_density(rng):
    p = rng.dirichlet(np.ones(4), 3)
    x = np.arange(6)
    got = ZeroInflate(gs.categorical).pmf(x[:, None], 0.8, p)
    want = 0.8 * np.vstack([p.T, np.zeros((2, 3))]) + 0.2 * (x == 0)[:, None]
    np.testing.assert_allclose(got, want, rtol=1e-13)


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
@double_first
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


@THOROUGH
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
    assert Truncate(gs.densities["fisher_tippett"], lower=0.5).logpdf(1.0, 2.5, 1.5) != truncated.logpdf(1.0, 2.5, 1.5)
    own = set(gs.densities) - library.built_in(DENSITY)
    assert not any("truncated" in name or "censored" in name for name in own)


SLOPE = "real slope_logpdf(real x, real a) { return -a * x; }"


@pytest.mark.parametrize("make, error, words", [
    (lambda: Truncate(gs.register(SLOPE), lower=1), NotImplementedError, "slope has no slope_logcdf"),
    (lambda: Censor(gs.register(SLOPE), upper=1.0), NotImplementedError, "slope has no slope_logcdf and no slope_logsf"),
    (lambda: Truncate(gs.normal), ValueError, "Truncate needs lower, or upper"),
    (lambda: Truncate(gs.uniform, lower=1.0), ValueError, "adds a parameter lower, but uniform has one"),
    (lambda: Weighted(Weighted(gs.normal)), ValueError, "adds a parameter weight, but normal_weighted"),
    (lambda: Censor(gs.mvnormal, lower=1.0), ValueError, "single number, which mvnormal is not"),
    (lambda: LocScale(gs.dirichlet), ValueError, "single number, which dirichlet is not"),
    (lambda: LocScale(gs.poisson), ValueError, "a continuous density, which poisson is not"),
    (lambda: Hurdle(gs.normal), ValueError, "a density of nonnegative numbers, which normal is not"),
    (lambda: ZeroInflate(gs.normal), ValueError, "a discrete density, which normal is not"),
    (lambda: Power(Exp(gs.normal)), TypeError, "Power takes a density, not Pointwise"),
])  # fmt: skip
def test_what_cannot_be_transformed(make, error, words):
    with pytest.raises(error, match=words):
        make()


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


def hurdle_poisson(x, psi, mu):
    return mp.log(1 - psi) if x == 0 else mp.log(psi) + x * mp.log(mu) - mu - mp.log(mp.factorial(x)) - mp.log(1 - mp.exp(-mu))


def powered_gumbel(x, mu, beta, power):
    z = (x - mu) / beta
    return power * (-z - mp.exp(-z) - mp.log(beta))


GRADIENTS = [
    (lambda: Truncate(gs.weibull, 0.5, 3.0), truncated_weibull, (0.5, 1.0, 3.0), (1.7, 2.5, 0.5, 3.0)),
    (lambda: Censor(gs.normal, -1.0, 2.0), censored_normal, (-1.0, 0.5, 2.0), (0.3, 1.2, -1.0, 2.0)),
    (lambda: Censor(gs.normal, -30.0, 40.0), censored_normal, (-30.0, 0.5, 40.0), (0.3, 1.2, -30.0, 40.0)),
    (lambda: LocScale(gs.logistic), stretched_logistic, (-40.0, 0.5, 3.0), (0.3, 1.2, 0.7, 2.0)),
    (lambda: ZeroInflate(gs.geometric), inflated_geometric, (0.0, 1.0, 5.0), (0.6, 0.3)),
    (lambda: Hurdle(gs.poisson), hurdle_poisson, (0.0, 1.0, 5.0), (0.6, 1.3)),
    (lambda: Power(gs.gumbel), powered_gumbel, (-1.0, 0.5, 7.0), (0.3, 1.2, 0.0)),
    (lambda: Weighted(Truncate(gs.weibull, 0.5, 3.0)),
     lambda x, alpha, beta, weight, *bounds: weight * truncated_weibull(x, alpha, beta, *bounds),
     (0.5, 1.0, 3.0), (1.7, 2.5, 0.7, 0.5, 3.0)),
]  # fmt: skip


@pytest.mark.parametrize("make, exact, x, parameters", some(GRADIENTS, 2))
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


@THOROUGH
def test_what_transforms_carry():
    """Quantiles, moments and ends of the support, where the inner density has them."""
    moved, theirs = LocScale(gs.exponential)(2.0, loc=1.0, scale=3.0), stats.expon(1, 1.5)
    q = np.array([0, 1e-10, 0.3, 0.9, 1])
    np.testing.assert_allclose(moved.ppf(q), theirs.ppf(q), rtol=1e-14)
    np.testing.assert_allclose(moved.isf(q), theirs.isf(q), rtol=1e-14)
    np.testing.assert_allclose(moved.stats(moments="mvsk"), theirs.stats("mvsk"), rtol=1e-14)
    assert moved.entropy() == pytest.approx(theirs.entropy(), rel=1e-14) and moved.support() == (1, np.inf)
    inflated = ZeroInflate(gs.geometric)(0.3, 0.2)
    np.testing.assert_allclose(inflated.stats(), [1.5, 0.3 * (20 + 0.7 * 25)], rtol=1e-12)
    np.testing.assert_array_equal(inflated.ppf([0, 0.7, 0.71, 0.76, 0.77]), [-1, 0, 1, 1, 2])
    power = gs.transforms.Power(gs.exponential)
    assert not hasattr(power, "cdf") and power.support(1.0, 2.0) == (0, np.inf)
