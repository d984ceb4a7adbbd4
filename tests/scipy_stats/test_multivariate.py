"""SciPy's distributions of vectors, against scipy.stats: shapes, values, moments, errors."""

import pickle

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH

import gpustats as gs
from gpustats import scipy_stats as st

COV = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
MEAN, ALPHA, P = np.array([0.5, -1.0, 2.0]), np.array([0.7, 2.0, 4.5]), np.array([0.2, 0.5, 0.3])
COUNTS = np.array([[1, 4, 2], [0, 7, 0], [3, 3, 1], [3, 3, 3]])
X = np.random.default_rng(1).normal(size=(5, 3))


def compare(got, want, rtol=1e-11):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-13)
    assert np.shape(got) == np.shape(want)


@pytest.mark.parametrize("x", [X, X[0], X[:, None], np.zeros((0, 3))], ids=["rows", "one", "more axes", "none"])
@pytest.mark.parametrize(("name", "parameters"), [
    ("multivariate_normal", (MEAN, COV)), ("multivariate_normal", (None, COV)), ("multivariate_normal", (MEAN, 2.0)),
    ("multivariate_normal", (MEAN, [1.0, 2.0, 3.0])), ("multivariate_t", (MEAN, COV, 4.0)),
    ("multivariate_t", (MEAN, COV, np.inf)),
])  # fmt: skip
def test_elliptical(name, parameters, x):
    ours, theirs = getattr(st, name)(*parameters), getattr(stats, name)(*parameters)
    if x.size or name == "multivariate_normal":
        compare(np.atleast_1d(ours.logpdf(x)).ravel(), np.atleast_1d(theirs.logpdf(x)).ravel())
        compare(np.atleast_1d(ours.pdf(x)).ravel(), np.atleast_1d(theirs.pdf(x)).ravel())
    assert np.shape(ours.logpdf(x)) == x.shape[:-1]
    compare(ours.entropy(), theirs.entropy())


@pytest.mark.parametrize("df", [0.3, 5.0, 1e3, 1e6])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_entropy_of_t(df, d):
    compare(st.multivariate_t.entropy(None, np.eye(d), df), stats.multivariate_t.entropy(None, np.eye(d), df), 1e-9)
    compare(st.multivariate_t.entropy(None, np.eye(d), 1e100), st.multivariate_normal.entropy(None, np.eye(d)), 1e-14)


@THOROUGH
def test_matrices_that_may_be_singular():
    for name, more in {"multivariate_normal": (), "multivariate_t": (5.0,)}.items():
        ours, theirs = getattr(st, name), getattr(stats, name)
        compare(ours(MEAN, COV, *more, allow_singular=True).logpdf(X), theirs(MEAN, COV, *more).logpdf(X))
        loadings = np.array([[1.0, 0.0], [0.5, 2.0], [0.2, -1.0]])
        in_the_plane, log_size = theirs([0, 0], np.eye(2), *more), 0.5 * np.linalg.slogdet(loadings.T @ loadings)[1]
        ours, theirs = (d(MEAN, loadings @ loadings.T, *more, allow_singular=True) for d in (ours, theirs))
        z = np.array([[0.3, -1.0], [2.0, 0.4]])
        x = MEAN + z @ loadings.T
        want = in_the_plane.logpdf(z) - log_size  # SciPy's own, of Student's, take the dimension for the rank
        compare(ours.logpdf(x), want)
        compare(ours.pdf(np.concatenate([x, x + [0, 0, 1e-3]])), np.append(np.exp(want), [0, 0]))
        compare(ours.entropy(), in_the_plane.entropy() + log_size)
        draws = ours.rvs(size=1000, random_state=1)
        assert np.isfinite(ours.logpdf(draws)).all() and draws.shape == (1000, 3)
        if not more:  # SciPy's of Student's is 0.22 here, where two million draws have 0.2467
            np.testing.assert_allclose(ours.cdf(MEAN + 0.5), theirs.cdf(MEAN + 0.5), atol=1e-3)
        nowhere = getattr(st, name)(MEAN, np.zeros((3, 3)), *more, allow_singular=True)
        np.testing.assert_array_equal(nowhere.logpdf([MEAN, np.add(MEAN, 1)]), [0, -np.inf])
        np.testing.assert_array_equal(nowhere.rvs(size=2), [MEAN, MEAN])
        with pytest.raises(ValueError, match="(cov|shape) must be symmetric and positive semidefinite"):
            getattr(st, name)(MEAN, -np.eye(3), *more, allow_singular=True)


