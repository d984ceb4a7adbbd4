"""A device whose context is lost: the call that finds it so says so, the next one works in a new context.

No kernel here strays, which on a CPU ends the process: the driver's errors are raised in its place.
"""

import contextlib
import dataclasses
import pickle
import threading
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from runtimes import CPU, needs_cpu, run

import gpustats as gs
from gpustats.runtime import choose, opencl, opencl_devices
from gpustats.runtime.opencl_kernel import OpenCLKernel

pytestmark = needs_cpu
CODES = [-2, -4, -5, -6, -14, -34, -36, -9999]
X = np.linspace(-1, 1, 1000)
RIGHT = -0.9189385332046727


def error_of(code, kind=cl.RuntimeError):
    """As the driver raises it."""
    return kind(cl._cl._ErrorRecord("clFinish", code, ""))


class Queue(cl.CommandQueue):
    """One that waits for nothing."""

    def finish(self):
        raise self.error


@pytest.fixture(params=["shared", "own"])
def victim(request, monkeypatch):
    """A runtime in the place of the process's own, which is back afterwards; with memory that is the host's, or its own."""
    device = gs.devices()[[device.id for device in gs.devices()].index(CPU)]
    number = int(CPU.partition(":")[2])
    native = opencl.cl_devices()[number]
    limits = {} if request.param == "shared" else dict(type="gpu", warp=32, max_threads=256)
    made = opencl.OpenCLRuntime(cl.Context([native]), native, dataclasses.replace(device, **limits))
    monkeypatch.setitem(opencl._runtimes, number, made)
    monkeypatch.setattr(opencl, "_lost", set())
    monkeypatch.setattr(choose, "_automatic", made)
    monkeypatch.setattr(choose, "_default", None)
    return made


@pytest.fixture
def fails(monkeypatch):
    """Let a call of the driver fail, and the least work in the same context too unless it `works`."""

    def fail(runtime, place, code=-5, works=False, kind=cl.RuntimeError):
        error, dead, fill = error_of(code, kind), runtime.context, cl.enqueue_fill_buffer

        def raises(*args, **kwargs):
            raise error

        def filled(queue, *args, **kwargs):
            if queue.context == dead and not works:
                raise error_of(-36, cl.LogicError)
            return fill(queue, *args, **kwargs)

        monkeypatch.setattr(cl, "enqueue_fill_buffer", filled)
        thread = runtime.local.thread
        if place == "launch":
            call = OpenCLKernel.__call__

            def launch(kernel, grid, *args):
                if kernel._runtime is runtime:
                    kernel._clone = type("Clone", (), {"launch": staticmethod(raises)})
                call(kernel, grid, *args)

            monkeypatch.setattr(OpenCLKernel, "__call__", launch)
        elif place == "wait":
            thread.queue = Queue(runtime.context, runtime.cl_device)
            thread.queue.error = error
        elif place == "copy":
            copy = cl.enqueue_copy
            monkeypatch.setattr(
                cl, "enqueue_copy", lambda queue, *a, **k: (raises if queue.context == dead else copy)(queue, *a, **k)
            )
        elif place == "pool":
            thread.pool = type("Pool", (), {"allocate": raises, "free_held": lambda self: None})()
        elif place == "buffer":
            runtime._host_buffer = raises

            class Buffer(cl.Buffer):
                def __init__(self, context, flags, size=0, hostbuf=None):
                    if context == dead and size > 8:
                        raise error
                    super().__init__(context, flags, size, hostbuf)

            monkeypatch.setattr(cl, "Buffer", Buffer)
        return error

    return fail


CALLS = {
    "launch": lambda: gs.normal.loglik(X, 0.0, 1.0),
    "wait": lambda: choose.get().synchronize(),
    "copy": lambda: gs.to_device(X),
    "pool": lambda: gs.to_device(X),
    "buffer": lambda: choose.get().result(1 << 20),
}


