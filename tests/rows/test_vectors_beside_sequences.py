"""Vectors of parameters beside sequences, with any index in their loops: values and derivatives are those of JAX."""

import numpy as np
import pytest
from pieces import same
from thorough import double_first

import gpustats as gs

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

RNG = np.random.default_rng(91)
LENGTHS = [1, 2, 30, *RNG.integers(1, 9, 25).tolist()]
T, N, ITEMS = sum(LENGTHS), len(LENGTHS), 7
OFFSETS = np.append(0, np.cumsum(LENGTHS))
ITEM, Y = RNG.integers(0, ITEMS, T), RNG.normal(size=T)
THERE = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
SHOPPER = """
__device__ real log_total(const real *v, int n) { real s = 0; for (int i = 0; i < n; i++) s += exp(v[i]); return log(s); }
__device__ real one(const int *item, const real *worth, int n, int t, real h) { return h * worth[item[t]]; }
__device__ real shopper(const int *item, const real *y, const real *worth, int n, real rate)
{
    real h = 0.5, loglik = 0, all = log_total(worth, 7);
    for (int t = 0; t < n; t++) {
        loglik += one(item, worth, n, t, h) - all;
        int best = 0;
        for (int k = 1; k < 7; k++)
            if (worth[k] + y[t] * k > worth[best] + y[t] * best) best = k;
        h += rate * (worth[best] + y[t] - h);
    }
    return loglik + worth[3] * h;
}"""


def padded(values):
    found = np.zeros(THERE.shape, values.dtype)
    found[THERE] = values
    return found


def terms(worth, rate):
    """Terms for worth of each row, (N, 7)."""
    worth, rows, places = jnp.asarray(worth), np.arange(N), np.arange(ITEMS)

    def step(h, now):
        item, y, there = now
        best = jnp.argmax(worth + y[:, None] * places, 1)
        after = h + rate * (worth[rows, best] + y - h)
        return jnp.where(there, after, h), jnp.where(there, h * worth[rows, item] - jnp.log(jnp.exp(worth).sum(1)), 0)

    h, found = jax.lax.scan(step, jnp.full(N, 0.5), (padded(ITEM).T, padded(Y).T, THERE.T))
    return found.sum(0) + worth[:, 3] * h


def sequences(dtype=float):
    return dict(item=gs.sequences(ITEM, OFFSETS), y=gs.sequences(Y.astype(dtype), OFFSETS))


def compared(found, wanted, rtol=1e-11):
    np.testing.assert_allclose(found[0], wanted[0], rtol=rtol)
    for (name, own), slope in zip(found[1].items(), wanted[1], strict=True):
        np.testing.assert_allclose(own, slope, rtol=rtol, atol=rtol * np.abs(slope).max(), err_msg=name)


@double_first
def test_one_vector_for_all_rows(dtype):
    rows, worth = gs.Rows(SHOPPER, **sequences(dtype)), RNG.normal(size=ITEMS)
    assert rows.parameters == ("worth", "rate")
    wanted = jax.value_and_grad(lambda w, r: terms(jnp.broadcast_to(w, (N, ITEMS)), r).sum(), (0, 1))(worth, 0.3)
    compared(rows.value_and_grad(worth, 0.3), wanted, 1e-11 if dtype == np.float64 else 2e-4)
    sets = RNG.normal(size=(3, ITEMS))
    value, gradient = rows.value_and_grad(sets, 0.3)
    for i in range(3):
        own = rows.value_and_grad(sets[i], 0.3)
        assert value[i] == own[0]
        np.testing.assert_array_equal(gradient["worth"][i], own[1]["worth"])


def test_a_vector_for_each_group_with_weights():
    group, weights = RNG.integers(0, 3, N), RNG.uniform(size=N)
    rows = gs.Rows("// rate: unit\n" + SHOPPER, **sequences(), worth=gs.gather(group), weights=weights)
    table = RNG.normal(size=(3, ITEMS))
    wanted = jax.value_and_grad(lambda w, r: (weights * terms(w[group], r)).sum(), (0, 1))(table, 0.3)
    compared(rows.value_and_grad(table, 0.3), wanted)
    np.testing.assert_allclose(rows.terms(table, 0.3), weights * terms(jnp.asarray(table)[group], 0.3), rtol=1e-11)
    assert np.isnan(rows(table, 1.5))
    pieces = gs.Rows(SHOPPER, **sequences(), worth=gs.gather(group), weights=weights, chunk=9)
    same(pieces.value_and_grad(table, 0.3), rows.value_and_grad(table, 0.3))


def test_products_and_data():
    X, data = RNG.normal(size=(N, 2)), RNG.normal(size=(N, ITEMS))
    rows, W = gs.Rows(SHOPPER, **sequences(), worth=gs.dot(X)), RNG.normal(size=(2, ITEMS))
    compared(rows.value_and_grad(W, 0.3), jax.value_and_grad(lambda w, r: terms(X @ w, r).sum(), (0, 1))(W, 0.3))
    np.testing.assert_allclose(gs.Rows(SHOPPER, **sequences(), worth=data).terms(0.3), terms(data, 0.3), rtol=1e-11)


def test_many_elements_go_back():
    source = """
    __device__ real smooth(const int *item, const real *y, const real *a, int n, real b)
    {
        real h = b, total = 0;
        for (int t = 0; t < n; t++) { total += h * a[2 * item[t] + t % 3]; h = tanh(0.5 * h + a[item[t]] * y[t]); }
        return total;
    }"""
    rows = gs.Rows(source, **sequences())
    item, y, a = padded(ITEM), padded(Y), RNG.normal(size=16)

    def total(a, b):
        h, found = jnp.full(N, b), 0.0
        for t in range(THERE.shape[1]):
            there = THERE[:, t]
            found += jnp.where(there, h * a[np.minimum(2 * item[:, t] + t % 3, 15)], 0).sum()
            h = jnp.where(there, jnp.tanh(0.5 * h + a[item[:, t]] * y[:, t]), h)
        return found

    compared(rows.value_and_grad(a, 0.4), jax.value_and_grad(total, (0, 1))(a, 0.4))
    assert "_sweep_" in rows.kernel_source(length=16)


def test_bad_input():
    rows = gs.Rows(SHOPPER, **sequences())
    with pytest.raises(gs.DeviceFunctionError, match="the length of worth must be a number that is written out, of at most 3"):
        rows(np.zeros(3), 0.3)
    fourth = gs.Rows("real fourth(const real *y, const real *a, int n) { return y[0] * a[3]; }", y=sequences()["y"])
    assert fourth(np.arange(4.0)) == pytest.approx(3 * Y[OFFSETS[:-1]].sum(), rel=1e-12)
    with pytest.raises(gs.DeviceFunctionError, match="a has 3 elements, and here it is asked for that at place 3"):
        fourth(np.zeros(3))
    with pytest.raises(ValueError, match=r"1 to 64 elements, not 65; gs.gather\(gs.sequences"):
        rows(np.zeros(65), 0.3)
    with pytest.raises(ValueError, match="worth is positive vector: beside sequences, vectors are looked at by the function"):
        gs.Rows("// worth: positive vector\n" + SHOPPER, **sequences())
    with pytest.raises(ValueError, match="worth is a vector, and has one axis at least"):
        rows(1.0, 0.3)