def test_matrices_that_are_nearly_singular():
    """Positive definite ones count as they are, unless they are allowed to be singular."""
    graded = np.diag([1.0, 1e-12])
    compare(st.multivariate_normal.logpdf([0, 1e-6], None, graded), stats.norm.logpdf(0) + stats.norm.logpdf(1e-6, 0, 1e-6))
    np.testing.assert_allclose(st.multivariate_normal.rvs(None, graded, 1000, random_state=1).std(0), [1, 1e-6], rtol=0.1)
    assert st.multivariate_normal.logpdf([0, 1e-6], None, graded, allow_singular=True) == -np.inf
    almost = np.eye(3)
    almost[0, 1] = 1e-17
    compare(st.multivariate_normal.logpdf(X, MEAN, almost), stats.multivariate_normal.logpdf(X, MEAN, np.eye(3)))
    known = stats.Covariance.from_eigendecomposition(([1.0, 0.0], np.eye(2)))
    compare(st.multivariate_normal([0, 0], known).logpdf([0, 0]), stats.norm.logpdf(0))
    compare(st.multivariate_t([0, 0], known, 3).logpdf([0, 0]), stats.t.logpdf(0, 3))


def test_seeds_of_frozen_distributions_go_on():
    frozen = st.multivariate_t([0, 0], np.eye(2), 3, seed=1)
    first = frozen.rvs()
    assert not np.array_equal(first, frozen.rvs())
    np.testing.assert_array_equal(first, st.multivariate_t([0, 0], np.eye(2), 3, seed=1).rvs())


@THOROUGH
def test_distribution_functions():
    rng = np.random.default_rng(4)
    x, lower = MEAN + rng.normal(size=(2, 5, 3))
    for name, more in {"multivariate_normal": (), "multivariate_t": (2.5,)}.items():
        ours, theirs = getattr(st, name)(MEAN, COV, *more), getattr(stats, name)(MEAN, COV, *more)
        options = dict(maxpts=200_000) if more else {}
        np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x, **options), atol=1e-4)
        want = theirs.cdf(x, lower_limit=lower, **options)
        assert (want < 0).any() and (want > 0).any()
        np.testing.assert_allclose(ours.cdf(x, lower_limit=lower), want, atol=1e-4)
        assert np.ndim(ours.cdf(x[0])) == 0
    frozen = st.multivariate_normal(MEAN, COV, abseps=1e-3, releps=1e-3, maxpts=10_000)
    np.testing.assert_allclose(np.exp(frozen.logcdf(x)), frozen.cdf(x), rtol=1e-14)
    np.testing.assert_allclose(frozen.cdf(x), stats.multivariate_normal(MEAN, COV).cdf(x), atol=1e-3)
    turned = st.multivariate_normal.logcdf(MEAN, MEAN, COV, lower_limit=np.add(MEAN, 1.0))
    np.testing.assert_allclose(np.exp(turned), st.multivariate_normal.cdf(MEAN, MEAN, COV, lower_limit=np.add(MEAN, 1.0)))
    np.testing.assert_allclose(st.multivariate_normal.cdf([0.5, -1.0], 0.2, 2.0), stats.norm.cdf([0.5, -1.0], 0.2, 2**0.5))
    np.testing.assert_allclose(st.multivariate_t.cdf([0.5], 0.2, 2.0, 3.0), stats.t.cdf(0.5, 3, 0.2, 2**0.5), atol=1e-5)


def test_a_random_state():
    """A seed becomes a generator, which goes on."""
    try:
        st.dirichlet.random_state = 3
        first = st.dirichlet.rvs(ALPHA)
        assert not np.array_equal(first, st.dirichlet.rvs(ALPHA))
        np.testing.assert_array_equal(first, st.dirichlet.rvs(ALPHA, random_state=3))
    finally:
        st.dirichlet.random_state = None
    assert st.random_table([1, 2], [2, 1]).rvs(method="boyett", random_state=1).shape == (2, 2)


def test_one_dimension():
    x = np.array([0.0, 1.0, 2.5])
    compare(st.multivariate_normal.logpdf(x, 0.5, 2.0), stats.multivariate_normal.logpdf(x, 0.5, 2.0))
    compare(st.multivariate_normal.pdf(1.0), stats.multivariate_normal.pdf(1.0))
    assert np.shape(st.multivariate_normal.rvs(0.5, 2.0, size=4, random_state=1)) == (4,)
    assert np.ndim(st.multivariate_normal.rvs()) == 0


def test_draws():
    for frozen in (st.multivariate_normal(MEAN, COV), st.multivariate_t(MEAN, COV, 9.0)):
        draws = frozen.rvs(20_000, random_state=3)
        assert abs(draws.mean(0) - MEAN).max() < 0.06
        np.testing.assert_array_equal(draws, frozen.rvs(20_000, random_state=np.random.RandomState(3)))
        assert frozen.rvs().shape == (3,) and frozen.rvs(size=(2, 4)).shape == (2, 4, 3)
    seeded = st.dirichlet(ALPHA, seed=5)
    np.testing.assert_array_equal(seeded.rvs(3), st.dirichlet.rvs(ALPHA, 3, random_state=5))
    assert st.dirichlet.rvs(ALPHA).shape == (1, 3)
    counts = st.multinomial.rvs(7, P, size=(2, 5), random_state=np.random.default_rng(1))
    assert counts.shape == (2, 5, 3) and counts.dtype == np.int64 and (counts.sum(-1) == 7).all()
    assert st.multinomial.rvs(7, P).shape == (3,)


