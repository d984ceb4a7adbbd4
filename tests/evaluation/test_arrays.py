"""Arrays of other libraries: in without a copy, out as the same kind."""

import threading

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.runtime import choose, get
from gpustats.runtime.arrays import is_device_array

X = np.linspace(-3, 3, 60)
WANT = stats.norm.logpdf(X, 0.5, 2)

pytestmark = pytest.mark.filterwarnings("ignore:Non-empty compiler output")  # PyOpenCL's own kernels


def test_there_and_back():
    for array in (
        X,
        X.astype(np.float32),
        X.reshape(3, 4, 5)[::2, ::-1],
        np.arange(5),
        np.array(3.0),
        np.empty((0, 2)),
    ):
        device = gs.to_device(array)
        assert is_device_array(device) and gs.to_device(device) is device
        assert device.dtype == (np.float32 if array.dtype == np.float32 else np.float64)
        np.testing.assert_array_equal(gs.to_host(device), array)
    assert gs.to_host(X) is X


def test_views_of_device_arrays_come_back_as_they_are():
    array = np.arange(24.0).reshape(4, 6)
    device = gs.to_device(array)
    for view in (lambda a: a.T, lambda a: a[1:3], lambda a: a[::2], lambda a: a[:, 1:4], lambda a: a[:, ::2].T):
        np.testing.assert_array_equal(gs.to_host(view(device)), view(array))


def test_device_arrays_are_used_where_they_lie(monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("copied")

    x, offset = gs.to_device(X), gs.to_device(np.r_[np.nan, X])[1:]
    with monkeypatch.context() as patch:
        for name in ("to_device", "to_host"):
            patch.setattr(type(choose.get()), name, forbidden)
        patch.setattr("gpustats.evaluation.placement.gather", forbidden)
        outs = [gs.normal.logpdf(a, 0.5, 2.0) for a in (x, offset, x.reshape(6, 10))]
        sums = [gs.normal.loglik(a, 0.5, 2.0) for a in (x, offset)]
    for out in outs:
        assert type(out) is type(x) and out.dtype == np.float64
        np.testing.assert_allclose(gs.to_host(out).ravel(), WANT, rtol=1e-13)
    np.testing.assert_allclose(sums, WANT.sum(), rtol=1e-13)


def test_offsets_and_strides():
    x = gs.to_device(np.r_[np.nan, np.nan, X])[2:]
    assert x.offset == 16 if hasattr(x, "offset") else True
    np.testing.assert_allclose(gs.to_host(gs.normal.logpdf(x, 0.5, 2.0)), WANT, rtol=1e-13)
    np.testing.assert_allclose(gs.normal.loglik(x, 0.5, 2.0), WANT.sum(), rtol=1e-13)
    square = gs.to_device(X.reshape(6, 10))
    for view, want in [(square.T, WANT.reshape(6, 10).T), (square[::2, 1:], WANT.reshape(6, 10)[::2, 1:])]:
        np.testing.assert_allclose(gs.to_host(gs.normal.logpdf(view, 0.5, 2.0)), want, rtol=1e-13)
        np.testing.assert_allclose(gs.normal.loglik(view, 0.5, 2.0), want.sum(-1), rtol=1e-13)


def test_numpy_and_device_arrays_together(rng):
    mu, sigma = rng.normal(size=4), rng.uniform(1, 2, 4)
    want = stats.norm.logpdf(X[:, None], mu, sigma)
    x, column = gs.to_device(X), gs.to_device(X[:, None])
    for args in [
        (column, mu, sigma),
        (X[:, None], gs.to_device(mu), sigma),
        (column, gs.to_device(mu), gs.to_device(sigma)),
    ]:
        out = gs.normal.logpdf(*args)
        assert is_device_array(out)
        np.testing.assert_allclose(gs.to_host(out), want, rtol=1e-12)
    sums = gs.normal.loglik(x, mu[:, None], sigma[:, None])
    assert isinstance(sums, np.ndarray)
    np.testing.assert_allclose(sums, want.sum(0), rtol=1e-12)
    sums = gs.normal.loglik(x, gs.to_device(mu[:, None]), sigma[:, None])
    assert is_device_array(sums) and sums.dtype == np.float64
    np.testing.assert_allclose(gs.to_host(sums), want.sum(0), rtol=1e-12)
    per_row = gs.normal.loglik(x, gs.to_device(X / 2), 1.0)
    assert type(per_row) is float and per_row == pytest.approx(stats.norm.logpdf(X, X / 2).sum())


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.bool_, np.float32, np.float64])
def test_device_arrays_of_other_types(dtype):
    array = np.array([0, 1, 1, 0, 1]).astype(dtype)
    out = gs.bernoulli.logpmf(choose.get().to_device(array), 0.25)
    assert out.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_allclose(gs.to_host(out), np.log([0.75, 0.25, 0.25, 0.75, 0.25]), rtol=1e-6)


