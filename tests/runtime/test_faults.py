"""What goes wrong around a computation: damaged and full disks, killed processes, signals, threads at the process's end, errors
of drivers. Whatever it is, the next call is right or says what to do."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from runtimes import AFFINE, CPU, HEADERS, IDS, SEARCH, needs_cpu, run
from thorough import THOROUGH

import gpustats as gs
from gpustats.runtime import cache, get

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are those of POSIX")
KEY = cache.key("an entry")

SLOW = """
import signal, sys, time
import numpy as np, gpustats as gs
slow = gs.register('''
__device__ real slow_logpdf(real x, real n)
{
    real s = x;
    for (int i = 0; i < n; i++)
        s = sin(s) + 1e-3;
    return s;
}''')
x = np.linspace(0, 1, 4096)
short = slow.loglik(x, 10.0)
def turns(call, seconds):
    "So many turns take this long here."
    n = 1.0
    call(n)  # compiles
    while True:
        start = time.perf_counter()
        call(n)
        if (took := time.perf_counter() - start) > 0.1:
            return n * seconds / took
        n *= 4
def interrupted(call):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    start = time.perf_counter()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - start
    raise AssertionError("the call came to its end")
signal.signal(signal.SIGALRM, signal.default_int_handler)
"""


# The cache
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.mark.parametrize("place", ["digest", "header", "body", "end"])
def test_a_changed_byte_is_found(folder, place):
    data = bytes(random.Random(1).randbytes(5000))
    where = {"digest": 7, "header": 32, "body": 2500, "end": -1}[place]
    for bit in range(8):
        cache.store(KEY, data)
        assert cache.load(KEY) == data
        content = bytearray((folder / KEY).read_bytes())
        content[where] ^= 1 << bit
        (folder / KEY).write_bytes(content)
        assert cache.load(KEY) is None


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 5000, 5031])
def test_a_truncated_entry_is_found(folder, size):
    cache.store(KEY, bytes(5000))
    os.truncate(folder / KEY, size)
    assert cache.load(KEY) is None


def test_an_appended_entry_is_found(folder):
    cache.store(KEY, bytes(5000))
    with open(folder / KEY, "ab") as file:
        file.write(b"\0")
    assert cache.load(KEY) is None


@needs_cpu
@pytest.mark.parametrize("digest", ["kept", "right"])
def test_a_damaged_binary_is_compiled_again(tmp_path, digest):
    """Also where the digest is right, as after a driver was replaced by one of the same name."""
    code = f"""
        import numpy as np
        from gpustats.runtime import get
        runtime = get({CPU!r})
        kernel = runtime.kernel({HEADERS["opencl"] + AFFINE!r}, "fill", 64)
        result = runtime.result(64)
        kernel((1, 1), result.handle, 8, 5.0)
        assert (runtime.fetch(result).view(np.float64) == 5).all()
        """
    run(code, GPUSTATS_CACHE_DIR=str(tmp_path))
    (entry,) = tmp_path.iterdir()
    data = b"no binary" * 100
    entry.write_bytes((hashlib.sha256(data).digest() if digest == "right" else entry.read_bytes()[:32]) + data)
    run(code, GPUSTATS_CACHE_DIR=str(tmp_path))
    assert b"no binary" not in entry.read_bytes()


@posix
def test_a_full_disk_leaves_nothing_behind(folder):
    """A limit on the size of files stands for it: writing fails after some bytes."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, signal\n"
            "from gpustats.runtime import cache\n"
            f"cache.store({KEY!r}, bytes(1000))\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            f"cache.store({KEY!r}, bytes(100_000))\n"
            f"cache.store({cache.key('another')!r}, bytes(100_000))\n",
        ],
        env={**os.environ, "PYTHONPATH": SEARCH},
    )
    assert done.returncode == 0
    assert [path.name for path in folder.iterdir()] == [KEY]
    assert cache.load(KEY) == bytes(1000)


@posix
def test_processes_killed_while_they_write(folder):
    """Whenever they are, others see a whole entry or none."""
    write = (
        "from gpustats.runtime import cache\n"
        f"data = bytes(8 << 20)\nprint(flush=True)\nwhile True: cache.store({KEY!r}, data)"
    )
    for turn in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", write], env={**os.environ, "PYTHONPATH": SEARCH}, stdout=subprocess.PIPE
        )
        writer.stdout.readline()
        time.sleep(0.01 * turn)
        writer.kill()
        writer.wait()
        writer.stdout.close()
        assert cache.load(KEY) in (None, bytes(8 << 20))
    cache.store(KEY, b"data")
    assert cache.load(KEY) == b"data"


# Memory
@needs_cpu
def test_a_call_that_does_not_fit_leaves_the_device_usable():
    runtime = get(CPU)
    with gs.use(runtime.device):
        x = np.broadcast_to(0.5, (1 << 40,))
        for _ in range(3):
            with pytest.raises(MemoryError):
                gs.normal.logpdf(x, 0.0, 1.0)
            assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(-0.9189385332046727)


