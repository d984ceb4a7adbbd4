"""Memory and threads' states of a stand-in for a CUDA device: used again, never freed under anybody, given back in need."""

import ctypes
import gc
import threading

import cuda_stand_in
import numpy as np
import pytest

from gpustats.runtime import choose


@pytest.fixture
def runtime(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch):
        yield choose.get("cuda:0")


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_a_block_is_used_again(runtime):
    first = runtime.scratch(1000)
    address = int(first)
    assert int(runtime.scratch(1000)) != address
    del first
    assert int(runtime.scratch(1000)) == address and cuda_stand_in.count("cuMemFree") == 0


def test_sizes_are_four_steps_an_octave(runtime):
    sizes = set()
    for n in range(1000, 100_000, 37):
        before = cuda_stand_in.used
        block = runtime.scratch(n)
        if cuda_stand_in.used != before:
            sizes.add(cuda_stand_in.used - before)
            assert n <= cuda_stand_in.used - before <= 1.25 * n + 512
        del block
    assert len(sizes) <= 4 * 7 + 1


def test_what_another_thread_drops_waits_for_the_device(runtime):
    held = [runtime.scratch(5000)]
    address = int(held[0])
    in_a_thread(held.clear)
    cuda_stand_in.calls.clear()
    assert int(runtime.scratch(5000)) == address
    assert [name for name, *_ in cuda_stand_in.calls if name in ("cuCtxSynchronize", "cuMemAlloc")] == ["cuCtxSynchronize"]


def test_what_is_dropped_while_the_device_is_waited_for_stays(runtime):
    held, later = [runtime.scratch(5000)], [runtime.scratch(5000)]
    addresses = [int(held[0]), int(later[0])]
    in_a_thread(held.clear)
    cuda_stand_in.on_call = lambda name: name == "cuCtxSynchronize" and later and in_a_thread(later.clear)
    assert int(first := runtime.scratch(5000)) == addresses[0]
    cuda_stand_in.on_call = None
    assert later == [] and int(first)
    cuda_stand_in.calls.clear()
    assert int(runtime.scratch(5000)) == addresses[1] and cuda_stand_in.count("cuCtxSynchronize") == 1


def test_what_another_thread_has_had_waits_for_the_device(runtime):
    """Its work may still read it, though it is dropped here."""
    held = [runtime.to_device(np.zeros(1000))]
    address = held[0].ptr
    in_a_thread(lambda: runtime.memory(held[0]))
    held.clear()
    cuda_stand_in.calls.clear()
    assert int(runtime.scratch(8000)) == address and cuda_stand_in.count("cuCtxSynchronize") == 1


@pytest.mark.parametrize("use", ["memory", "to_host"])
def test_an_array_of_another_thread_is_read_when_it_is_written(runtime, use):
    def write():
        array = runtime.empty((5,), np.float64)
        for _ in range(3):  # more than ends when the driver is asked once
            runtime.state().passing.to_device(array.ptr, np.arange(5.0).view(np.uint8))
        return array

    own = int(runtime.state().stream)
    array = in_a_thread(write)
    cuda_stand_in.calls.clear()
    getattr(runtime, use)(array)
    assert [int(c[1]) for c in cuda_stand_in.calls if c[0] == "cuStreamWaitEvent"] == [own]
    cuda_stand_in.calls.clear()
    runtime.synchronize()
    getattr(runtime, use)(array)  # now it is written
    assert cuda_stand_in.count("cuStreamWaitEvent") == 0


def test_a_replay_begins_when_the_threads_work_is_done(runtime):
    """Its memory comes from the thread's pool, and its work is on another stream."""
    block = runtime.scratch(1024)
    runtime.state().passing.to_device(int(block), np.full(256, 7, np.int32).view(np.uint8))
    del block
    found = []
    replay = runtime.replay(1, 1, lambda given, left: found.append(runtime.zeroed_counters(4)))
    runtime.synchronize()
    assert replay is not None and list((ctypes.c_int * 4).from_address(int(found[0]))) == [0] * 4


