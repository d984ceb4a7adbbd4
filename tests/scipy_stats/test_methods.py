"""What all of SciPy's names share: arguments, shapes, types, errors, draws, freezing, fits."""

import pickle

import numpy as np
import pytest
from scipy import optimize, stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats import scipy_stats as st
from gpustats.runtime import arrays
from gpustats.scipy_stats.reparametrised import names

X = np.array([0.3, 1.1, 2.0, 4.5])


def test_every_name_is_of_a_density():
    assert [name for name, line in names().items() if line.density not in gs.densities] == []


def test_the_module():
    assert {"norm", "gamma", "poisson", "multivariate_normal"} <= set(dir(st)) & set(st.__all__)
    assert st.gamma is st.gamma and repr(st.gamma) == "<gpustats.scipy_stats.gamma(a, loc, scale)>"
    with pytest.raises(AttributeError, match="has no attribute 'gama'"):
        st.gama  # noqa: B018


def test_settings_that_would_be_ignored_are_refused():
    with pytest.raises(AttributeError, match="levy_stable.parameterization cannot be set: it is S1; gs.stable has S0"):
        st.levy_stable.parameterization = "S0"


@pytest.mark.parametrize(("args", "kwds"), [
    ((2.0,), {}), ((2.0, -1.0), {}), ((2.0, -1.0, 3.0), {}), ((), dict(a=2.0)), ((2.0,), dict(scale=3.0)),
    ((), dict(loc=-1.0, a=2.0, scale=3.0)),
])  # fmt: skip
def test_arguments(args, kwds):
    np.testing.assert_allclose(st.gamma.logpdf(X, *args, **kwds), stats.gamma.logpdf(X, *args, **kwds), rtol=1e-13)
    np.testing.assert_allclose(st.gamma.var(*args, **kwds), stats.gamma.var(*args, **kwds), rtol=1e-13)
    np.testing.assert_allclose(st.gamma(*args, **kwds).cdf(X), stats.gamma.cdf(X, *args, **kwds), rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: st.gamma.pdf(X), TypeError, "gamma needs a"),
        (lambda: st.gamma.pdf(X, 1, 2, 3, 4), TypeError, "takes a, loc, scale: 3 arguments, not 4"),
        (lambda: st.gamma.pdf(X, 1, b=2), TypeError, "takes a, loc, scale, and no b"),
        (lambda: st.gamma.pdf(X, 1, a=2), TypeError, "a is given twice"),
        (lambda: st.gamma(), TypeError, "gamma needs a"),
        (lambda: st.poisson.pmf(X, 1, 0, 1), TypeError, "takes mu, loc: 2 arguments, not 3"),
        (lambda: st.norm.pdf(X, [1.0, 2.0]), ValueError, "shapes do not broadcast"),
        (lambda: st.norm.pmf, AttributeError, "pmf"),
        (lambda: st.poisson.pdf, AttributeError, "pdf"),
        (lambda: st.norm().pmf, AttributeError, "'Frozen' object has no attribute 'pmf'"),
        (lambda: st.norm.rvs(0.0, -1.0), ValueError, "scale must be positive"),
        (lambda: st.gamma.rvs(-1.0, size=3), ValueError, "a must be positive"),
        (lambda: st.norm.rvs(np.zeros(2), 1.0, 3), ValueError, "size"),
        (lambda: st.norm.rvs(0, 1, 3, size=3), TypeError, "size is given twice"),
        (lambda: st.norm.moment(1.5), ValueError, "order must be a whole number"),
        (lambda: st.norm.moment(-1), ValueError, "must not be negative"),
        (lambda: st.norm.interval(1.5), ValueError, "confidence must be"),
        (lambda: st.norm.fit([1.0, np.nan]), ValueError, "not finite"),
        (lambda: st.norm.fit(X, floc=0, fscale=1), ValueError, "nothing to fit"),
        (lambda: st.gamma.fit(X, f0=1, fa=1), ValueError, "f0 and fa are the same parameter, a"),
        (lambda: st.gamma.fit(X, 1, 2), TypeError, "starts of its shapes by position"),
        (lambda: st.gamma.fit(X, fb=1), TypeError, "no argument fb"),
        (lambda: st.gamma.fit(X, method="LS"), ValueError, "'MLE' or 'MM'"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_shapes_and_types():
    """Broadcast as in NumPy; numbers in, numbers out; float64 whatever comes from the host."""
    loc, scale = np.array([0.0, 1.0, 2.0]), np.array([[1.0], [2.0]])
    table = st.norm.logpdf(X[:, None, None], loc, scale)
    assert table.shape == (4, 2, 3)
    np.testing.assert_allclose(table, stats.norm.logpdf(X[:, None, None], loc, scale), rtol=1e-13)
    assert isinstance(st.norm.pdf(0.5), np.float64) and isinstance(st.gamma.mean(2), np.float64)
    assert st.norm.pdf([]).shape == (0,) and st.norm.pdf([[0]]).shape == (1, 1)
    for given in (X.astype(np.float32), [1, 2], np.float32(0.5)):
        got = st.norm.logpdf(given, np.float32(0.1))
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, stats.norm.logpdf(np.float64(given), float(np.float32(0.1))), rtol=1e-13)
    np.testing.assert_array_equal(st.norm.logpdf(np.array([X, X])[:, ::2]), np.array([st.norm.logpdf(X)[::2]] * 2))


