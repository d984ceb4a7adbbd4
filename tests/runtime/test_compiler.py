"""The process in which Intel's compiler runs: what it makes, and what goes wrong with it."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from runtimes import HEADERS, IDS, SEARCH, run
from thorough import THOROUGH

import gpustats as gs
from gpustats.errors import CompileError, CompilerCrash
from gpustats.runtime import compiler, devices, get, opencl

INTEL = next((d.id for d in devices() if d.id in IDS and d.driver.startswith("Intel(R) OpenCL")), None)
pytestmark = [
    pytest.mark.optimised,  # without optimisation nothing else is tried where a compiler crashes
    pytest.mark.skipif(INTEL is None or sys.platform != "linux", reason="needs Intel's OpenCL driver on Linux"),
]

SOURCE = HEADERS["opencl"] + "KERNEL void fill(GLOBAL double *out, double value) { out[INDEX] = value; } // %s"
#: A worker that fails on sources that contain "fault", and where they contain "incurable", without optimisation too.
FAULTY = """
import importlib.util, os, signal, sys, time
spec = importlib.util.spec_from_file_location("worker", {path!r})
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
build = worker.Compiler.build

def faulty(self, options, source):
    if b"fault" in source and (b"incurable" in source or b"-cl-opt-disable" not in options):
        {fault}
    return build(self, options, source)

worker.Compiler.build = faulty
worker.main(sys.argv[1])
"""
CRASH, HANG = "os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(60)"


@pytest.fixture
def runtime(monkeypatch, tmp_path):
    """The device without any kernel, in memory or on the disk, and with a worker of its own."""
    monkeypatch.setattr(compiler, "_workers", {})
    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path / "cache"))
    known = get(INTEL)
    made = opencl.OpenCLRuntime(known.context, known.cl_device, known.device)
    yield made
    for worker in compiler._workers.values():
        if worker is not None:
            worker.end()


@pytest.fixture
def faulty(monkeypatch, tmp_path):
    def start(fault):
        program = tmp_path / "faulty.py"
        program.write_text(FAULTY.format(path=str(compiler.PROGRAM), fault=fault))
        monkeypatch.setattr(compiler, "PROGRAM", program)

    return start


def filled(runtime, remark="", value=5.0):
    """What the kernel writes; with another remark it is another kernel."""
    kernel, result = runtime.kernel(SOURCE % remark, "fill", 8), runtime.result(64)
    kernel((1, 1), result.handle, value)
    return runtime.fetch(result).view(np.float64).tolist()


def worker():
    (found,) = compiler._workers.values()
    return found


def process():
    return worker()._process


def exists(pid):
    """Whether there is such a process, or what is left of one that nobody has waited for."""
    return Path(f"/proc/{pid}").exists()


def wait_for_the_end(pid, seconds=20):
    end = time.monotonic() + seconds
    while exists(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not exists(pid)


# What it makes


def test_binaries_are_those_of_this_process(tmp_path):
    """Both processes are new: a binary holds a number that counts what its process has compiled before."""
    source = SOURCE % "same", gs.gamma.kernel_source("loglik", dialect="opencl")
    code = f"""
    from gpustats.runtime import compiler, get
    runtime = get({INTEL!r})
    for source in {source!r}:
        made = compiler.compiled(runtime.cl_device, source, runtime._options)
        print(made == runtime._from_source(source).binaries[0])
    """
    assert run(code, GPUSTATS_CACHE_DIR=str(tmp_path)).split() == ["True", "True"]
    assert list(tmp_path.iterdir()) == []  # it stores nothing itself


def test_one_process_compiles_all(runtime):
    assert filled(runtime, "a") == [5.0] * 8
    first = process().pid
    assert filled(runtime, "b", 6.0) == [6.0] * 8
    assert process().pid == first


def test_a_known_kernel_starts_no_process(tmp_path):
    code = f"""
    import sys
    from gpustats.runtime import get
    get({INTEL!r}).kernel({SOURCE!r}, "fill", 8)
    print("gpustats.runtime.compiler" in sys.modules)
    """
    assert [run(code, GPUSTATS_CACHE_DIR=str(tmp_path)) for _ in range(2)] == ["True\n", "False\n"]


def test_other_drivers_compile_here():
    others = [d for d in opencl.cl_devices() if d.platform.name.strip() != "Intel(R) OpenCL"]
    if not others:
        pytest.skip("no other driver")
    assert all(compiler.compiled(device, SOURCE, "") is None for device in others)


def test_errors_are_as_before(runtime):
    source = HEADERS["opencl"] + "KERNEL void f(GLOBAL double *out) { *out = nonsense; }"
    with pytest.raises(CompileError, match="nonsense") as caught:
        runtime.kernel(source, "f", 1)
    with pytest.raises(CompileError) as here:
        runtime._from_source(source)
    assert caught.value.lines == here.value.lines == [6] and caught.value.source == source
    assert caught.value.log.partition("error")[2] == here.value.log.partition("error")[2]
    assert filled(runtime) == [5.0] * 8


# Crashes


def test_a_crash_with_optimisation_only(runtime, faulty, recwarn):
    faulty(CRASH)
    with pytest.warns(RuntimeWarning, match=r"crashed \(Segmentation fault\) on a kernel, .* without optimisation"):
        assert filled(runtime, "fault") == [5.0] * 8
    again = opencl.OpenCLRuntime(runtime.context, runtime.cl_device, runtime.device)
    before = process().pid
    assert filled(again, "fault") == [5.0] * 8  # from the disk
    assert process().pid == before
    assert filled(runtime, "good", 7.0) == [7.0] * 8
    assert not recwarn


def test_a_crash_always(runtime, faulty):
    faulty(CRASH)
    assert filled(runtime) == [5.0] * 8
    before = process().pid
    with pytest.raises(CompilerCrash, match=r"compiler crashed \(Segmentation fault\), also without") as caught:
        filled(runtime, "fault incurable")
    assert "KERNEL void fill" in str(caught.value)
    assert not exists(before)
    assert filled(runtime, "good", 6.0) == [6.0] * 8


def test_a_crash_shows_the_snippet(runtime, faulty):
    faulty(CRASH)
    text = "real fault_incurable_logpdf(real x, real m)\n{\n    return -m * x;\n}"
    density = gs.register(text)
    with gs.use(runtime), pytest.raises(gs.CompileError, match="crashed") as caught:
        density.loglik(np.ones(9), 1.0)
    assert str(caught.value).endswith(
        "     1 | real fault_incurable_logpdf(real x, real m)\n     2 | {\n     3 |     return -m * x;\n     4 | }"
    )


def test_a_crash_names_the_kernel(runtime, faulty):
    faulty(CRASH)
    density = gs.register("real fault_logpdf(real x, real m) { return -m * x; }")
    with gs.use(runtime), pytest.warns(RuntimeWarning, match="on fault_logpdf_checked_loglik"):
        assert density.loglik(np.ones(9), 1.0) == -9


def test_what_crashes_the_compiler_itself(runtime):
    """Either a version of the driver that bears it, or one of which this process sees nothing."""
    source = HEADERS["opencl"] + """
    KERNEL void nested(GLOBAL double *out, double o) { double t = cos(o); out[INDEX] = cos(t) + sin(o) * sin(t); }
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        kernel = runtime.kernel(source, "nested", 8)
    result = runtime.result(64)
    kernel((1, 1), result.handle, 1.5)
    t = np.cos(1.5)
    np.testing.assert_allclose(runtime.fetch(result).view(np.float64), np.cos(t) + np.sin(1.5) * np.sin(t), rtol=1e-14)