def test_the_first_small_copy_in_another_context(runtime):
    runtime.scratch(64)  # from the pool the next time, without a look at the context
    other = cuda_stand_in.cuCtxCreate(None, 0, cuda_stand_in.cuDeviceGet(0)[1])[1]
    cuda_stand_in.cuCtxSetCurrent(other)
    size = runtime.state().passing.to_device.__globals__["HALF_BYTES"]
    for _ in range(70):
        runtime.passed(np.zeros(size // 8 // 16))
    assert int(runtime.state().stream)


def test_in_need_all_pools_give_back(runtime):
    def keep():
        blocks = [runtime.scratch(1 << 20) for _ in range(3)]
        del blocks

    keep()
    in_a_thread(keep)
    assert len(runtime.states) == 2
    kept = cuda_stand_in.used
    cuda_stand_in.capacity = kept + (1 << 19)
    block = runtime.scratch(kept)
    assert cuda_stand_in.used <= cuda_stand_in.capacity and int(block)
    with pytest.raises(MemoryError, match="asked .* GiB, free .* GiB of .* GiB"):
        runtime.scratch(kept)


def test_in_need_a_block_is_no_larger_than_asked(runtime):
    gc.collect()
    runtime.release()
    nbytes = (1 << 24) + 8
    cuda_stand_in.capacity = cuda_stand_in.used + nbytes
    assert int(runtime.scratch(nbytes))


def test_what_is_passed(runtime):
    """A copy may be under way still, but not for work that is recorded, which others may do first."""
    stream = cuda_stand_in.cuStreamCreate(0)[1]
    array = np.arange(1.0, 6.0)
    block = runtime.passed(array)
    array[:] = np.nan
    runtime.synchronize()
    np.testing.assert_array_equal(numbers_at(block), np.arange(1.0, 6.0))
    with runtime.state().recording(stream) as alive:
        block = runtime.passed(np.arange(7.0, 12.0))
        np.testing.assert_array_equal(numbers_at(block), np.arange(7.0, 12.0))
        assert block in alive


def numbers_at(block):
    return np.array((ctypes.c_double * 5).from_address(int(block)))


def test_a_state_serves_the_next_thread(runtime):
    runtime.synchronize()
    streams = {in_a_thread(lambda: int(runtime.state().stream)) for _ in range(100)}
    assert len(streams) == 1 and int(runtime.state().stream) not in streams and len(runtime.states) == 2


def test_threads_that_live_have_states_of_their_own(runtime):
    barrier, found = threading.Barrier(8), []

    def work():
        state = runtime.state()
        barrier.wait()
        found.append(id(state))
        barrier.wait()

    for _ in range(3):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(len(set(found[i : i + 8])) == 8 for i in (0, 8, 16)) and len(set(found)) == 8


def test_page_locked_memory_is_used_again(runtime):
    from gpustats.runtime.cuda_memory import page_locked

    runtime.state()
    first = page_locked.zeros(1000, np.float64)
    address = first.ctypes.data
    assert page_locked.empty(1000, np.float64).ctypes.data != address
    part = first[10:20]
    del first
    assert page_locked.empty(1000, np.float64).ctypes.data != address  # a view still holds it
    del part
    assert page_locked.empty(1000, np.float64).ctypes.data == address


def test_another_context_that_is_current(runtime):
    """As another library leaves it: memory, kernels and copies are of ours all the same."""
    kernel = runtime.kernel('extern "C" __global__ void nothing(int n) {}', "nothing", 32)
    cuda_stand_in.cuCtxSetCurrent(cuda_stand_in.cuCtxCreate(None, 0, cuda_stand_in.cuDeviceGet(0)[1])[1])
    array = runtime.to_device(np.arange(2e5))
    assert cuda_stand_in.thread.context == runtime.context
    kernel((1, 1), 3)
    np.testing.assert_array_equal(runtime.to_host(array), np.arange(2e5))


def test_a_short_wait_does_not_sleep(monkeypatch):
    from gpustats.runtime import waiting

    slept, answers = [], iter([False] * 50 + [True])
    monkeypatch.setattr(waiting.time, "sleep", slept.append)
    monkeypatch.setattr(waiting, "SPIN_TIME", 60.0)
    waiting.until(lambda: next(answers))
    assert slept == []
    answers = iter([False] * 5 + [True])
    monkeypatch.setattr(waiting, "SPIN_TIME", 0.0)
    waiting.until(lambda: next(answers))
    assert len(slept) == 5