def test_device_arrays():
    for dtype in (np.float64, np.float32):
        got = st.weibull_min.cdf(gs.to_device(X.astype(dtype)), 1.5, 0.25, 2.0)
        assert arrays.is_device_array(got) and got.dtype == dtype
        want = stats.weibull_min.cdf(X, 1.5, 0.25, 2.0)
        np.testing.assert_allclose(got.get(), want, rtol=1e-5 if dtype == np.float32 else 1e-13)


def test_a_large_location_costs_no_digits():
    """x - loc is exact; so is the tail of what is left."""
    x = 1e9 + np.array([0.5, 3.0])
    np.testing.assert_allclose(st.gamma.logcdf(x, 2.5, 1e9, 2.0), st.gamma.logcdf([0.5, 3.0], 2.5, scale=2.0), rtol=1e-14)
    np.testing.assert_allclose(st.uniform.cdf(x, 1e9, 4.0), [0.125, 0.75], rtol=1e-15)


@THOROUGH
def test_invalid_parameters_and_nan():
    a = np.array([2.0, 0.0, -1.0, np.nan])
    for method in ("pdf", "logpdf", "cdf", "sf", "logsf"):
        for x in (1.0, -1.0, np.nan, -np.inf):
            np.testing.assert_allclose(getattr(st.gamma, method)(x, a), getattr(stats.gamma, method)(x, a), rtol=1e-13)
    for number in ("mean", "var", "std", "median", "entropy"):
        got, want = (getattr(module.gamma, number)(a, scale=2) for module in (st, stats))
        np.testing.assert_allclose(got, want, rtol=1e-13)
    assert np.isnan(st.norm.cdf(0.0, scale=[0.0, -1.0, np.nan])).all()
    np.testing.assert_array_equal(st.norm.ppf([-0.1, 0, 1, 1.1]), stats.norm.ppf([-0.1, 0, 1, 1.1]))
    np.testing.assert_array_equal(st.gamma.support(a), stats.gamma.support(a))
    assert st.kappa4.cdf(st.kappa4.support(0.1, 0.0)[0], 0.1, 0.0) == 0  # though the distribution function is a root there


