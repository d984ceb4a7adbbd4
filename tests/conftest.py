"""What all tests share."""

import dataclasses
import gc
import os
import signal

# Before NumPy loads it. Threads that share small matrices wait for one another most of the time, the more so where each core
# has a process of tests already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# PyTensor notes for each variable of a graph which line has made it: a tenth of the time that models take to compile.
# What Intel's compiler does not optimise, g++ and Numba need not either.
os.environ.setdefault(
    "PYTENSOR_FLAGS", "traceback__limit=0" + ",gcc__cxxflags=-O0" * (os.environ.get("GPUSTATS_OPTIMISE") == "0")
)
os.environ.setdefault("NUMBA_OPT", "0" if os.environ.get("GPUSTATS_OPTIMISE") == "0" else "3")

import numpy as np
import pytest
from layouts import another, like_a_gpu
from matrices import LEAF

import gpustats as gs
from gpustats.language.library import library
from gpustats.linalg import where
from gpustats.linalg.host import HostProvider
from gpustats.linalg.kernels import KernelProvider
from gpustats.processes import factor, sets
from gpustats.runtime import choose
from gpustats.runtime.compiler import WITHOUT_OPTIMISATION

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in a shell's background job, whose children would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def one_density_after_another(items):
    """Sort the tests of each file by their parameter `name`: one process makes the kernels and references that they share."""
    files = [item.path for item in items]
    names = [str(item.callspec.params.get("name")) if hasattr(item, "callspec") else "" for item in items]
    places = {}  # of files, and of names in them, in the order in which they appear
    for key in (*files, *zip(files, names)):
        places.setdefault(key, len(places))
    places_of = dict(zip(items, ((places[f], places[f, n]) for f, n in zip(files, names))))
    items.sort(key=places_of.get)


def pytest_collection_modifyitems(items):
    one_density_after_another(items)
    if any(device.backend == "cuda" for device in gs.devices()):
        return
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def pytest_collection_finish():
    """What was imported stays: the collector of garbage need not go through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)  # PyTensor's graphs are many small objects, which it need not count so often


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """What a file has left stays, too: each collection would go through millions of objects, of all files before."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture
def rng():
    return np.random.default_rng(2011)


@pytest.fixture(scope="session")
def optimising():
    """A runtime whose compiler optimises; the other one goes on without."""
    runtime = choose.get()
    with another(runtime) as made:
        assert runtime._options  # kept from here on
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GPUSTATS_OPTIMISE", "1")
            assert WITHOUT_OPTIMISATION not in made._options
        yield made


@pytest.fixture(autouse=True)
def optimised(request):
    """Tests that are so marked run as users do, where others go without what Intel's compiler takes to optimise."""
    asked = os.environ.get("GPUSTATS_OPTIMISE") == "0" and "optimised" in request.keywords
    if asked and [device.backend for device in gs.devices()[:1]] == ["opencl"]:
        with gs.use(request.getfixturevalue("optimising")), pytest.MonkeyPatch.context() as patch:
            patch.setenv("GPUSTATS_OPTIMISE", "1")
            yield
    else:
        yield


@pytest.fixture(scope="module", name="like_a_gpu")
def device_like_a_gpu():
    try:
        runtime = choose.get("cpu")
    except (ValueError, gs.NoDeviceError):
        pytest.skip("needs an OpenCL runtime for the CPU")
    with like_a_gpu(runtime) as made:
        yield made


@pytest.fixture
def multiplying(request):
    """A runtime whose device has units for products of small matrices, or is treated as one."""
    runtime = choose.get()
    whole = runtime.device
    if not whole.products:
        runtime = request.getfixturevalue("like_a_gpu")
        whole = runtime.device
        runtime.device = dataclasses.replace(whole, products=True, shared_memory=1 << 17)
    with gs.use(runtime):
        yield runtime
    runtime.device = whole


@pytest.fixture(params=["device", "gpu"])
def layout(request):
    """Kernels laid out for the device that there is, and for a GPU."""
    if request.param == "device":
        yield choose.get()
    else:
        made = request.getfixturevalue("like_a_gpu")
        with gs.use(made):
            yield made


@pytest.fixture(params=["best", "kernels"])
def provider(request, monkeypatch):
    """Linear algebra by the device's best provider, and by our own kernels; small matrices are cut in blocks, too.

    No matrix of a Gaussian process is left to one block of threads.
    """
    monkeypatch.setattr(sets, "MOST_FOR_ONE_SET", dict.fromkeys(sets.MOST_FOR_ONE_SET, 0))
    if request.param == "kernels":
        own = KernelProvider(choose.get())
        for module in (where, factor):
            monkeypatch.setattr(module, "provider_of", lambda runtime: own)
    for name in ("leaf", "dense"):
        monkeypatch.setattr(HostProvider, name, LEAF)
        monkeypatch.setattr(KernelProvider, name, LEAF)
    return request.param


#: what registering changes
KEPT = [(library, name) for name in ("_parsed", "_registered", "_functions")]
#: what may change how kernels are made
CHANGING = {"monkeypatch", "multiplying"}


@pytest.fixture(autouse=True)
def library_as_before(request):
    """Forget what a test registers; where it changes how kernels are made, it has densities of its own."""
    kept = [*KEPT, (gs.densities, "_made")] if CHANGING & {*request.fixturenames} else KEPT
    before = [(holder, name, dict(getattr(holder, name))) for holder, name in kept]
    if kept is not KEPT:
        gs.densities._made.clear()
    yield
    for holder, name, value in before:
        setattr(holder, name, value)