@pytest.mark.parametrize("place", CALLS)
def test_the_call_says_so_and_the_next_one_works(victim, fails, place):
    likelihood, there = gs.Likelihood(gs.normal, X), gs.to_device(X)
    value = gs.Likelihood(gs.normal, X)(0.0, 1.0)
    assert likelihood(0.0, 1.0) == value
    fails(victim, place)
    with pytest.raises(gs.DeviceLostError, match=r"is lost \(clFinish failed: .*stray|is lost .*new context") as raised:
        CALLS[place]()
    assert victim.device.id in str(raised.value) and victim.device.name in str(raised.value)
    assert victim.lost and victim not in opencl._runtimes.values()

    assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)
    new = choose.get()
    assert new is not victim and new is choose.get() and new is choose.get(CPU) and not new.lost
    assert gs.Likelihood(gs.normal, X)(0.0, 1.0) == pytest.approx(value, rel=1e-13)
    for _ in range(2):  # what was made before is gone, and stays so
        for call in (
            lambda: likelihood(0.0, 1.0),
            lambda: likelihood.value_and_grad(0.0, 1.0),
            lambda: gs.to_host(there),
            lambda: gs.normal.logpdf(there, 0.0, 1.0),
            lambda: gs.normal.loglik(there, 0.0, 1.0),
        ):
            with pytest.raises(gs.DeviceLostError, match="make arrays and objects anew"):
                call()
    assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("place", ["launch", "wait"])
def test_codes(victim, fails, place, code):
    gs.normal.loglik(X, 0.0, 1.0)
    fails(victim, place, code, kind=cl.LogicError if code < -29 else cl.RuntimeError)
    with pytest.raises(gs.DeviceLostError):
        CALLS[place]()
    assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("place", CALLS)
def test_an_error_that_leaves_the_context_is_the_drivers(victim, fails, place, code):
    error = fails(victim, place, code, works=True)
    with pytest.raises(MemoryError if place == "pool" else cl.RuntimeError) as raised:
        CALLS[place]()
    assert place == "pool" or raised.value is error
    assert not victim.lost and choose.get() is victim


def test_mistakes_are_not_looked_into(victim, fails, monkeypatch):
    monkeypatch.setattr(opencl, "failing", lambda *args: pytest.fail("asked"))
    error = fails(victim, "launch", -30, kind=cl.LogicError)
    with pytest.raises(cl.LogicError) as raised:
        gs.normal.loglik(X, 0.0, 1.0)
    assert raised.value is error


def test_memory_that_others_have_is_no_loss(victim, monkeypatch):
    """A full device refuses also the memory by which it is asked whether it works."""

    def full(*args):
        raise error_of(-4, cl.MemoryError)

    monkeypatch.setattr(cl, "Buffer", full)
    assert opencl_devices.failing(victim.cl_device, victim.context) is None


def test_a_device_that_does_not_come_back(victim, fails, monkeypatch):
    fails(victim, "wait")
    with pytest.raises(gs.DeviceLostError):
        victim.synchronize()
    with monkeypatch.context() as dead:
        dead.setattr(opencl_devices.cl, "CommandQueue", lambda *args: (_ for _ in ()).throw(error_of(-6)))
        for _ in range(2):
            with pytest.raises(gs.DeviceLostError, match=r"was lost, .*: start a new process"):
                gs.normal.logpdf(0.0, 0.0, 1.0)
    assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


def test_a_device_chosen_for_a_block(victim, fails):
    with gs.use(CPU):
        assert choose.get() is victim
        fails(victim, "wait")
        with pytest.raises(gs.DeviceLostError):
            victim.synchronize()
        inside = choose.get()
        assert inside is not victim and choose.get() is inside
        assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)
    assert choose.get() is inside


def test_a_device_chosen_for_the_process(victim, fails):
    gs.use(CPU)
    fails(victim, "wait")
    with pytest.raises(gs.DeviceLostError):
        victim.synchronize()
    assert choose.get() is choose._default is opencl.runtime(int(CPU.partition(":")[2]))


def test_again_and_again(victim, fails):
    for _ in range(3):
        runtime = choose.get()
        fails(runtime, "wait")
        with pytest.raises(gs.DeviceLostError):
            runtime.synchronize()
        assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


def test_threads(victim, fails):
    """All of them are told, whichever finds it first, and all go on with one new runtime."""
    gs.normal.loglik(X, 0.0, 1.0)
    ready, told, values, chosen = threading.Barrier(6, timeout=60), [], [], []

    def work():
        with contextlib.suppress(gs.DeviceLostError):
            victim.synchronize()
        ready.wait()
        try:
            victim.kernel("", "", 1) if victim.lost else CALLS["launch"]()
        except gs.DeviceLostError as error:
            told.append(error)
        ready.wait()
        chosen.append(choose.get())
        values.append(gs.normal.logpdf(0.0, 0.0, 1.0))

    fails(victim, "launch")
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 6 and len({id(error) for error in told}) == 6
    assert values == [pytest.approx(RIGHT)] * 6
    assert victim not in chosen and len(set(chosen)) == 1


