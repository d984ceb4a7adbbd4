"""The threads of BLAS: as many as there are free processors, and the user's own number outside of a call."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from thorough import THOROUGH
from threadpoolctl import threadpool_info, threadpool_limits

import gpustats as gs
from gpustats.linalg import threads

LARGE = threads.LEAST_WORK


def counts():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def four_threads():
    """Every BLAS with four threads, on a machine of eight processors."""
    threads._libraries()
    with threadpool_limits(4, user_api="blas"):
        yield


@pytest.fixture
def processors(monkeypatch):
    """Sets how many of eight processors run other things."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(threads, "processors_allowed", lambda: 8)
    monkeypatch.setattr(threads, "free", threads.FreeProcessors())

    def busy(n):
        monkeypatch.setattr(threads, "others_running", lambda: n)
        threads.free._until = 0.0

    return busy


@pytest.mark.parametrize("busy, within", [(0, 4), (3, 4), (4, 4), (5, 3), (7, 1), (8, 1), (30, 1)])
def test_as_many_as_free(four_threads, processors, busy, within):
    processors(busy)
    before = counts()
    with threads.as_many_as_free(LARGE):
        assert set(counts()) == {within}
    assert counts() == before and set(before) == {4}


def test_little_work_is_left_alone(four_threads, processors):
    processors(8)
    with threads.as_many_as_free(LARGE - 1):
        assert set(counts()) == {4}


def test_few_triangular_systems_take_one_thread(four_threads, processors):
    with threads.for_triangular_systems(LARGE - 1):
        assert set(counts()) == {1}
    assert set(counts()) == {4}
    with threads.for_triangular_systems(LARGE), threads.for_triangular_systems(LARGE - 1):
        assert set(counts()) == {4}


def test_a_users_number_stays(four_threads, processors):
    """A smaller one within, and one that is set meanwhile."""
    processors(6)
    with threadpool_limits(1, user_api="blas"), threads.as_many_as_free(LARGE):
        assert set(counts()) == {1}
    with threads.as_many_as_free(LARGE):
        for library in threads._libraries():
            library.set_num_threads(3)
    assert set(counts()) == {3}


def test_errors_leave_the_number_as_it_was(four_threads, processors):
    processors(8)
    with pytest.raises(ValueError), threads.as_many_as_free(LARGE):
        raise ValueError
    assert set(counts()) == {4}


def test_callers_at_the_same_time_share(four_threads, processors):
    processors(0)
    first, second = threads.as_many_as_free(LARGE), threads.as_many_as_free(LARGE)
    third = threads.as_many_as_free(LARGE)
    with first:
        assert set(counts()) == {4}
        with second, third:
            assert set(counts()) == {2}  # of eight processors, a third each
    assert set(counts()) == {4}


@THOROUGH
def test_many_threads(four_threads, processors):
    processors(8)
    a = np.eye(200) * 2.0

    def work():
        for _ in range(5):
            assert np.array_equal(gs.linalg.cholesky(a, where="host"), np.sqrt(a))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(counts()) == {4} and threads._Bound._inside == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_process_starts_outside(four_threads, processors):
    processors(8)
    with threads.as_many_as_free(LARGE):
        child = os.fork()
        if not child:
            os._exit(0 if set(counts()) == {4} and threads._Bound._inside == 0 else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert set(counts()) == {4}


def test_a_count_holds_for_a_while(processors):
    processors(8)
    assert threads.free.threads() == 1
    threads.others_running = lambda: 0  # monkeypatch restores what was there before
    assert threads.free.threads() == 1
    time.sleep(2 * threads.COUNT_HOLDS)
    assert threads.free.threads() is None


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="only Linux tells")
def test_busy_processes_count():
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        time.sleep(0.5)
        assert sorted(threads.others_running() for _ in range(20))[10] >= 2
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="only Linux tells")
def test_a_factor_beside_busy_processes():
    """It takes about as long as with one thread, where more threads than free processors take many times as long."""
    n = 768
    a = np.random.default_rng(0).normal(size=(n, n))
    a = a @ a.T + n * np.eye(n)

    def seconds():
        start = time.perf_counter()
        gs.linalg.cholesky(a, where="host")
        return time.perf_counter() - start

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        time.sleep(0.3)
        seconds()
        bounded, alone = [], []
        for _ in range(5):
            bounded.append(seconds())
            with threadpool_limits(1, user_api="blas"):
                alone.append(seconds())
        assert np.median(bounded) < 3 * np.median(alone)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_where_nothing_is_told(monkeypatch):
    """Nothing else runs, as far as one knows."""
    monkeypatch.setattr("builtins.open", lambda *_, **__: (_ for _ in ()).throw(OSError("no such file")))
    assert threads.others_running() == 0
