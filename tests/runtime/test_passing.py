"""Small arrays that travel to a device, and from it, while the kernels of earlier calls still run."""

from concurrent.futures import ThreadPoolExecutor

import cuda_stand_in
import numpy as np
import pytest

import gpustats as gs
from gpustats.runtime import choose
from gpustats.runtime.transfers import to_hosts


def check(seed):
    """Many calls in a row, none of them waited for, whose parameters pass through the same memory several times."""
    rng, dim, sets = np.random.default_rng(seed), 64, 8
    x = rng.normal(size=(50, dim))
    on_device = gs.to_device(x[:, None])
    means, variances = rng.normal(size=(40, sets, dim)), rng.uniform(1, 2, size=(40, sets, dim))
    tables = []
    for mean, variance in zip(means, variances):
        mean, cov = mean.copy(), variance[:, :, None] * np.eye(dim)
        tables.append(gs.mvnormal.logpdf(on_device, mean, cov))
        mean[:], cov[:] = np.nan, np.nan  # a caller may use them again
    for table, mean, variance in zip(tables, means, variances):
        terms = (x[:, None] - mean) ** 2 / variance + np.log(2 * np.pi * variance)
        np.testing.assert_allclose(gs.to_host(table), -0.5 * terms.sum(-1), rtol=1e-12)


def test_a_sequence_of_calls():
    check(1)


def test_threads():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, range(4)))


@pytest.fixture
def runtime(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch):
        yield choose.get("cuda:0")


def test_several_arrays_are_waited_for_once(runtime):
    arrays = [np.arange(3.0), np.array(2.5), np.zeros((0, 2)), np.arange(6, dtype=np.int32).reshape(2, 3)]
    natives = [runtime.to_device(a) for a in arrays]
    cuda_stand_in.calls.clear()
    for found, array in zip(to_hosts(natives), arrays, strict=True):
        np.testing.assert_array_equal(found, array)
        assert (found.shape, found.dtype) == (array.shape, array.dtype)
    assert cuda_stand_in.count("cuStreamSynchronize") == 1


def test_several_arrays_with_gaps_or_on_the_host(runtime):
    native = runtime.to_device(np.arange(12.0).reshape(3, 4))
    for found, array in zip(to_hosts([native, native[:, 1:3]]), (np.arange(12.0).reshape(3, 4), [[1, 2], [5, 6], [9, 10]])):
        np.testing.assert_array_equal(found, array)
    assert to_hosts([]) == []


def test_a_result_on_the_device_is_not_waited_for(runtime):
    result = np.arange(5.0)
    cuda_stand_in.calls.clear()
    (native,) = runtime.results_to_device([result])
    result[:] = -1  # the caller may use it again
    assert cuda_stand_in.count("cuStreamSynchronize") == 0
    with ThreadPoolExecutor(1) as pool:  # whose work has to wait for it
        np.testing.assert_array_equal(pool.submit(runtime.to_host, native).result(), np.arange(5))


def test_results_on_the_device_travel_together(runtime):
    results = [np.arange(5.0), np.float32(2.5) * np.ones((), np.float32), np.zeros((0, 2)), np.arange(6.0).reshape(3, 2).T]
    cuda_stand_in.calls.clear()
    natives = runtime.results_to_device(results)
    assert cuda_stand_in.count("cuMemcpyHtoDAsync") == 1
    for native, result in zip(natives, results, strict=True):
        assert native.ptr % 256 == natives[0].ptr % 256
        np.testing.assert_array_equal(native.get(), result)
        assert (native.shape, native.dtype) == (result.shape, result.dtype)
    assert runtime.results_to_device([]) == []