def test_a_new_thread_finds_it(victim, fails, monkeypatch):
    """One that has no queue yet, and gets none."""
    queue = cl.CommandQueue

    def refused(context, *args):
        if context == victim.context:
            raise error_of(-6)
        return queue(context, *args)

    told = []

    def work():
        try:
            victim.synchronize()
        except gs.DeviceLostError as error:
            told.append(error)

    monkeypatch.setattr(cl, "CommandQueue", refused)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told and victim.lost
    assert gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


def test_an_array_of_a_context_that_only_users_have(victim, fails):
    """A context that was adopted is given up as well, and its arrays are told apart from those of the new one."""
    from pyopencl import array

    context = cl.Context([victim.cl_device])
    theirs = array.to_device(cl.CommandQueue(context), X)
    adopted = choose.for_array(theirs)
    assert gs.normal.loglik(theirs, 0.0, 1.0) == pytest.approx(gs.normal.loglik(X, 0.0, 1.0))
    fails(adopted, "wait")
    with pytest.raises(gs.DeviceLostError):
        adopted.synchronize()
    assert adopted not in opencl._adopted.values()
    assert choose.for_array(theirs) is adopted
    with pytest.raises(gs.DeviceLostError):
        gs.normal.loglik(theirs, 0.0, 1.0)
    assert choose.get() is victim and gs.normal.logpdf(0.0, 0.0, 1.0) == pytest.approx(RIGHT)


def test_other_objects(victim, fails):
    """What keeps data on the device says so at each call; it is made anew from the same data."""
    rng = np.random.default_rng(1)
    design, y = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    made = {
        "glm": lambda: gs.GLM(gs.bernoulli_logit, y, design),
        "mixture": lambda: gs.Mixture(gs.normal, X),
        "gp": lambda: gs.gp.MarginalLikelihood(gs.rbf, X[:50], X[:50]),
        "pieces": lambda: gs.Likelihood(gs.normal, X, devices=[CPU, CPU]),
        "stream": lambda: gs.Likelihood(gs.normal, X, memory=4000),
    }
    calls = {
        "glm": lambda model, s: model(np.full(3, s)),
        "mixture": lambda model, s: model.loglik(np.log([0.75, 0.25]), np.array([0.0, 4.0]), sigma=s),
        "gp": lambda model, s: model(amplitude=1.0, lengthscale=s, sigma=0.1),  # which keeps what it found last
        "pieces": lambda model, s: model(0.0, s),
        "stream": lambda model, s: model(0.0, s),
    }
    before = {name: make() for name, make in made.items()}
    values = {name: calls[name](model, 1.0) for name, model in before.items()}
    fails(victim, "wait")
    with pytest.raises(gs.DeviceLostError):
        victim.synchronize()
    for name, model in before.items():
        for s in (0.5, 0.6):
            with pytest.raises(gs.DeviceLostError, match="make arrays and objects anew"):
                calls[name](model, s)
        assert calls[name](made[name](), 1.0) == pytest.approx(values[name], rel=1e-10)


def test_the_error_travels():
    error = pickle.loads(pickle.dumps(gs.DeviceLostError("gone")))
    assert type(error) is gs.DeviceLostError and isinstance(error, RuntimeError) and str(error) == "gone"


def test_a_process_that_lost_its_device_ends_quietly():
    output = run(f"""
        import numpy as np, pyopencl as cl, gpustats as gs
        from gpustats.runtime import choose, opencl
        gs.use({CPU!r})
        likelihood = gs.Likelihood(gs.normal, np.ones(1000))
        likelihood(0.0, 1.0)
        runtime = choose.get()
        opencl.failing = lambda device, context=None: "no work" if context is runtime.context else None
        error = RuntimeError("out of resources")
        error.code = -5
        try:
            raise runtime.lost_by(error)
        except gs.DeviceLostError as lost:
            assert "out of resources" in str(lost)
        print(gs.normal.logpdf(0.0, 0.0, 1.0))
        """)
    assert output.startswith("-0.91893") and len(output.splitlines()) == 1


