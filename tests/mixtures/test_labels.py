"""Sufficient statistics by label, beside NumPy's of each label's observations."""

import numpy as np
import pytest
from thorough import double_first, some

import gpustats as gs
from gpustats.runtime import choose


def reference(x, labels, n_labels):
    shape = x.shape[1:]
    x = x.reshape(len(x), -1).astype(np.float64)
    count, mean = np.zeros(n_labels, np.int64), np.zeros((n_labels, x.shape[1]))
    scatter = np.zeros((n_labels, x.shape[1], x.shape[1]))
    for k in range(n_labels):
        own = x[labels == k]
        if len(own):
            count[k] = len(own)
            mean[k] = own.mean(0)
            scatter[k] = (own - mean[k]).T @ (own - mean[k])
    return count, mean.reshape(n_labels, *shape), scatter.reshape(n_labels, *shape * 2)


def assert_right(got, x, labels, n_labels, rtol=1e-11):
    count, mean, scatter = reference(x, labels, n_labels)
    assert got.count.dtype == np.int64 and got.mean.dtype == got.scatter.dtype == np.float64
    np.testing.assert_array_equal(got.count, count)
    np.testing.assert_allclose(got.mean, mean, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(got.scatter, scatter, rtol=rtol, atol=rtol * max(1, np.abs(scatter).max(initial=0)))


@double_first
@pytest.mark.parametrize("n_labels", some([1, 5, 64, 1000]))
@pytest.mark.parametrize("shape", some([(shape,) for shape in ((), (1,), (2,), (3,), (4,), (15,), (40,), (100,))], 2))
def test_values(shape, n_labels, dtype, rng):
    if n_labels == 1000 and shape == (100,):
        n_labels = 200  # 80 MB
    x = rng.normal(size=(2011, *shape)).astype(dtype)
    labels = rng.integers(-2, n_labels + 2, len(x))
    assert_right(gs.label_statistics(x, labels, n_labels), x, labels, n_labels)


@pytest.mark.parametrize("shape", [(), (3,), (15,)])
def test_far_from_zero(shape, rng):
    x = 1e6 + rng.normal(size=(100_000, *shape))
    labels = rng.integers(0, 3, len(x))
    got = gs.label_statistics(x, labels, 3)
    assert_right(got, x, labels, 3, rtol=1e-9)
    again = gs.label_statistics(x, labels, 3)
    assert all((a == b).all() for a, b in zip(got, again))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
def test_few_observations(n, rng):
    x, labels = rng.normal(size=(n, 5)), rng.integers(0, 3, n)
    assert_right(gs.label_statistics(x, labels, 3), x, labels, 3)


def test_labels_of_all_types(rng):
    x = rng.normal(size=(500, 2))
    labels = rng.integers(0, 100, 500)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        assert_right(gs.label_statistics(x, labels.astype(dtype), 70), x, labels, 70)
    labels[:3] = 2**32, 2**31, -(2**40)  # out of range, but not in 32 bits
    assert_right(gs.label_statistics(x, labels, 70), x, labels, 70)
    labels = labels.astype(np.uint64)
    labels[3] = 2**64 - 1
    assert_right(gs.label_statistics(x, labels, 70), x, labels, 70)


def test_arrays_of_all_kinds(rng):
    x, labels = rng.normal(size=(60, 12)), rng.integers(0, 4, 30)
    strided = x[::2, 1::3]
    expected = gs.label_statistics(np.ascontiguousarray(strided), labels, 4)
    assert_right(expected, strided, labels, 4)
    runtime = choose.get()
    for given in (strided, gs.to_device(x)[::2, 1::3], gs.to_device(strided)):
        for own in (np.repeat(labels, 2)[::2], runtime.to_device(labels), runtime.to_device(labels.astype(np.int32))):
            assert all((a == b).all() for a, b in zip(gs.label_statistics(given, own, 4), expected))
    assert_right(gs.label_statistics(np.arange(30), labels, 4), np.arange(30), labels, 4)


def test_nothing():
    for shape in ((), (3,)):
        for n_labels in (0, 2):
            got = gs.label_statistics(np.zeros((0, *shape)), [], n_labels)
            assert [a.shape for a in got] == [(n_labels,), (n_labels, *shape), (n_labels, *shape * 2)]
            assert not any(a.any() for a in got)
    assert gs.label_statistics(np.ones(3), [0, 1, 0], 0).count.shape == (0,)


def test_nan_stays_with_its_label(rng):
    x, labels = rng.normal(size=(100, 3)), np.arange(100) % 4
    x[2, 1] = np.nan
    got = gs.label_statistics(x, labels, 4)
    assert np.isnan(got.mean).tolist() == [[False] * 3, [False] * 3, [False, True, False], [False] * 3]
    assert np.isnan(got.scatter[2, 1]).all() and not np.isnan(got.scatter[[0, 1, 3]]).any()


def test_errors(rng):
    x = rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match=r"labels has shape \(4,\), but x \(5, 2\)"):
        gs.label_statistics(x, np.zeros(4, int), 2)
    with pytest.raises(ValueError, match=r"\(N,\) or \(N, d\)"):
        gs.label_statistics(x[None], np.zeros(1, int), 2)
    with pytest.raises(TypeError, match="whole numbers, not float64"):
        gs.label_statistics(x, np.zeros(5), 2)
    with pytest.raises(TypeError, match="int32 or int64, not float64"):
        gs.label_statistics(x, gs.to_device(np.zeros(5)), 2)
    with pytest.raises(ValueError, match="n_labels must not be negative"):
        gs.label_statistics(x, np.zeros(5, int), -1)
    with pytest.raises(ValueError, match="length 0"):
        gs.label_statistics(x[:, :0], np.zeros(5, int), 1)
    with pytest.raises(ValueError, match="vectors of length 100000"):
        gs.label_statistics(np.zeros((1, 100_000)), [0], 1)