@pytest.mark.parametrize(
    ("name", "shapes"), some([("gamma", (2.5,)), ("weibull_max", (1.7,)), ("levy_l", ()), ("poisson", (3.2,))], 4)
)
def test_numbers(name, shapes):
    ours, theirs = getattr(st, name)(*shapes, loc=-2), getattr(stats, name)(*shapes, loc=-2)
    finite = name != "levy_l"
    for moments in ("mv", "m", "sk", "vm", "mvsk") * finite:
        np.testing.assert_allclose(ours.stats(moments), theirs.stats(moments), rtol=1e-10)
    for order in (1, 2, 5) * finite:
        np.testing.assert_allclose(ours.moment(order), theirs.moment(order), rtol=1e-9)
    np.testing.assert_allclose(ours.interval(0.9), theirs.interval(0.9), rtol=1e-12)
    np.testing.assert_allclose([ours.median(), ours.entropy()], [theirs.median(), theirs.entropy()], rtol=1e-10)
    np.testing.assert_allclose(ours.isf([0.1, 0.9]), theirs.isf([0.1, 0.9]), rtol=1e-12)
    assert (ours.a, ours.b) == (theirs.a, theirs.b) and ours.support() == theirs.support()


@THOROUGH
def test_numbers_of_heavy_tails():
    np.testing.assert_array_equal(st.rel_breitwigner.stats(2.0, moments="s"), stats.rel_breitwigner.stats(2.0, moments="s"))
    k = np.arange(1, 10**6)
    for name, shapes in {"zipf": (6.6,), "nbinom": (0.5, 1e-3), "yulesimon": (3.0,)}.items():  # sums of very many numbers
        log_p = getattr(stats, name).logpmf(k - (name == "nbinom"), *shapes)
        want = -np.sum(np.exp(log_p) * log_p)
        assert getattr(st, name)(*shapes, loc=2).entropy() == pytest.approx(want, rel=1e-10), name
    assert st.zipf(3.0).entropy() == pytest.approx(gs.zipf.entropy(3.0), rel=1e-14)
    assert st.zipf.moment(3, 3.5) == np.inf