def test_one_that_does_not_end(runtime, faulty, monkeypatch):
    faulty(HANG)
    monkeypatch.setattr(compiler, "TIME_LIMIT", 1)
    with pytest.raises(CompilerCrash, match="compiler had not finished after 1 seconds, also without"):
        filled(runtime, "fault incurable")
    assert filled(runtime) == [5.0] * 8


# What happens to it


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_between_kernels(runtime, recwarn, how):
    filled(runtime, "a")
    killed = process()
    os.kill(killed.pid, how)
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    assert filled(runtime, "b", 6.0) == [6.0] * 8
    assert process().pid != killed.pid and not exists(killed.pid)
    assert not recwarn


def test_an_interrupt_while_it_compiles(runtime, faulty):
    faulty(HANG)
    filled(runtime, "a")
    busy = process().pid
    main = threading.main_thread().ident
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        filled(runtime, "fault")
    assert time.monotonic() - start < 10
    assert not exists(busy)
    assert filled(runtime, "b", 6.0) == [6.0] * 8


def test_two_threads(runtime):
    got = {}

    def work(n):
        for i in range(3):
            got[n, i] = filled(runtime, f"{n} {i}", n + i)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {(n, i): [float(n + i)] * 8 for n in range(4) for i in range(3)}


def test_a_forked_child_starts_its_own(runtime):
    filled(runtime, "a")
    ours, identity, pid = worker(), worker()._identity, process().pid
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            code, binary = ours.build(runtime._options, SOURCE % "child", identity)
            os._exit(40 + code if binary and ours._process.pid != pid else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 40
    assert process().pid == pid
    assert filled(runtime, "b", 6.0) == [6.0] * 8


@THOROUGH
@pytest.mark.parametrize("end", ["sys.exit()", "os._exit(0)", "os.kill(os.getpid(), 9)", "fork()"])
def test_it_ends_with_its_process(tmp_path, end):
    """In a script without a guard of its main part, and where a forked child lives on."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(f"""
        import os, sys, time
        from gpustats.runtime import compiler, get

        def fork():
            if os.fork() == 0:
                os.closerange(0, 3)
                time.sleep(30)
                os._exit(0)

        get({INTEL!r}).kernel({SOURCE!r}, "fill", 8)
        (worker,) = compiler._workers.values()
        print(worker._process.pid, flush=True)
        {end}
    """))
    env = {**os.environ, "PYTHONPATH": SEARCH, "GPUSTATS_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-W", "error", script], env=env, capture_output=True, text=True)
    assert not done.stderr
    wait_for_the_end(int(done.stdout))


# Where it cannot be had


@pytest.mark.parametrize("executable", [None, "", "/nowhere/python", "/bin/true", "exits"])
def test_no_process(runtime, monkeypatch, tmp_path, executable):
    if executable == "exits":
        program = tmp_path / "python"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o700)
        executable = str(program)
    monkeypatch.setattr(sys, "executable", executable)
    assert filled(runtime, "a") == [5.0] * 8
    assert list(compiler._workers.values()) == [None]
    assert filled(runtime, "b", 6.0) == [6.0] * 8


def test_no_permission_for_one(runtime, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError("no")

    monkeypatch.setattr(compiler.subprocess, "Popen", refuse)
    assert filled(runtime, "a") == [5.0] * 8


def test_another_driver(runtime):
    filled(runtime, "a")
    worker()._identity = b"another"
    pid = process().pid
    assert filled(runtime, "b", 6.0) == [6.0] * 8
    assert not exists(pid)
