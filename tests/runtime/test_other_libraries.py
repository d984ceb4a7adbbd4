"""Arrays that pass between gpustats and CuPy, PyTorch, JAX and PyCUDA on a CUDA device, without a copy and in order."""

import os

import numpy as np
import pytest
from runtimes import run

import gpustats as gs

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves memory to others
pytestmark = pytest.mark.cuda
X = np.linspace(-2, 3, 60)
WANT = -0.5 * X * X - 0.5 * np.log(2 * np.pi)


@pytest.fixture(autouse=True)
def on_cuda():
    with gs.use("cuda", arrays="gpustats"):
        yield


def log_density(array):
    return gs.to_host(gs.normal.logpdf(array, 0.0, 1.0))


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.reshape(6, 10).T, lambda a: a[::-3], lambda a: a[:0]])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_cupy(view, dtype):
    cupy = pytest.importorskip("cupy")
    host = (10 * X).astype(dtype)
    ours = view(gs.to_device(host)) if dtype != "int32" else view(gs.use("cuda").runtime.to_device(host))
    for theirs in (cupy.asarray(ours), cupy.from_dlpack(ours)):
        assert theirs.data.ptr == ours.ptr or not ours.size
        assert theirs.dtype == dtype and theirs.shape == ours.shape
        np.testing.assert_array_equal(theirs.get(), view(host))
        np.testing.assert_allclose(log_density(theirs), gs.normal.logpdf(view(host), 0.0, 1.0), rtol=1e-6)


def test_cupy_on_another_device():
    cupy = pytest.importorskip("cupy")
    if not any(device.id == "cuda:1" for device in gs.devices()):
        pytest.skip("one device")
    with cupy.cuda.Device(1):
        theirs = cupy.asarray(X)
    out = gs.normal.logpdf(theirs, 0.0, 1.0)
    assert out.device.id == "cuda:1"
    np.testing.assert_allclose(out.get(), WANT, rtol=1e-13)


def test_torch():
    torch = pytest.importorskip("torch")
    ours = gs.normal.logpdf(gs.to_device(X), 0.0, 1.0)
    for theirs in (torch.as_tensor(ours, device="cuda"), torch.from_dlpack(ours)):
        assert theirs.data_ptr() == ours.ptr
        np.testing.assert_allclose(theirs.cpu().numpy(), WANT, rtol=1e-13)
        theirs += 1.0
        np.testing.assert_allclose(ours.get(), WANT + 1.0, rtol=1e-13)
        theirs -= 1.0
    np.testing.assert_allclose(log_density(torch.as_tensor(X, device="cuda")), WANT, rtol=1e-13)


def test_jax():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        ours = gs.normal.logpdf(gs.to_device(X), 0.0, 1.0)
        theirs = jax.dlpack.from_dlpack(ours)
        assert theirs.unsafe_buffer_pointer() == ours.ptr
        np.testing.assert_allclose(np.asarray(theirs + 1), WANT + 1, rtol=1e-13)
        np.testing.assert_allclose(log_density(jax.numpy.asarray(X)), WANT, rtol=1e-13)


def test_numba():
    cuda = pytest.importorskip("numba.cuda")
    ours = gs.to_device(X)
    assert cuda.as_cuda_array(ours).__cuda_array_interface__["data"][0] == ours.ptr
    np.testing.assert_array_equal(cuda.as_cuda_array(ours).copy_to_host(), X)


@pytest.mark.parametrize("non_blocking", [True, False])
def test_streams_of_cupy(non_blocking):
    """What another stream still writes is read when it is written, and what ours still writes by the other stream."""
    cupy = pytest.importorskip("cupy")
    n, stream = 20_000_000, cupy.cuda.Stream(non_blocking=non_blocking)
    for turn in range(1, 6):
        with stream:
            made = cupy.zeros(n)
            for _ in range(turn):
                made += 1.0
            assert float(gs.normal.logpdf(made, 0.0, 1.0)[n - 1].item()) == pytest.approx(-0.5 * turn**2 - 0.9189385332046727)
            ours = gs.normal.logpdf(made, 0.0, 1.0)
            assert float(cupy.from_dlpack(ours)[-1]) == pytest.approx(-0.5 * turn**2 - 0.9189385332046727)
            assert float(cupy.asarray(ours)[-1]) == pytest.approx(-0.5 * turn**2 - 0.9189385332046727)


def test_an_array_lives_as_long_as_another_library_holds_it():
    torch = pytest.importorskip("torch")
    held = [torch.from_dlpack(gs.to_device(np.full(1000, float(i)))) for i in range(20)]
    others = [gs.to_device(np.full(1000, -1.0)) for _ in range(20)]
    assert [float(t.sum()) for t in held] == [1000.0 * i for i in range(20)] and len(others) == 20


def test_all_libraries_in_one_process():
    """One context serves all; the process ends quietly while they hold our arrays."""
    for name in ("cupy", "torch", "jax"):
        pytest.importorskip(name)
    output = run(
        """
        import numpy as np, cupy, torch, jax
        from cuda.bindings import driver
        import gpustats as gs
        runtime = gs.use("cuda", arrays="gpustats").runtime
        jax.config.update("jax_enable_x64", True)
        x = np.linspace(-1, 1, 1000)
        likelihood, want = gs.Likelihood(gs.normal, x), gs.Likelihood(gs.normal, x)(0.0, 1.0)
        held = []
        for _ in range(20):
            ours = gs.normal.logpdf(gs.to_device(x), 0.0, 1.0)
            held += [cupy.asarray(ours), torch.from_dlpack(ours), jax.dlpack.from_dlpack(ours)]
            sums = [float(held[-3].sum()), float(held[-2].sum()), float(held[-1].sum()), likelihood(0.0, 1.0)]
            assert np.allclose(sums, want, rtol=1e-12), sums
            assert int(driver.cuCtxGetCurrent()[1]) == int(runtime.context)
        print("right")
        """
    )
    assert output.startswith("right\n")


def test_pycuda_beside_us():
    """Its arrays are taken and given, with its arithmetic, in a program whose context PyCUDA has made."""
    pytest.importorskip("pycuda")
    output = run(
        """
        import numpy as np
        import pycuda.autoinit
        from pycuda import gpuarray
        import gpustats as gs
        x = np.linspace(-2, 3, 60)
        want = -0.5 * x * x - 0.5 * np.log(2 * np.pi)
        there = gpuarray.to_gpu(x)
        with gs.use("cuda"):
            out = gs.normal.logpdf(there, 0.0, 1.0)
            assert isinstance(out, gpuarray.GPUArray)
            assert np.allclose((2 * out + there).get(), 2 * want + x, rtol=1e-13)
            likelihood = gs.Likelihood(gs.normal, there)
            assert np.isclose(likelihood(0.0, 1.0), want.sum(), rtol=1e-13)
        with gs.use("cuda", arrays="gpustats"):
            assert isinstance(gs.to_device(x), gs.DeviceArray)
        print("right")
        """
    )
    assert output.startswith("right\n")


def test_arrays_of_pycuda_on_request():
    pytest.importorskip("pycuda")
    output = run(
        """
        import threading
        import numpy as np
        import gpustats as gs
        def work():
            a = gs.to_device(np.arange(5.0))
            found.append((type(a).__module__, float((a * 2).get().sum())))
        found = []
        gs.use("cuda", arrays="pycuda")
        work()
        for _ in range(3):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        print(found == [("pycuda.gpuarray", 20.0)] * 4)
        """
    )
    assert output.startswith("True\n")