def test_normal_fit_and_attributes():
    mean, cov = st.multivariate_normal.fit(X)
    for got, want in zip((mean, cov), stats.multivariate_normal.fit(X), strict=True):
        compare(got, want)
    compare(st.multivariate_normal.fit(X, fix_mean=MEAN)[1], stats.multivariate_normal.fit(X, fix_mean=MEAN)[1])
    frozen = st.multivariate_normal(mean=MEAN, cov=COV)
    np.testing.assert_array_equal(frozen.mean, MEAN)
    np.testing.assert_array_equal(st.multivariate_normal(MEAN, 2.0).cov, 2 * np.eye(3))
    assert st.multivariate_t(MEAN, COV, 3).df == 3
    made = pickle.loads(pickle.dumps(frozen))
    compare(made.logpdf(X), frozen.logpdf(X))


@pytest.mark.parametrize("method", ["logpdf", "pdf"])
def test_dirichlet(method, rng):
    x = rng.dirichlet(ALPHA, 4).T
    for given in (x, x[:, 0], x[:-1], x[:-1, 0]):
        compare(getattr(st.dirichlet, method)(given, ALPHA), getattr(stats.dirichlet, method)(given, ALPHA))
    for number in ("mean", "var", "cov", "entropy"):
        compare(getattr(st.dirichlet(ALPHA), number)(), getattr(stats.dirichlet(ALPHA), number)())


def test_multinomial():
    for x, n, p in [(COUNTS, 7, P), (COUNTS[0], 7, P), (COUNTS[:, None], [7, 9], [P, P[::-1]]), (COUNTS, 7, [1.2, -0.5, 0.3])]:
        compare(st.multinomial.logpmf(x, n, p), stats.multinomial.logpmf(x, n, p))
        compare(st.multinomial.pmf(x, n, p), stats.multinomial.pmf(x, n, p))
    for n, p in [(7, P), ([3, 8], [P, P[::-1]]), (-1, P)]:
        for number in ("mean", "cov") + (("entropy",) if np.all(np.greater(n, 0)) else ()):
            compare(getattr(st.multinomial, number)(n, p), getattr(stats.multinomial, number)(n, p))


def test_dirichlet_multinomial():
    for x, alpha, n in [(COUNTS, ALPHA, 7), (COUNTS[0], ALPHA, 7), (COUNTS[:, None], [ALPHA, ALPHA[::-1]], [7, 9])]:
        compare(st.dirichlet_multinomial.logpmf(x, alpha, n), stats.dirichlet_multinomial.logpmf(x, alpha, n))
        for number in ("mean", "var", "cov"):
            compare(getattr(st.dirichlet_multinomial, number)(alpha, n), getattr(stats.dirichlet_multinomial, number)(alpha, n))
    compare(st.dirichlet_multinomial(ALPHA, 7).pmf(COUNTS), stats.dirichlet_multinomial(ALPHA, 7).pmf(COUNTS))


def test_multivariate_hypergeometric():
    kinds, x = np.array([5, 6, 3]), np.array([[2, 3, 1], [0, 5, 1], [6, 0, 0], [1, 1, 1]])
    for given, m, n in [(x, kinds, 6), (x[0], kinds, 6), (x[:, None], [kinds, kinds[::-1]], [6, 3]), (x, kinds, 20)]:
        compare(st.multivariate_hypergeom.logpmf(given, m, n), stats.multivariate_hypergeom.logpmf(given, m, n))
        compare(st.multivariate_hypergeom(m, n).pmf(given), stats.multivariate_hypergeom(m, n).pmf(given))
        for number in ("mean", "var", "cov"):
            compare(getattr(st.multivariate_hypergeom, number)(m, n), getattr(stats.multivariate_hypergeom, number)(m, n))
    for number in ("mean", "var", "cov"):
        np.testing.assert_array_equal(getattr(st.multivariate_hypergeom, number)([0, 0], 0), 0)
    draws = st.multivariate_hypergeom.rvs(kinds, 6, size=(2, 5), random_state=1)
    assert draws.shape == (2, 5, 3) and draws.dtype == np.int64 and (draws.sum(-1) == 6).all()
    assert st.multivariate_hypergeom.cov([1, 0], 1).tolist() == [[0, 0], [0, 0]]