# CUDA
CUDA = """
import sys
sys.path.insert(0, {helpers!r})
import cuda_stand_in as stand_in
stand_in.install()
import numpy as np, gpustats as gs
from gpustats.runtime import choose, cuda
runtime = choose.get("cuda")
gs.use("cuda")
SOURCE = 'extern "C" __global__ void nothing(long long n) {{ }}'
kernel = runtime.kernel(SOURCE, "nothing", 32)
there = runtime.to_device(np.arange(5.0))
result = runtime.result(8)
kernel((1, 1), 5)
runtime.fetch(result)
def says(call, *words):
    try:
        call()
    except gs.DeviceLostError as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError("no error")
stand_in.code, stand_in.refuses = stand_in.CUresult.{code}, {refuses}
stand_in.sick.add(runtime.context)
CALLS = dict(
    launch=lambda: kernel((1, 1), 5), wait=runtime.synchronize, fetch=lambda: runtime.fetch(result),
    allocation=lambda: runtime.empty(5, "float64"), memory=lambda: runtime.memory(np.arange(5.0)),
    upload=lambda: runtime.to_device(np.arange(5.0)), download=lambda: runtime.to_host(there),
    compile=lambda: runtime.kernel(SOURCE + "//", "nothing", 32), counters=lambda: runtime.zeroed_counters(9),
    free=runtime.free_memory,
)
says(CALLS[{place!r}], "cuda:0", "is lost", {words!r}, "beside its memory", "anew")
for call in CALLS.values():
    says(call, "is lost", "anew")
assert runtime not in cuda._runtimes.values()
"""
HELPERS = str(Path(__file__).parents[1] / "helpers")


ILLEGAL = dict(helpers=HELPERS, code="CUDA_ERROR_ILLEGAL_ADDRESS", words="illegal memory access")


@pytest.mark.parametrize("place", [
    "launch", "wait", "fetch", "allocation", "memory", "upload", "download", "compile", "counters", "free", "failed launch",
])  # fmt: skip
def test_cuda_in_a_new_context(place):
    """Where the driver makes one."""
    error = dict(code="CUDA_ERROR_LAUNCH_FAILED", words="unspecified launch failure") if " " in place else {}
    begin = CUDA.format(**{**ILLEGAL, **error}, place=place.rpartition(" ")[2], refuses=False)
    output = run(
        begin
        + """
new = choose.get()
assert new is not runtime and new is choose.get() and new.context != runtime.context
before = len(stand_in.launches)
new.kernel(SOURCE, "nothing", 32)((1, 1), 5)
new.synchronize()
assert (new.to_host(new.to_device(np.arange(5.0))) == np.arange(5.0)).all()
assert stand_in.launches[before:] == [(1, 1)] and stand_in.thread.context == new.context
says(lambda: gs.to_host(there), "is lost")
says(runtime.synchronize, "is lost")
print("right")
"""
    )
    assert output == "right\n"


def test_cuda_in_a_new_process():
    """Where the driver makes no new context, which is the rule."""
    begin = CUDA.format(**ILLEGAL, place="wait", refuses=True)
    output = run(
        begin
        + """
for _ in range(2):
    says(choose.get, "cuda:0 was lost", "start a new process")
    says(lambda: gs.to_device(np.arange(5.0)), "start a new process")
assert stand_in.thread.context == runtime.context  # as before the attempt
says(runtime.synchronize, "is lost")
print("right")
"""
    )
    assert output == "right\n"


def test_cuda_errors_that_leave_the_context():
    """A launch that the driver refuses loses nothing; nor does memory that is used up."""
    output = run(
        CUDA.format(**ILLEGAL, place="wait", refuses=False).partition("stand_in.code")[0]
        + """
from gpustats.runtime.cuda_driver import DriverError, OutOfMemory
cu, launch = sys.modules["cuda.bindings.driver"], stand_in.functions["cuLaunchKernel"]
cu.cuLaunchKernel = lambda *args: (stand_in.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,)
try:
    kernel((1, 1), 5)
except DriverError as error:
    assert "too many resources" in str(error) and not isinstance(error, OutOfMemory)
else:
    raise AssertionError
stand_in.capacity = stand_in.used
try:
    runtime.empty(1 << 20, "float64")
except MemoryError as error:
    assert "asked 0.01 GiB" in str(error)
else:
    raise AssertionError
cu.cuLaunchKernel, stand_in.capacity = launch, 1 << 33
assert not runtime.lost and choose.get() is runtime
runtime.synchronize()
print("right")
"""
    )
    assert output == "right\n"


def test_cuda_arrays_of_a_lost_context():
    """Arrays of another library that lie there are told apart from those in the new context."""
    begin = CUDA.format(**ILLEGAL, place="wait", refuses=False)
    output = run(
        begin
        + """
class Other:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__
new = choose.get()
here = new.to_device(np.arange(5.0))
assert (gs.to_host(Other(here)) == np.arange(5.0)).all()
says(lambda: gs.to_host(Other(there)), "context that is lost", "anew")
print("right")
"""
    )
    assert output == "right\n"