def test_ties_of_quantiles():
    """P(X <= 24) is 1/2 but for rounding."""
    n = np.arange(1, 100, 2)
    np.testing.assert_array_equal(st.binom.ppf(0.5, n, 0.5), (n - 1) // 2)
    np.testing.assert_array_equal(st.binom.isf(0.5, n, 0.5), (n - 1) // 2)


@THOROUGH
def test_expect():
    for name, given in {"gamma": dict(args=(2.5,), loc=1, scale=2), "poisson": dict(args=(3.2,), loc=1)}.items():
        ours, theirs = getattr(st, name), getattr(stats, name)
        for more in ({}, dict(lb=2, ub=5), dict(lb=2, conditional=True), dict(ub=5, conditional=True)):
            for function in (None, np.sqrt):
                got, want = ours.expect(function, **given, **more), theirs.expect(function, **given, **more)
                assert isinstance(got, float) and got == pytest.approx(want, rel=1e-7)
    p = [0.1, 0.5, 0.3]
    assert st.poisson_binom.expect(np.sqrt, (p,), 1) == pytest.approx(stats.poisson_binom.expect(np.sqrt, (p,), 1), rel=1e-12)
    assert st.norm(1, 2).expect(lambda x: x**2, lb=0) == pytest.approx(stats.norm(1, 2).expect(lambda x: x**2, lb=0), rel=1e-9)


def test_discrete_locations():
    """Any number is a location of a discrete distribution, as SciPy has it."""
    ours, theirs, loc = st.binom(5, 0.3, loc=[0.5, 1, -2.25]), stats.binom(5, 0.3, loc=[0.5, 1, -2.25]), 0.5
    k = np.array([-0.25, 0.5, 0.75, 1, 2.5, 3])[:, None]
    for method in ("pmf", "logpmf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(ours, method)(k), getattr(theirs, method)(k), rtol=1e-12, atol=1e-14)
    got, want = ([d.mean(), d.var(), d.moment(3), d.ppf(0.9), d.isf(0.9), *d.support()] for d in (ours, theirs))
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert set(st.binom.rvs(5, 0.3, loc, 20, random_state=1) - loc) <= set(range(6))
    values = np.array([1.5, 2.5, 3.5])  # those from 1 to 4
    want = np.average(values**2, weights=stats.binom.pmf(values, 5, 0.3, loc))
    assert st.binom.expect(np.square, (5, 0.3), loc, lb=1, ub=4, conditional=True) == pytest.approx(want, rel=1e-12)
    want = np.average([1, 4], weights=stats.binom.pmf([1, 2], 5, 0.3))
    assert st.binom.expect(np.square, (5, 0.3), lb=0.5, ub=2.5, conditional=True) == pytest.approx(want, rel=1e-12)


def test_draws():
    """Shapes and repetition as SciPy's; the numbers are others."""
    draws = st.norm(loc=1, scale=2).rvs(10, random_state=3)
    np.testing.assert_array_equal(draws, st.norm.rvs(1, 2, 10, random_state=3))
    np.testing.assert_array_equal(draws, st.norm.rvs(1, 2, size=10, random_state=np.random.RandomState(3)))
    np.random.seed(3)  # noqa: NPY002
    np.testing.assert_array_equal(draws, st.norm.rvs(1, 2, 10))
    assert not np.array_equal(draws, st.norm.rvs(1, 2, 10))
    assert st.norm.rvs().shape == () and st.norm.rvs(size=1).shape == (1,) and st.norm.rvs(size=(2, 0)).shape == (2, 0)
    assert st.norm.rvs(np.zeros((2, 1)), np.ones(3)).shape == (2, 3)
    assert isinstance(st.poisson.rvs(3.0), int) and isinstance(st.poisson(3.0).rvs(), int)
    assert st.poisson.rvs(3.0, 2, 5).dtype == np.int64 and st.poisson.rvs(3.0, loc=2, size=50).min() >= 2
    np.testing.assert_array_equal(st.norm.rvs([1.0, 2.0], 0.0), [1.0, 2.0])
    generator = np.random.default_rng(1)
    assert st.norm.rvs(random_state=generator) != st.norm.rvs(random_state=generator)


def test_random_states_stay_where_they_are_set():
    frozen, other = st.gamma(2.0), st.gamma(2.0)
    frozen.random_state = 5
    first = frozen.rvs(3)
    assert other.random_state is None and st.gamma.random_state is None
    np.testing.assert_array_equal(first, st.gamma.rvs(2.0, size=3, random_state=5))
    assert not np.array_equal(first, frozen.rvs(3))
    try:
        st.gamma.random_state = 5
        np.testing.assert_array_equal(first, st.gamma.rvs(2.0, size=3))
        made = pickle.loads(pickle.dumps(st.gamma))
        np.testing.assert_array_equal(made.rvs(2.0, size=3), st.gamma.rvs(2.0, size=3))
    finally:
        st.gamma.random_state = None


def test_pickles():
    assert pickle.loads(pickle.dumps(st.gamma)) is st.gamma
    frozen = pickle.loads(pickle.dumps(st.gamma(2.0, scale=3.0)))
    assert frozen.dist is st.gamma and frozen.mean() == 6.0 and frozen.args == (2.0,) and frozen.kwds == {"scale": 3.0}
    assert repr(frozen) == "<gpustats.scipy_stats.gamma(2.0, scale=3.0)>"
    assert "logpdf" in dir(frozen) and "pmf" not in dir(frozen)


# ---- what SciPy does not have


def test_densities_of_scipys_parameters():
    """They are as good as any: likelihoods with derivatives, transforms, fits of many data sets."""
    density = st.invgauss.density
    value, gradient = density.loglik_and_grad(X, mu=0.8, loc=0.1, scale=2.0)
    assert value == pytest.approx(stats.invgauss.logpdf(X, 0.8, 0.1, 2.0).sum(), rel=1e-13)
    step = 1e-6
    for name in ("mu", "loc", "scale"):
        at = [dict(mu=0.8, loc=0.1, scale=2.0) for _ in range(2)]
        at[0][name] -= step
        at[1][name] += step
        slope = np.diff([stats.invgauss.logpdf(X, **values).sum() for values in at])[0] / (2 * step)
        assert gradient[name] == pytest.approx(slope, rel=1e-6)
    truncated = gs.transforms.Truncate(st.norm.density, lower=0.0)
    assert truncated.logpdf(1.0, 0.0, 1.0) == pytest.approx(stats.truncnorm.logpdf(1.0, 0, np.inf), rel=1e-13)
    assert "norm" in density.source or "wald" in density.source


# ---- fits


@pytest.mark.parametrize(("name", "shapes", "fixed"), some([
    ("norm", (), {}), ("gamma", (2.5,), dict(floc=0)), ("weibull_min", (1.8,), dict(floc=0)), ("t", (6.0,), {}),
    ("beta", (2.0, 3.0), dict(floc=0, fscale=1)), ("lognorm", (0.7,), dict(floc=0)), ("gamma", (2.5,), dict(fa=2.5)),
    ("expon", (), {}), ("pareto", (3.0,), dict(floc=0)), ("uniform", (), {}), ("uniform", (), dict(floc=-0.5)),
]))  # fmt: skip
def test_fits(name, shapes, fixed):
    """At least as likely as what SciPy finds."""
    ours, theirs = getattr(st, name), getattr(stats, name)
    x = theirs.rvs(*shapes, size=300, random_state=7)
    got, want = ours.fit(x, **fixed), theirs.fit(x, **fixed)
    assert isinstance(got, tuple) and len(got) == len(want)
    assert theirs.nnlf(got, x) <= theirs.nnlf(want, x) + 1e-6 * len(x)
    for key, place in dict(floc=-2, fscale=-1, fa=0).items():
        if key in fixed:
            assert got[place] == fixed[key]


@THOROUGH
def test_fits_by_other_means():
    x = stats.gamma.rvs(2.5, size=200, random_state=7)
    best = st.gamma.fit(x, floc=0)
    np.testing.assert_allclose(st.gamma.fit(x, 1.0, floc=0, scale=2.0, optimizer="powell"), best, rtol=1e-3)
    shape, loc, scale = st.gamma.fit(x, floc=0, method="MM")
    np.testing.assert_allclose(st.gamma.stats(shape, loc, scale), (x.mean(), x.var()), rtol=1e-3)
    np.testing.assert_allclose(st.gamma.fit_loc_scale(x, 2.0), stats.gamma.fit_loc_scale(x, 2.0), rtol=1e-12)
    np.testing.assert_allclose(st.gamma.fit(gs.to_device(x), floc=0), best, rtol=1e-12)
    assert st.norm.nnlf((0.5, 2.0), x) == pytest.approx(stats.norm.nnlf((0.5, 2.0), x), rel=1e-12)
    assert st.gamma.nnlf((2.0, 1e3, 1.0), x) == np.inf and st.gamma.nnlf((-2.0, 0.0, 1.0), x) == np.inf


def test_fits_by_moments():
    x = stats.gamma.rvs(2.5, scale=2, size=200, random_state=np.random.default_rng(3))
    shape, _, scale = st.gamma.fit(x, floc=0, method="MM")
    np.testing.assert_allclose([shape, scale], [x.mean() ** 2 / x.var(), x.var() / x.mean()], rtol=1e-9)
    x = stats.genextreme.rvs(-0.2, loc=2, scale=3, size=200, random_state=1)  # where the search begins, moments must exist
    found = st.genextreme.fit(x, method="mm")
    np.testing.assert_allclose([st.genextreme.moment(k, *found) for k in (1, 2, 3)], [np.mean(x**k) for k in (1, 2, 3)])


def test_fits_where_the_support_ends_at_observations():
    x = stats.pareto.rvs(3, loc=2, scale=1.5, size=100, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(st.pareto.fit(x, floc=2), stats.pareto.fit(x, floc=2), rtol=1e-9)
    np.testing.assert_allclose(st.loguniform.fit(x, floc=0), [x.min(), x.max(), 0, 1], rtol=1e-12)
    y = stats.truncexpon.rvs(3, size=100, random_state=np.random.default_rng(1))
    assert stats.truncexpon.nnlf(st.truncexpon.fit(y, floc=0), y) < stats.truncexpon.nnlf(stats.truncexpon.fit(y, floc=0), y)


def test_a_fit_of_laplace_is_the_median():
    """Any number between the two in the middle is as likely."""
    for known in ({}, dict(floc=1), dict(fscale=2)):
        np.testing.assert_allclose(st.laplace.fit([1, 2, 5, 9], **known), stats.laplace.fit([1, 2, 5, 9], **known), rtol=1e-15)


def test_a_fit_of_angles_has_no_scale():
    x = stats.vonmises.rvs(10, loc=np.pi / 2, size=200, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(st.vonmises.fit(x), stats.vonmises.fit(x), rtol=1e-7)


def test_a_fit_of_censored_data():
    x = stats.weibull_min.rvs(1.8, size=200, random_state=7)
    data = stats.CensoredData.right_censored(np.minimum(x, 1.2), x > 1.2)
    np.testing.assert_allclose(st.weibull_min.fit(data, floc=0), stats.weibull_min.fit(data, floc=0), rtol=1e-3)
    found = st.weibull_min.fit(data, floc=0, optimizer="powell")
    np.testing.assert_allclose(found, stats.weibull_min.fit(data, floc=0), rtol=1e-3)


def test_fits_beside_the_end_of_a_support():
    """Their likelihood grows up to where the smallest observation leaves the support."""
    x = stats.pareto.rvs(2.6, size=200, random_state=np.random.default_rng(1234))
    assert stats.pareto.nnlf(st.pareto.fit(x), x) < stats.pareto.nnlf(stats.pareto.fit(x), x) + 1e-6
    y = np.array([0.02, 0.31, 0.55, 0.9, 1.3, 2.1])
    np.testing.assert_allclose(st.halfnorm.fit(stats.CensoredData(y)), st.halfnorm.fit(y), rtol=1e-14)
    loc, scale = st.halfnorm.fit(stats.CensoredData(y, right=[1.5]))  # the first is at the end
    assert loc == pytest.approx(0.02, rel=1e-7)
    best = optimize.minimize_scalar(
        lambda s: -stats.halfnorm.logpdf(y, 0.02, s).sum() - stats.halfnorm.logsf(1.5, 0.02, s), (0.5, 1, 2), tol=1e-10
    )
    assert scale == pytest.approx(best.x, rel=1e-4)


def test_moments_of_a_fit_are_sought_from_several_shapes():
    x = stats.trapezoid.rvs(0.2, 0.8, size=1000, random_state=np.random.default_rng(1234))
    found = stats.trapezoid(*st.trapezoid.fit(x, method="MM"))
    np.testing.assert_allclose([found.moment(n) for n in range(1, 5)], [np.mean(x**n) for n in range(1, 5)], rtol=1e-8)


def test_a_fit_of_angles_is_an_angle():
    x = stats.vonmises.rvs(10, loc=1, size=100, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(st.vonmises.fit(x + 4 * np.pi), st.vonmises.fit(x), rtol=1e-9)


def test_the_likelihood_of_counts():
    k = np.array([1, 3, 2])
    assert st.binom.nnlf((5, 0.3, 0), k) == pytest.approx(-stats.binom.logpmf(k, 5, 0.3).sum(), rel=1e-12)


def test_fits_of_close_data():
    """The scale at which the derivative of the profile likelihood is 0, by mpmath."""
    loc, scale = st.gumbel_r.fit(np.array([3, 3, 3, 3, 3, 3, 3, 3.00000001]))
    assert scale == pytest.approx(1.2495222465145514e-09, rel=1e-6) and loc == pytest.approx(3, abs=1e-8)


def test_fits_with_a_known_scale_find_loc():
    """The likelihood has another maximum, with loc just below the data."""
    x = stats.lognorm.rvs(0.1, loc=-2, scale=0.2, size=100, random_state=np.random.default_rng(1))
    s, loc, scale = st.lognorm.fit(x, fscale=0.2)
    assert scale == 0.2 and stats.lognorm.nnlf((s, loc, scale), x) < stats.lognorm.nnlf((0.1, -2, 0.2), x)
