"""Results on the host in memory that is registered with a stand-in for CUDA's driver."""

import cuda_stand_in
import numpy as np
import pytest

from gpustats.runtime import choose

LARGE = 1 << 16  # numbers of an array whose memory is registered


@pytest.fixture
def runtime(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch):
        yield choose.get("cuda:0")


@pytest.fixture
def array(runtime):
    return runtime.to_device(np.arange(LARGE, dtype=float))


def address(array):
    return array.__array_interface__["data"][0]


def test_the_second_result_of_a_size_is_registered_and_used_again(runtime, array):
    first, second = runtime.to_host(array), runtime.to_host(array)
    assert list(cuda_stand_in.registered) == [address(second)]
    place = address(second)
    del second
    third, fourth = runtime.to_host(array), runtime.to_host(array)
    assert address(third) == place and len(cuda_stand_in.registered) == 2
    for found in (first, third, fourth):
        np.testing.assert_array_equal(found, np.arange(LARGE))
        assert found.flags.writeable and found.flags.c_contiguous


def test_views_keep_the_memory(runtime, array):
    runtime.to_host(array)
    view = runtime.to_host(array)[5:10]
    other = runtime.to_host(array)
    other[:] = -1
    np.testing.assert_array_equal(view, np.arange(5, 10))


def test_small_results_are_not_registered(runtime):
    small = runtime.to_device(np.arange(100.0))
    for _ in range(4):
        np.testing.assert_array_equal(runtime.to_host(small), np.arange(100))
    assert not cuda_stand_in.registered


def test_what_callers_keep_is_limited(runtime, array, monkeypatch):
    monkeypatch.setattr(runtime.results._registered, "_most", 5 * array.nbytes)
    kept = [runtime.to_host(array) for _ in range(12)]
    assert len(cuda_stand_in.registered) == 5
    for found in kept:
        np.testing.assert_array_equal(found, np.arange(LARGE))


def test_unused_memory_makes_room_for_other_sizes(runtime, array, monkeypatch):
    monkeypatch.setattr(runtime.results._registered, "_most", 5 * array.nbytes)
    kept = [runtime.to_host(array) for _ in range(8)]
    kept.clear()
    other = runtime.to_device(np.arange(LARGE // 2, dtype=float))
    found = [runtime.to_host(other) for _ in range(2)][1]
    assert list(cuda_stand_in.registered) == [address(found)]
    np.testing.assert_array_equal(found, np.arange(LARGE // 2))


def test_a_system_that_locks_nothing(runtime, array):
    cuda_stand_in.lockable = 0
    for _ in range(5):
        np.testing.assert_array_equal(runtime.to_host(array), np.arange(LARGE))
    assert cuda_stand_in.count("cuMemHostRegister") == 1


def test_results_that_another_thread_drops(runtime, array):
    import threading

    kept = [runtime.to_host(array) for _ in range(4)]
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    found = [runtime.to_host(array) for _ in range(3)]
    assert len(cuda_stand_in.registered) == 3 and len({address(a) for a in found}) == 3