def test_mixed_precision():
    x = gs.to_device(X.astype(np.float32))
    assert gs.normal.logpdf(x, 0.5, 2.0).dtype == np.float32
    assert gs.normal.logpdf(x, gs.to_device(np.zeros(1)), 2.0).dtype == np.float64


def test_empty_device_arrays():
    out = gs.normal.logpdf(gs.to_device(np.empty((0, 1))), np.zeros(3), 1.0)
    assert is_device_array(out) and out.shape == (0, 3)
    assert gs.normal.loglik(gs.to_device(np.empty(0)), 0.0, 1.0) == 0
    assert gs.normal.logpdf(gs.to_device(np.array(0.5)), 0.0, 1.0).shape == ()


def test_a_number_in_a_device_array():
    one = gs.to_device(np.ones(1))
    np.testing.assert_allclose(
        gs.to_host(gs.normal.logpdf(gs.to_device(X), one, one)), stats.norm.logpdf(X, 1, 1), rtol=1e-13
    )
    np.testing.assert_allclose(gs.normal.loglik(X, one, one), stats.norm.logpdf(X, 1, 1).sum(), rtol=1e-13)


def test_vectors_on_the_device(rng):
    x, a = rng.dirichlet(np.ones(4), 20), rng.uniform(1, 3, (3, 4))
    want = np.array([[stats.dirichlet.logpdf(row, p) for p in a] for row in x])
    np.testing.assert_allclose(
        gs.to_host(gs.dirichlet.logpdf(gs.to_device(x[:, None]), gs.to_device(a))), want, rtol=1e-11
    )
    np.testing.assert_allclose(gs.dirichlet.loglik(gs.to_device(x), a[:, None]), want.sum(0), rtol=1e-11)


def test_arrays_of_two_devices_are_refused():
    here = choose.get()
    others = [get(device) for device in gs.devices() if get(device) is not here]
    if not others:
        pytest.skip("one device only")
    x, mu = here.to_device(X), others[0].to_device(np.zeros(60))
    for call in (gs.normal.logpdf, gs.normal.loglik):
        with pytest.raises(ValueError, match=f"different devices.*x on {here.device.id}, mu on {others[0].device.id}"):
            call(x, mu, 1.0)
    with pytest.raises(ValueError, match="different devices"):
        gs.Likelihood(gs.normal, x)(mu, 1.0)
    np.testing.assert_allclose(gs.to_host(gs.normal.logpdf(mu, 0.0, 1.0)), stats.norm.logpdf(np.zeros(60)), rtol=1e-13)


def test_the_array_decides_the_device():
    here = choose.get()
    for device in gs.devices():
        x = get(device).to_device(X[:5])
        with gs.use(device):
            assert choose.for_array(gs.to_device(X)) is get(device)
        assert choose.for_array(gs.normal.logpdf(x, 0.5, 2.0)) is get(device)
    assert choose.get() is here


def test_results_on_the_device_outlive_their_arguments():
    outs = [gs.normal.logpdf(gs.to_device(X), np.full(60, 0.5), 2.0) for _ in range(20)]
    for out in outs:
        np.testing.assert_allclose(gs.to_host(out), WANT, rtol=1e-13)


def test_device_arrays_in_threads():
    x, wrong = gs.to_device(X), []

    def work():
        for _ in range(20):
            if not np.allclose(gs.to_host(gs.normal.logpdf(x, 0.5, 2.0)), WANT, rtol=1e-13, atol=0):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_users_own_pyopencl_context():
    cl = pytest.importorskip("pyopencl")
    from pyopencl import array as cl_array

    if not any(device.backend == "opencl" for device in gs.devices()):
        pytest.skip("no OpenCL device")
    from gpustats.runtime.opencl import cl_devices

    device = next((d for d in cl_devices() if "Oclgrind" not in d.name), None)
    if device is None:
        pytest.skip("no OpenCL device but a simulator")
    context = cl.Context([device])  # Intel's queues do not keep it alive
    queue = cl.CommandQueue(context)
    x = cl_array.to_device(queue, X)
    out = gs.normal.logpdf(x, 0.5, 2.0)
    assert isinstance(out, cl_array.Array) and out.context == x.context
    np.testing.assert_allclose((out + x).get(), WANT + X, rtol=1e-13)  # PyOpenCL computes on with it
    if choose.get().device.backend == "opencl":
        with pytest.raises(ValueError, match="different devices"):
            gs.normal.logpdf(x, gs.to_device(X), 1.0)


