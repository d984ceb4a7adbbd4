"""Sparse design matrices as leaves of rows, and of GLMs: against SciPy's products, and against the same matrix in full."""

import dataclasses
import types

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special, stats

import gpustats as gs
from gpustats.rows import blocks
from gpustats.runtime import choose

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


@pytest.mark.parametrize("ones", [False, True])
def test_in_blocks(ones, like_a_gpu, monkeypatch):
    """Large matrices on a GPU, here in small blocks: rows in several chunks, columns in bands, groups with many entries."""
    small = dict(LEAST_ENTRIES=1, LEAST_OF_TILE=1, SUMS=128, NUMBERS=64, THREADS=64, LONGEST=8, ENTRIES_AT_ONCE=1000)
    for name, value in small.items():
        monkeypatch.setattr(blocks, name, value)
    X = matrix_of(700, 300, 0.05).tolil()
    X[:, 5], X[11, :], X[40:100, :] = 0.25, -0.5, 0
    X = X.tocsr()
    X.data = np.ones_like(X.data) if ones else X.data
    y, sets = RNG.normal(size=700), RNG.normal(size=(3, 300))
    with gs.use(like_a_gpu):
        rows = gs.Rows(NORMAL, y=y, eta=gs.dot(X, of="beta"))
        values, gradients = rows.value_and_grad(beta=sets, s=0.7)
        alone = [rows.value_and_grad(beta=b, s=0.7) for b in sets]
    (product,) = rows._bound.leaves["eta"].X.placed.values()
    assert isinstance(product._by_row, blocks.Blocks) and isinstance(product._by_column, blocks.Blocks)
    left = y - sets @ X.T
    np.testing.assert_allclose(values, stats.norm.logpdf(left, 0, 0.7).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(gradients["beta"], left @ X / 0.49, rtol=1e-11, atol=1e-10)
    for i, (value, gradient) in enumerate(alone):
        assert value == values[i]
        np.testing.assert_array_equal(gradient["beta"], gradients["beta"][i])


def test_where_blocks_pay():
    """On GPUs, of large matrices, where a tile has many entries."""

    def layout(n, k, entries, **changes):
        gpu = dict(type="gpu", compute_units=132, shared_memory=227 << 10, max_threads=1024)
        device = dataclasses.replace(choose.get().device, **gpu | changes)
        runtime = types.SimpleNamespace(device=device)
        return [blocks.BlockLayout.of(runtime, np.dtype(float), *sizes, n * entries, in_bands=bands)
                for sizes, bands in (((n, k), False), ((k, n), True))]

    by_row, by_column = layout(10_000_000, 100_000, 20)
    assert by_row.bands == 1 and by_column.bands > 10 and by_row.sums == blocks.SUMS >= by_column.sums > blocks.SUMS / 2
    assert layout(10_000_000, 100_000, 20, type="cpu") == layout(10_000, 1000, 20) == [None, None]
    assert layout(10_000_000, 10_000_000, 20) == [None, None]
    assert layout(10_000_000, 2000, 20, shared_memory=48 << 10)[0].shared_bytes(np.dtype(float), 1) <= 48 << 10


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


def test_predictions_and_formats():
    """New rows are sparse or not; a dictionary of keys is a matrix, and no data frame."""
    X = matrix_of(60, 4, 0.5)
    y, new = RNG.poisson(1.0, 60), X[:5]
    wanted = gs.GLM(gs.poisson_log, y, X.toarray()).fit().predict(new.toarray())
    for given in (X, sp.dok_array(X), sp.coo_array((np.r_[X.data / 2, X.data / 2], (np.r_[X.tocoo().row, X.tocoo().row],
                                                                                   np.r_[X.indices, X.indices])))):  # fmt: skip
        fit = gs.GLM(gs.poisson_log, y, given).fit()
        for rows in (new, new.toarray(), sp.dok_array(new)):
            np.testing.assert_allclose(fit.predict(rows).mean_errors, wanted.mean_errors, rtol=1e-9)
    with pytest.raises(ValueError, match=r"X has shape \(5, 3\), and must have the 4 columns"):
        fit.predict(new[:, :3])


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
