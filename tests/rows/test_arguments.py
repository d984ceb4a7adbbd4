"""What a model of rows takes and refuses, and what travels with it."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.runtime.arrays import is_device_array

SOURCE = "real row(real y, real mu, real s) { return normal_logpdf(y, mu, s); }"
Y = np.array([0.5, -1.0, 2.0, 0.0])
INDEX = np.array([0, 2, 2, 1])


def refused(match, source=SOURCE, error=ValueError, **leaves):
    with pytest.raises(error, match=match):
        gs.Rows(source, **leaves)


def test_leaves_that_do_not_fit():
    refused("no argument 'x'; its arguments are y, mu, s", x=Y)
    refused(r"same number of rows: y 4, the index of mu 3", y=Y, mu=gs.gather(INDEX[:3]))
    refused(r"same number of rows: y 4, the index of mu 4, index 1 of mu 2", y=Y, mu=gs.gather(INDEX, INDEX[:2]))
    refused(r"mu: an index is -1 at row 1", y=Y, mu=gs.gather([0, -1, 0, 0]))
    refused(r"mu: an index is nan at row 2", y=Y, mu=gs.gather([0, 0, np.nan, 0]))
    refused(r"mu: an index is of dtype float64", y=Y, mu=gs.gather([0.0, 1.0, 1.0, 0.0]))
    refused(r"mu: an index has shape \(2, 2\)", y=Y, mu=gs.gather(INDEX.reshape(2, 2)))
    refused(r"y has shape \(2, 2\): data are columns", y=Y.reshape(2, 2))
    refused(r"s has shape \(\): data are columns .* a number is given in the call", y=Y, s=1.0)
    refused(r"mu: X of a dot product must have the shape \(N, k\)", y=Y, mu=gs.dot(Y))
    refused(r"k of 1 to 64, not \(4, 65\); gs.GLM", y=Y, mu=gs.dot(np.ones((4, 65))))
    refused("w is one parameter, and cannot be a table of 1 axes for mu, a table of 2 axes for s", y=Y,
            mu=gs.gather(INDEX, of="w"), s=gs.gather(INDEX, INDEX, of="w"))  # fmt: skip
    with pytest.raises(ValueError, match="gather takes the index of each row"):
        gs.gather()


def test_functions_that_do_not_fit():
    whole = "real row(int y, real mu) { return y * mu; }"
    refused("y is an int of the function: give it as a column", whole)
    refused("y is an int of the function: its values must be data", whole, y=gs.gather(INDEX))
    refused("y is an int of the function, and 0.5 at row 0", whole, y=Y)
    vector = "real row(const real *x, real y, int dim) { return x[0] * y; }"
    refused(r"x has shape \(4,\): data of a vector have the shape \(N, d\)", vector, x=Y)
    refused("x is a vector, and per_row gives each row a number", vector, x=gs.per_row())
    refused("cov is a matrix; a row function takes numbers and vectors", gs.mvnormal, x=np.ones((4, 2)))
    refused("there is no function", "// nothing", gs.DeviceFunctionError)
    refused("takes no argument", "real row() { return 1.0; }", gs.DeviceFunctionError)
    refused("must return a `real`, not int", "int row(real y) { return 1; }", gs.DeviceFunctionError)
    refused("did you mean positive", "// s: postive, scale\nreal row(real y, real s) { return y / s; }", gs.DeviceFunctionError)
    refused("gives a domain for 'z'", "// z: positive\nreal row(real y) { return y; }", gs.DeviceFunctionError)
    refused("nothing is not defined", "real row(real y) { return nothing; }", gs.DeviceFunctionError)
    refused("a text of C, a density or a sequence model, not float", 3.0, TypeError)


def test_parameters_that_do_not_fit():
    rows = gs.Rows(SOURCE, y=Y, mu=gs.gather(INDEX))
    for match, given in (
        ("needs s", dict(mu=np.zeros(3))),
        ("no parameter 't'; its parameters are mu, s", dict(mu=np.zeros(3), s=1.0, t=2.0)),
        (r"mu has shape \(2,\), and the index of mu goes up to 2: axis 0 .* must have 3", dict(mu=np.zeros(2), s=1.0)),
        (r"mu is a table, and has one axis at least: its shape is \(\)", dict(mu=0.0, s=1.0)),
        (r"go together by NumPy's rules: mu \(2, 3\), s \(3,\)", dict(mu=np.zeros((2, 3)), s=np.ones(3))),
    ):
        with pytest.raises(ValueError, match=match):
            rows(**given)
    with pytest.raises(ValueError, match="wrt: 'y' is none of mu, s"):
        rows.value_and_grad(wrt="y", mu=np.zeros(3), s=1.0)
    with pytest.raises(ValueError, match="wrt: 'y' is none of mu, s"):
        rows.hessian(wrt="y", mu=np.zeros(3), s=1.0)
    dots, own = gs.Rows(SOURCE, y=Y, mu=gs.dot(np.ones((4, 2)))), gs.Rows(SOURCE, y=Y, mu=gs.per_row(), s=gs.per_row(offset=-1))
    with pytest.raises(ValueError, match=r"mu has shape \(3,\): its last axis must have the 2 columns of X"):
        dots(mu=np.ones(3), s=1.0)
    with pytest.raises(ValueError, match=r"mu has shape \(5,\): its last axis must have 4 numbers, for 4 rows"):
        own(mu=np.ones(5), s=np.ones(4))
    with pytest.raises(ValueError, match="has no data, and no parameter tells"):
        gs.Rows("real row(real m) { return m; }")(m=1.0)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_types_of_columns(dtype):
    y = np.array([1, 0, 1, 1]).astype(dtype)
    got = gs.Rows("real row(real y, real p) { return y * log(p) + (1 - y) * log(1 - p); }", y=y)(p=0.3)
    assert got == pytest.approx(3 * np.log(0.3) + np.log(0.7), rel=1e-6 if y.dtype == np.float32 else 1e-13)
    if y.dtype.kind in "iu":
        assert gs.Rows("real row(int y, real p) { return y == 1 ? p : 0; }", y=y)(p=0.5) == 1.5


def test_large_whole_numbers_are_kept():
    big = np.array([2**40, 3])
    assert gs.Rows("real row(real y, real m) { return y * m; }", y=big)(m=1.0) == 2**40 + 3
    refused("beyond those of int", "real row(int y) { return 1.0; }", y=big)


def test_arrays_that_lie_otherwise():
    wide = np.arange(16.0).reshape(4, 4)
    rows = gs.Rows(SOURCE, y=wide[:, 1], mu=gs.gather(np.repeat(INDEX, 2)[::2]))
    mu = np.linspace(-1, 1, 6)[::2]
    assert rows(mu=mu, s=2.0) == pytest.approx(stats.norm.logpdf(wide[:, 1], mu[INDEX], 2.0).sum(), rel=1e-13)
    there = gs.Rows(SOURCE, y=gs.to_device(wide[:, 1]), mu=gs.gather(INDEX))
    assert there(mu=gs.to_device(mu), s=2.0) == rows(mu=mu, s=2.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lead", [(), (2,), (3, 2)], ids=str)
def test_numbers_and_vectors_on_the_device(rng, layout, lead, dtype):
    """Numbers, vectors, coefficients and tables give the same from the device, and their derivatives stay there."""
    y, X, index = (a.astype(dtype) for a in (rng.normal(size=300), rng.normal(size=(300, 3)), rng.integers(0, 4, 300)))
    source = """real f(real y, const real *m, real eta, real a, real s, real q, int dim) {
        real t = q;
        for (int j = 0; j < dim; j++) t += m[j] * cos(y * (j + 1));
        return normal_logpdf(y, eta + a + t, s); }"""
    rows = gs.Rows(source, y=y, eta=gs.dot(X, of="beta"), a=gs.gather(index.astype(int)))
    for own in {(), lead[-1:], lead}:
        given = dict(m=rng.normal(size=(*own, 5)), beta=rng.normal(size=(*lead, 3)), a=rng.normal(size=4))
        given |= dict(s=rng.uniform(1, 2, lead), q=rng.normal(size=own))
        given = {name: np.asarray(value, dtype) for name, value in given.items()}
        value, gradient = rows.value_and_grad(**given)
        for names in (["m"], ["s"], ["q", "m", "a"], list(given)):
            there = {name: gs.to_device(v) if name in names else v for name, v in given.items()}
            for _ in range(4):  # the last ones are recorded
                again, found = rows.value_and_grad(**there)
                np.testing.assert_array_equal(again, value)
                for name, derivative in found.items():
                    assert is_device_array(derivative) == (name in names)
                    derivative = gs.to_host(derivative) if name in names else derivative
                    assert np.shape(derivative) == given[name].shape
                    np.testing.assert_array_equal(derivative, gradient[name])
            other = {name: gs.to_device(2 * gs.to_host(v)) if name in names else v for name, v in there.items()}
            doubled = {name: 2 * v if name in names else v for name, v in given.items()}
            np.testing.assert_array_equal(rows(**other), rows(**doubled))
            np.testing.assert_array_equal(rows.terms(**there), rows.terms(**given))


def test_data_that_change_later():
    y, index = Y.copy(), INDEX.copy()
    rows = gs.Rows(SOURCE, y=y, mu=gs.gather(index))
    plain = gs.Rows(SOURCE, y=y)
    given = dict(mu=np.arange(3.0), s=1.0)
    before = rows(**given), plain(mu=0.0, s=1.0)
    y[:], index[:] = 7, 0
    assert (rows(**given), plain(mu=0.0, s=1.0)) == before


def test_weights(rng):
    weights = np.array([2.0, 0.0, 1.0, 0.5])
    rows = gs.Rows(SOURCE, weights=weights, y=Y, mu=gs.gather(INDEX))
    mu = np.array([0.1, 0.2, 0.3])
    value, gradient = rows.value_and_grad(mu=mu, s=1.5)
    terms = stats.norm.logpdf(Y, mu[INDEX], 1.5)
    assert value == pytest.approx(weights @ terms, rel=1e-13)
    np.testing.assert_allclose(gradient["mu"], np.bincount(INDEX, weights * (Y - mu[INDEX]) / 1.5**2), rtol=1e-13)
    nowhere = gs.Rows("real row(real y, real mu) { return log(y) * mu; }", weights=[0.0, 1.0], y=[0.0, 1.0])
    assert nowhere(mu=1.0) == 0
    with pytest.raises(ValueError, match="same number of rows"):
        gs.Rows(SOURCE, weights=weights[:2], y=Y)


def test_wrt():
    rows = gs.Rows(SOURCE, y=Y, mu=gs.gather(INDEX))
    given = dict(mu=np.arange(3.0), s=1.5)
    value, everything = rows.value_and_grad(**given)
    for wrt in ("mu", "s", ("s", "mu"), ()):
        its, gradient = rows.value_and_grad(wrt=wrt, **given)
        assert its == value and list(gradient) == ([wrt] if isinstance(wrt, str) else list(wrt))
        assert all(np.array_equal(gradient[n], everything[n]) for n in gradient)


def test_domains():
    rows = gs.Rows("// s: positive\nreal row(real y, real mu, real s) { return -y * mu * s; }", y=Y)
    assert np.isnan(rows(mu=1.0, s=-1.0)) and rows(mu=1.0, s=1.0) == -Y.sum()


def test_densities_transforms_and_registered_functions():
    truncated = gs.transforms.Truncate(gs.normal, lower=-2.0)
    rows = gs.Rows(truncated, x=Y, mu=gs.gather(INDEX))
    mu = np.array([0.1, 0.2, 0.3])
    assert rows(mu=mu, sigma=1.5) == pytest.approx(truncated.loglik(Y, mu[INDEX], 1.5), rel=1e-13)
    assert np.isneginf(gs.Rows(gs.exponential, x=Y)(lam=1.0))
    gs.register("real rows_own_logpdf(real x, real m) { return -fabs(x - m) * 3.0; }", replace=True)
    got = gs.Rows("real row(real y, real m) { return rows_own_logpdf(y, m) + normal_logcdf(y, m, 1.0); }", y=Y)(m=0.1)
    assert got == pytest.approx((-3 * abs(Y - 0.1) + stats.norm.logcdf(Y, 0.1)).sum(), rel=1e-13)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))])
def test_copies(again):
    rows = gs.Rows(SOURCE, weights=np.ones(4), y=Y, mu=gs.gather(INDEX))
    given = dict(mu=np.arange(3.0), s=1.5)
    assert again(rows)(**given) == rows(**given)
    assert repr(rows).startswith("<row(y, mu, s, weights) over 4 rows in float64 on ")


def test_products_with_the_hessian(rng):
    """A direction in some parameters, for several sets; what does not fit."""
    y, index = rng.normal(size=300), rng.integers(0, 5, 300)
    rows = gs.Rows(SOURCE, y=y, mu=gs.gather(index))
    mu, s = rng.normal(size=(4, 5)), rng.uniform(1, 2, 4)
    counts = np.bincount(index, minlength=5)
    product = rows.hessp({"mu": np.ones((4, 5))}, mu=mu, s=s)
    np.testing.assert_allclose(product["mu"], -counts / s[:, None] ** 2, rtol=1e-12)
    residuals = np.stack([y - m[index] for m in mu])
    np.testing.assert_allclose(product["s"], -2 * residuals.sum(1) / s**3, rtol=1e-10, atol=1e-10)
    one = rows.hessp({"s": 1.0}, mu[0], s[0])
    np.testing.assert_allclose(one["s"], rows.hessian(mu[0], s[0])[0, 0], rtol=1e-12)
    with pytest.raises(ValueError, match="'t' is none of mu, s"):
        rows.hessp({"t": 1.0}, mu[0], s[0])
    with pytest.raises(ValueError, match=r"direction: mu has shape \(4,\), and the parameter \(5,\)"):
        rows.hessp({"mu": np.ones(4)}, mu[0], s[0])
    with pytest.raises(TypeError, match=r"direction is ndarray: .* hessp\(\{'mu': 1.0\}, \*\*parameters\)"):
        rows.hessp(np.ones(5), mu[0], s[0])
    for call in (rows, lambda *args: rows.hessp({"s": 1.0}, *args)):
        with pytest.raises(TypeError, match=r"mu is a dict: parameters by name are given as \*\*parameters, not as one dict"):
            call({"mu": mu[0], "s": s[0]})