# ---- objects on the host


class WithArray:
    def __array__(self, dtype=None, copy=None):
        return X


class WithDLPack:
    def __dlpack__(self, **kwargs):
        return X.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return X.__dlpack_device__()


@pytest.mark.parametrize(
    "x",
    [WithArray(), WithDLPack(), X.tolist(), tuple(X), memoryview(X), np.ma.array(X)],
    ids=lambda x: type(x).__name__,
)
def test_what_converts_to_arrays(x):
    out = gs.normal.logpdf(x, 0.5, 2.0)
    assert type(out) is np.ndarray
    np.testing.assert_allclose(out, WANT, rtol=1e-13)


@pytest.mark.parametrize(
    "wrong",
    [
        X + 1j, 1j, X.astype(object), "text", np.array(["a"]), None, [None],
        np.array("2020-01-01", "M8[D]"), {1.0}, np.zeros(3, [("a", float)]),
    ],
    ids=lambda v: str(getattr(v, "dtype", type(v).__name__)),
)  # fmt: skip
def test_other_types_are_refused(wrong):
    for args in [(wrong, 0.0, 1.0), (0.0, wrong, 1.0)]:
        for call in (gs.normal.logpdf, gs.normal.loglik):
            with pytest.raises(TypeError, match=r"^(x|mu) has dtype"):
                call(*args)


@pytest.mark.parametrize("dtype, wanted", [(">f8", "f8"), (">f4", "f4"), ("f2", "f8"), ("longdouble", "f8"), (">i4", "f8")])
def test_other_sizes_and_byte_orders(dtype, wanted):
    x = np.round(X).astype(dtype)
    for given in (x, x[1]):
        out = gs.normal.logpdf(given, 0.5, 2.0)
        assert out.dtype == wanted
        np.testing.assert_allclose(out, gs.normal.logpdf(given.astype(wanted), 0.5, 2.0), rtol=1e-15)


def test_single_numbers():
    """NumPy's float32 without axes is as good as an array where there is none; Python's numbers go along."""
    one = np.float32(1)
    for args in [(one, 0.0, 1.0), (one, np.array(0, "f4"), one), (0.5, 0.5, one)]:
        assert gs.normal.logpdf(*args).dtype == gs.normal.pdf(*args).dtype == np.float32
    for args in [(one, np.float64(0), 1.0), (one, X, 1.0), (one, np.int64(0), 1.0), (1.0, 0.0, 1.0)]:
        assert gs.normal.logpdf(*args).dtype == np.float64
    assert gs.normal.logpdf(X.astype("f4"), np.float64(0.5), 1.0).dtype == np.float32
    assert gs.normal.rvs(one, 1.0).dtype == gs.normal.rvs(one, 1.0, size=3).dtype == np.float32


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="mask"):
        gs.normal.logpdf(np.ma.array(X, mask=X > 0), 0.0, 1.0)


# ---- CUDA


@pytest.mark.cuda
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cuda_arrays_of_other_libraries(library, dtype):
    module = pytest.importorskip(library)
    if library == "torch":
        x = module.tensor(X.reshape(6, 10), dtype=getattr(module, dtype), device="cuda")
    elif library == "cupy":
        x = module.asarray(X.reshape(6, 10).astype(dtype))
    else:
        module.config.update("jax_enable_x64", True)
        x = module.device_put(X.reshape(6, 10).astype(dtype), module.devices("gpu")[0])
    rtol = 1e-12 if dtype == "float64" else 1e-5
    views = [(x, WANT.reshape(6, 10)), (x.T, WANT.reshape(6, 10).T)]
    for view, want in views:
        out = gs.normal.logpdf(view, 0.5, 2.0)
        assert is_device_array(out) and out.dtype == dtype
        np.testing.assert_allclose(out.get(), want, rtol=rtol)
        np.testing.assert_allclose(gs.normal.loglik(view, 0.5, 2.0), want.sum(-1), rtol=rtol)


@pytest.mark.cuda
def test_gpuarrays():
    gpuarray = pytest.importorskip("pycuda.gpuarray")
    with gs.use("cuda", arrays="pycuda"):
        x = gs.to_device(X.reshape(6, 10))
        assert isinstance(x, gpuarray.GPUArray)
        for view, want in [(x, WANT.reshape(6, 10)), (x[2:], WANT.reshape(6, 10)[2:]), (x.T, WANT.reshape(6, 10).T)]:
            out = gs.normal.logpdf(view, 0.5, 2.0)
            assert isinstance(out, gpuarray.GPUArray)
            np.testing.assert_allclose((2 * out).get(), 2 * want, rtol=1e-12)
