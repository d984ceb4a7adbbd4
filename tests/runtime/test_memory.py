"""Memory of devices and of the host, and how it is used again."""

import gc

import numpy as np
import pytest
from runtimes import CPU, HEADERS, affine, needs_cpu

from gpustats.runtime import get, host_pool


@pytest.fixture(scope="module", autouse=True)
def nothing_of_other_tests():
    """What these have left to the collector of garbage would go back to the pools in the midst of a test."""
    gc.collect()


# Memory
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8])
def test_copies_there_and_back(runtime, shape, dtype):
    array = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    native = runtime.to_device(array)
    assert runtime.is_native(native) and not runtime.is_native(array)
    assert native.shape == array.shape and native.dtype == array.dtype
    back = runtime.to_host(native)
    assert back.shape == array.shape and back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    out = np.empty_like(array)
    runtime.download(native, out)
    np.testing.assert_array_equal(out, array)


def test_copies_of_strided_arrays(runtime):
    array = np.arange(24.0).reshape(4, 6)
    for view in (array.T, array[::2, ::-1], np.asfortranarray(array)):
        np.testing.assert_array_equal(runtime.to_host(runtime.to_device(view)), view)
    result = runtime.result(8 * 12)
    handle, _ = runtime.memory(array[::2, ::-1])
    affine(runtime)((1, 1), handle, 12, 1.0, 0, 0.0, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), array[::2, ::-1].ravel())


def test_large_downloads(runtime):
    array = np.random.default_rng(1).normal(size=(40 << 20) // 8 + 3)
    np.testing.assert_array_equal(runtime.to_host(runtime.to_device(array)), array)


def test_memory_of_slices_of_device_arrays(runtime):
    native = runtime.to_device(np.arange(10.0))[4:]
    handle, offset = runtime.memory(native)
    result = runtime.result(8 * 6)
    source = """
    KERNEL void shifted(GLOBAL const double *x, index_t offset, GLOBAL double *out) {
        out[INDEX] = x[offset + INDEX];
    }"""
    runtime.kernel(HEADERS[runtime.dialect] + source, "shifted", 6)((1, 1), handle, offset, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), np.arange(4.0, 10.0))


def test_an_array_that_was_passed_need_not_live(runtime):
    array = np.arange(50.0)
    handle = runtime.passed(array)
    array[:] = np.nan  # as another owner of its memory would
    result = runtime.result(8 * 50)
    affine(runtime)((1, 1), handle, 50, 1.0, 0, 0.0, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), np.arange(50.0))


def test_empty_arrays_have_a_valid_handle(runtime):
    result = runtime.result(8)
    for empty in (np.empty(0), runtime.empty((0, 3), np.float64)):
        handle, offset = runtime.memory(empty)
        affine(runtime)((1, 1), handle, 0, 1.0, 0, 0.0, result.handle)
        runtime.fetch(result)


def test_too_much_memory(runtime):
    for shape in ((1 << 40,), (1 << 62, 1 << 62)):
        with pytest.raises(MemoryError, match=r"asked .* GiB, free .* GiB .*" + runtime.device.id):
            runtime.empty(shape, np.float64)
    with pytest.raises(MemoryError):
        runtime.scratch(1 << 50)


def test_scratch_memory_is_used_again(runtime):
    fill = affine(runtime, "fill")
    for nbytes in (1000, 8 << 20):
        for value in range(20):
            handle = runtime.scratch(nbytes)
            fill((2, 1), handle, 125, float(value))
            out = np.empty(125)
            runtime.download(handle, out)
            assert (out == value).all()
            other = runtime.scratch(nbytes)
            fill((2, 1), other, 125, -1.0)
            runtime.download(handle, out)
            assert (out == value).all()


def test_counters_start_at_zero(runtime):
    for n in (1, 100, 5000):
        out = np.empty(n, np.int32)
        runtime.download(runtime.zeroed_counters(n), out)
        assert not out.any()


def test_results_grow(runtime):
    fill = affine(runtime, "fill")
    for n in (1, 3000, 2, 100_000):
        result = runtime.result(8 * n)
        fill((-(-n // 64), 1), result.handle, n, float(n))
        out = runtime.fetch(result)
        assert out.dtype == np.uint8 and out.size == 8 * n
        assert (out.view(np.float64) == n).all()


def test_time_and_bandwidth(runtime):
    native = runtime.empty(1 << 20, np.float64)
    fill = affine(runtime, "fill")
    handle, _ = runtime.memory(native)
    times = runtime.elapsed(lambda: fill((1 << 14, 1), handle, 1 << 20, 1.0), 3)
    assert len(times) == 3 and all(0 < time < 1 for time in times)
    assert 1e8 < runtime.bandwidth() < 1e14


# The host's own memory
@needs_cpu
def test_numpy_arrays_are_used_in_place():
    runtime = get(CPU)
    if not runtime.host_visible:
        pytest.skip("this driver copies")
    fill = affine(runtime, "fill")
    for start in range(3):
        array = np.zeros(103)[start:]
        handle, _ = runtime.memory(array)
        fill((2, 1), handle, array.size, 1.0)
        runtime.synchronize()
        assert (array == 1).all()
    constant = np.arange(100.0)
    constant.flags.writeable = False
    result = runtime.result(800)
    affine(runtime)((2, 1), runtime.memory(constant)[0], 100, 1.0, 0, 0.0, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), constant)


@needs_cpu
def test_host_results_live_as_long_as_their_views():
    runtime = get(CPU)
    if not runtime.host_visible:
        pytest.skip("this driver copies")
    fill = affine(runtime, "fill")

    def filled(value):
        array, handle = runtime.host_result((100, 1000), np.float64)
        fill((1563, 1), handle, array.size, value)
        runtime.synchronize()
        return array

    first = filled(1.0)
    address, view = first.ctypes.data, first[3:, ::2].T
    assert address % 4096 == 0 and first.flags.writeable
    del first
    second = filled(2.0)
    assert second.ctypes.data != address and (view == 1).all()
    del view
    gc.collect()
    assert filled(3.0).ctypes.data == address
    assert (second == 2).all()
    empty, _ = runtime.host_result((0, 3), np.float64)
    assert empty.shape == (0, 3)


def test_the_host_pool_is_bounded():
    pool = host_pool.HostPool(limit=1 << 20)
    arrays = [pool.empty((1 << 18,), np.uint8) for _ in range(8)]
    assert len({array.ctypes.data for array in arrays}) == 8
    del arrays
    gc.collect()
    assert 0 < pool.kept <= pool.limit
    pool.release()
    assert pool.kept == 0


@pytest.mark.parametrize("nbytes", [0, 1, 4096, 4097, 123_457, 10**9 + 1])
def test_blocks_are_little_larger_than_asked(nbytes):
    size = host_pool.rounded(nbytes)
    assert size >= nbytes and size % 4096 == 0
    assert size <= max(1.25 * nbytes, nbytes + 4096)