def test_normal_inverse_gamma(rng):
    given = np.array([0.5, -1.0]), 2.0, np.array([3.0, 0.7]), 1.5
    x, s2 = rng.normal(size=(4, 1)), rng.gamma(2, size=(4, 1))
    s2[0] = -1
    for parameters in ((), (0.5, 2.0, 3.0, 1.5), given, (0.5, -2.0, 3.0, 1.5)):
        ours, theirs = st.normal_inverse_gamma, stats.normal_inverse_gamma
        compare(ours.logpdf(x, s2, *parameters), theirs.logpdf(x, s2, *parameters))
        compare(ours(*parameters).pdf(x, s2), theirs(*parameters).pdf(x, s2))
        for number in ("mean", "var"):
            for got, want in zip(getattr(ours, number)(*parameters), getattr(theirs, number)(*parameters), strict=True):
                compare(got, want)
    mean, variance = st.normal_inverse_gamma(0.5, 2.0, 3.0, 1.5).rvs((3000,), random_state=1)
    assert stats.kstest(variance, stats.invgamma(3.0, scale=1.5).cdf).pvalue > 1e-4
    assert stats.kstest((mean - 0.5) / np.sqrt(variance / 2), "norm").pvalue > 1e-4
    assert np.shape(st.normal_inverse_gamma.rvs(*given)[0]) == (2,) and np.ndim(st.normal_inverse_gamma.rvs()[1]) == 0


def test_device_arrays():
    on_device = st.multivariate_normal.logpdf(gs.to_device(X), MEAN, COV)
    compare(on_device.get(), stats.multivariate_normal.logpdf(X, MEAN, COV))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: st.multivariate_normal(MEAN, np.eye(2)), ValueError, r"cov has shape \(2, 2\), where mean has \(3,\)"),
        (lambda: st.multivariate_normal(MEAN, -COV), np.linalg.LinAlgError, "cov must be symmetric and positive definite"),
        (lambda: st.multivariate_normal(1, 2, 3, 4), TypeError, "3 parameters, not 4"),
        (lambda: st.multivariate_normal(MEAN, mean=MEAN), TypeError, "mean once at most"),
        (lambda: st.multivariate_t(MEAN, COV, -1.0), ValueError, "df must be positive"),
        (lambda: st.dirichlet([1.0, -1.0]), ValueError, "alpha must be a vector of positive numbers"),
        (lambda: st.dirichlet.pdf([0.2, 0.2, 0.2], ALPHA), ValueError, "sum of 1"),
        (lambda: st.dirichlet.pdf([0.2], ALPHA), ValueError, r"x has shape \(1,\)"),
        (lambda: st.dirichlet.pdf([0.0, 0.5, 0.5], ALPHA), ValueError, "must not be 0"),
        (lambda: st.dirichlet_multinomial(ALPHA, -1), ValueError, "n must be whole numbers"),
        (lambda: st.dirichlet(ALPHA).cdf([0.2, 0.2, 0.6]), AttributeError, "no attribute 'cdf'"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["multivariate_normal", "multivariate_t"])
def test_some_components(name):
    location, matrix = np.array([0.1, 0.2, 0.3]), np.array([[2, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 3]])
    ours, theirs = getattr(st, name), getattr(stats, name)
    x = np.linspace(-1, 2, 10).reshape(5, 2)
    want = theirs(location, matrix).marginal([-1, 0])
    np.testing.assert_allclose(ours(location, matrix).marginal([-1, 0]).pdf(x), want.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(ours.marginal([-1, 0], location, matrix).pdf(x), want.pdf(x), rtol=1e-12)
    want = theirs.marginal(1, location, matrix).pdf(x[:, 0])
    np.testing.assert_allclose(ours.marginal(1, location, matrix).pdf(x[:, 0]), want, rtol=1e-12)
    for dimensions in ([], [[0]], 3, [0, -3], 1.5):
        with pytest.raises(ValueError, match="dimensions must be"):
            ours.marginal(dimensions, location, matrix)


def test_shapes_of_elliptical_draws():
    """Without axes of length 1, but for those of a Covariance, as SciPy has it."""
    matrix, covariance = np.diag([1.0, 2, 3]), stats.Covariance.from_diagonal([1, 2, 3])
    for size in (None, (), 1, 2, (2, 1)):
        for name, of in (("multivariate_normal", matrix), ("multivariate_t", matrix), ("multivariate_normal", covariance)):
            got, want = (getattr(module, name).rvs(np.zeros(3), of, size=size) for module in (st, stats))
            assert got.shape == want.shape, (name, size)


def test_probabilities_of_float32():
    """What is left to the last of them is no rounding of the others: equal ones stay equal."""
    p = np.full(5, 0.2, np.float32)
    got = [st.multinomial.pmf(x, 19, p) for x in ([1, 2, 5, 7, 4], [1, 2, 4, 5, 7])]
    assert got[0] == pytest.approx(got[1], rel=1e-13)
