"""Sparse design matrices as leaves of rows, and of GLMs: against SciPy's products, and against the same matrix in full."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special, stats

import gpustats as gs

RNG = np.random.default_rng(4)
NORMAL = "real f(real y, real eta, real s) { return normal_logpdf(y, eta, s); }"
SHAPES = {
    "wide": (300, 900, 0.01), "narrow": (2000, 7, 0.3), "a row": (1, 5, 0.6), "a column": (70, 1, 0.5), "empty": (40, 9, 0),
}  # fmt: skip


def matrix_of(n, k, density, dtype=np.float64, **given):
    return sp.random_array((n, k), density=density, rng=RNG, format="csr", data_sampler=RNG.normal).astype(dtype, **given)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_value_and_gradient(shape, dtype):
    X = matrix_of(*SHAPES[shape], dtype)
    n, k = X.shape
    y, beta, rtol = RNG.normal(size=n).astype(dtype), RNG.normal(size=k), 1e-12 if dtype == np.float64 else 1e-5
    rows = gs.Rows(NORMAL, y=y, eta=gs.dot(X, of="beta"))
    value, gradient = rows.value_and_grad(beta=beta, s=0.7)
    eta = X @ beta
    assert value == pytest.approx(stats.norm.logpdf(y, eta, 0.7).sum(), rel=rtol)
    wanted = X.T @ ((y - eta) / 0.49)
    np.testing.assert_allclose(gradient["beta"], wanted, rtol=rtol, atol=rtol * max(np.abs(wanted).max(), 1))
    np.testing.assert_allclose(rows.terms(beta=beta, s=0.7), stats.norm.logpdf(y, eta, 0.7), rtol=rtol, atol=10 * rtol)
    sets = RNG.normal(size=(3, k))
    values, gradients = rows.value_and_grad(beta=sets, s=np.array([0.7, 1.0, 2.0]))
    for i, s in enumerate((0.7, 1.0, 2.0)):  # each set as if it were alone
        alone = rows.value_and_grad(beta=sets[i], s=s)
        assert values[i] == alone[0]
        np.testing.assert_array_equal(gradients["beta"][i], alone[1]["beta"])


def test_uneven_rows_and_columns():
    """A column in all rows beside columns of one entry, a row with all columns beside rows without; all entries are one."""
    n, k = 5000, 400
    X = sp.lil_array((n, k))
    X[:, 3] = 1.0
    X[17, :] = 1.0
    X[n - 1, k - 1] = 1.0
    X = X.tocsr()
    y, beta = RNG.binomial(1, 0.4, n).astype(float), RNG.normal(size=k) / 10
    glm = gs.GLM(gs.bernoulli_logit, y, X)
    value, gradient = glm.value_and_grad(beta, 0.2)
    eta = X @ beta + 0.2
    assert value == pytest.approx(np.sum(y * eta - np.logaddexp(0, eta)), rel=1e-12)
    np.testing.assert_allclose(gradient["beta"], X.T @ (y - special.expit(eta)), rtol=1e-11, atol=1e-11)
    again = glm.value_and_grad(beta, 0.2)
    assert again[0] == value
    np.testing.assert_array_equal(again[1]["beta"], gradient["beta"])


def test_as_dense():
    """Formats, entries out of order or twice, Hessian products, second derivatives and fits are those of the matrix in full."""
    X = matrix_of(400, 12, 0.2)
    y = RNG.poisson(np.exp(X @ np.full(12, 0.3))).astype(float)
    twice = sp.coo_array((np.r_[X.data, X.data][::-1] / 2, [np.r_[i, i][::-1] for i in X.tocoo().coords]), X.shape)
    dense = gs.GLM(gs.poisson_log, y, X.toarray())
    for given in (X, X.tocsc(), twice, sp.csr_matrix(X)):
        glm = gs.GLM(gs.poisson_log, y, given)
        assert glm.value_and_grad(np.full(12, 0.1), 0.2)[0] == pytest.approx(dense(np.full(12, 0.1), 0.2), rel=1e-12)
    fit, wanted = glm.fit(), dense.fit()
    np.testing.assert_allclose(fit.estimates, wanted.estimates, rtol=1e-8)
    np.testing.assert_allclose(fit.errors, wanted.errors, rtol=1e-7)
    np.testing.assert_allclose(fit.robust().errors, wanted.robust().errors, rtol=1e-7)
    sparse, full = (gs.Rows(NORMAL, y=y, eta=gs.dot(given, of="beta")) for given in (X, X.toarray()))
    at, v = {"beta": np.linspace(-1, 1, 12), "s": 1.3}, {"beta": np.arange(12.0), "s": 0.5}
    found, wanted = sparse.hessp(v, **at), full.hessp(v, **at)
    np.testing.assert_allclose(found["beta"], wanted["beta"], rtol=1e-11)
    assert found["s"] == pytest.approx(wanted["s"], rel=1e-11)
    wrt = ("beta", "s")
    np.testing.assert_allclose(sparse.hessian(**at, wrt=wrt), full.hessian(**at, wrt=wrt), rtol=1e-11, atol=1e-11)
    pieces = gs.Rows(NORMAL, y=y, eta=gs.dot(X, of="beta"), chunk=90)
    assert pieces(**at) == pytest.approx(full(**at), rel=1e-12)


def test_bad_input():
    y, X = RNG.normal(size=6), matrix_of(6, 4, 0.5)
    with_nan = X.copy()
    with_nan.data[2] = np.nan
    for given, message in (
        (with_nan, "eta: X has nan at row"), (matrix_of(5, 4, 0.5), "same number of rows"), (X[:, :0], "one column at least"),
        (X.astype(complex), "real"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=message):
            gs.Rows(NORMAL, y=y, eta=gs.dot(given, of="beta"))
    with pytest.raises(ValueError, match=r"beta has shape \(3,\).* 4 columns of X"):
        gs.Rows(NORMAL, y=y, eta=gs.dot(X, of="beta"))(beta=np.ones(3), s=1.0)
    broken = sp.csr_array((X.data, X.indices.copy(), X.indptr), X.shape)
    broken.indices[0] = 9
    with pytest.raises(ValueError, match="no valid sparse matrix"):
        gs.Rows(NORMAL, y=y, eta=gs.dot(broken, of="beta"))
    with pytest.raises(ValueError, match="must have names"):
        gs.GLM(gs.normal, y, X, eta="mu", groups=np.zeros(6, int))