# Signals
@THOROUGH
@needs_cpu
@posix
def test_an_interrupt_ends_a_long_wait():
    """At once, also where the same kernel was soon done before; what it computes goes on, and the next call is right."""
    output = run(
        SLOW
        + """
n = turns(lambda n: slow.loglik(x, n), 2.5)
took = interrupted(lambda: slow.loglik(x, n))
assert 0.2 < took < 1.5, took
assert slow.loglik(x, 10.0) == short
table = slow.logpdf(x, 10.0)
took = interrupted(lambda: slow.logpdf(x, n))
assert 0.2 < took < 1.5, took
assert np.array_equal(slow.logpdf(x, 10.0), table)
print("right")
"""
    )
    assert output.endswith("right\n")


@needs_cpu
@posix
def test_a_program_ends_at_once_by_an_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SLOW + "signal.setitimer(signal.ITIMER_REAL, 0.5)\nslow.loglik(x, 1e9)"],
        env={**os.environ, "PYTHONPATH": SEARCH}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGINT, done.stderr
    assert "KeyboardInterrupt" in done.stderr and "terminate" not in done.stderr


@THOROUGH
@needs_cpu
@posix
def test_memory_outlives_the_kernels_that_use_it():
    """An interrupted kernel goes on reading and writing arrays that nobody else has any more."""
    output = run(
        SLOW
        + """
import gc
from gpustats.runtime import get
runtime = get()
big = np.full(1 << 22, 0.5)  # large enough for its memory to go back to the system
expected = gs.normal.logpdf(x, 0.0, 1.0)
n = turns(lambda n: slow.logpdf(big, n), 1.5)
for _ in range(2):
    data = big.copy()
    took = interrupted(lambda: slow.logpdf(data, n))
    del data
    gc.collect()
    blocks = [np.full(1 << 22, 7.0) for _ in range(3)]
    assert np.array_equal(gs.normal.logpdf(x, 0.0, 1.0), expected)
    assert all((block == 7).all() for block in blocks)  # the kernel wrote to none of them
print("right")
"""
    )
    assert output.endswith("right\n")


@THOROUGH
@needs_cpu
@posix
def test_calls_are_right_after_many_interrupts():
    lik = gs.Likelihood(gs.normal, np.linspace(-1, 1, 200_000))
    table = np.linspace(-1, 1, 50_000)
    expected, values = lik(0.1, 1.3), gs.normal.logpdf(table, 0.1, 1.3)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    interrupts, rng = 0, random.Random(3)
    try:
        for _ in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-5, 2e-3))
                for _ in range(50):
                    lik(rng.random(), 1.0)
                    gs.normal.logpdf(table, rng.random(), 1.0)
            except KeyboardInterrupt:
                interrupts += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert lik(0.1, 1.3) == expected
            assert np.array_equal(gs.normal.logpdf(table, 0.1, 1.3), values)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 100


@needs_cpu
def test_waiting_aside_hands_errors_on():
    from gpustats.runtime.waiting import Aside

    aside, seen = Aside(), []
    aside.wait(lambda: seen.append(threading.current_thread()))
    assert seen[0] is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        aside.wait(lambda: 1 / 0)
    aside.wait(lambda: seen.append(threading.current_thread()))
    assert seen[1] is seen[0]


# The end
@THOROUGH
@pytest.mark.parametrize("device", IDS)
@pytest.mark.parametrize(
    "call", ["lik(0.0, 1.0)", "gs.normal.logpdf(x, 0.0, 1.0)", "gs.to_host(gs.normal.logpdf(there, 0.0, 1.0))"]
)
def test_threads_that_compute_when_python_ends(call, device):
    code = f"""
        import threading, time
        import numpy as np, gpustats as gs
        gs.use({device!r})
        x = np.linspace(-1, 1, 200_000)
        lik, there = gs.Likelihood(gs.normal, x), gs.to_device(x)
        {call}
        def work():
            while True:
                {call}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.1)
        """
    for _ in range(3):
        assert run(code) == ""


@needs_cpu
def test_who_ends_python_may_still_compute():
    output = run(
        """
        import atexit
        @atexit.register
        def last():
            print(gs.normal.logpdf(0.0, 0.0, 1.0))
        import gpustats as gs
        gs.normal.logpdf(0.0, 0.0, 1.0)
        """
    )
    assert output.startswith("-0.9189385")


@needs_cpu
@posix
def test_a_forked_child_waits_for_no_thread_of_its_parent():
    """What is done at the child's end; the driver's own handlers may wait there for threads that it has lost."""
    output = run(
        """
        import os, sys, threading, time
        import numpy as np, gpustats as gs
        from gpustats.runtime.waiting import end_calls
        lik = gs.Likelihood(gs.normal, np.linspace(-1, 1, 2_000_000))
        def work():
            while True:
                lik(0.0, 1.0)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.1)
        for _ in range(5):
            child = os.fork()
            if not child:
                end_calls()
                os._exit(7)
            latest = time.time() + 30
            while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.time() < latest:
                time.sleep(0.01)
            assert os.waitstatus_to_exitcode(ended[1]) == 7
        print("ended")
        """,
        PYTHONWARNINGS="ignore",  # of forks beside threads
    )
    assert output.endswith("ended\n")
