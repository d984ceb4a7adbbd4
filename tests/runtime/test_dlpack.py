"""DLPack on a stand-in for a CUDA device: NumPy reads our capsules, and they live as long as anybody holds them."""

import gc
import weakref
from pathlib import Path

import cuda_stand_in
import numpy as np
import pytest
from runtimes import run

from gpustats.runtime import choose, dlpack


@pytest.fixture
def runtime(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch):
        yield choose.get("cuda:0")


class OnHost:
    """An array that says that it lies on the host, where the stand-in's memory is."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return dlpack.CPU, 0

    def __dlpack__(self, **options):
        return self._array.__dlpack__()


@pytest.fixture
def read(monkeypatch):
    def through_numpy(array):
        monkeypatch.setattr(dlpack, "CUDA", dlpack.CPU)
        return np.from_dlpack(OnHost(array))

    return through_numpy


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[1], lambda a: a[:, :, None]])
def test_numpy_reads_them(runtime, read, view, dtype):
    host = (np.arange(24).reshape(4, 6) % 5).astype(dtype)
    ours = view(runtime.to_device(host))
    runtime.synchronize()
    theirs = read(ours)
    assert theirs.dtype == dtype and theirs.ctypes.data == ours.ptr
    np.testing.assert_array_equal(theirs, view(host))


def test_there_and_back(runtime):
    ours = runtime.to_device(np.arange(24.0).reshape(4, 6))[::2, ::3]
    pointer, shape, dtype, strides = dlpack.taken(ours.__dlpack__(), "x")
    assert (pointer, shape, dtype, strides) == (ours.ptr, ours.shape, ours.dtype, ours.strides)


def test_who_holds_the_memory(runtime, read):
    def owner(array):
        return weakref.ref(array)

    unused = runtime.to_device(np.zeros(4))
    known, capsule = owner(unused), unused.__dlpack__()
    del unused
    gc.collect()
    assert known() is not None
    del capsule
    assert known() is None  # nobody took it

    taken = runtime.to_device(np.arange(4.0))
    runtime.synchronize()
    known, theirs = owner(taken), read(taken)
    del taken
    gc.collect()
    assert known() is not None and theirs.sum() == 6.0
    del theirs
    gc.collect()
    assert known() is None and not dlpack._given


@pytest.mark.parametrize("stream", [None, 0, 1, "other", -1])
def test_streams(runtime, stream):
    """The stream of who reads waits for ours, unless nobody is to wait."""
    ours = runtime.to_device(np.zeros(4))
    other = int(cuda_stand_in.cuStreamCreate(0)[1]) if stream == "other" else stream
    cuda_stand_in.calls.clear()
    ours.__dlpack__(stream=other)
    orders = [call for call in cuda_stand_in.calls if call[0] in ("cuEventRecord", "cuStreamWaitEvent")]
    made = [(name, int(first), int(second)) for name, first, second, *_ in orders]
    if stream == -1:
        assert made == []
        return
    (first, event, source), (then, waiting, awaited) = made
    assert (first, source) == ("cuEventRecord", int(runtime.state().stream))
    assert (then, waiting, awaited) == ("cuStreamWaitEvent", other or 1, event)


def test_what_cannot_be_given(runtime):
    ours = runtime.to_device(np.zeros(4))
    assert ours.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError, match="cuda:0"):
        ours.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="no copy"):
        ours.__dlpack__(copy=True)


def test_complex_numbers_are_not_given(runtime):
    with pytest.raises(BufferError, match="complex128"):
        runtime.to_device(np.zeros(4)).view("c16").__dlpack__()


def test_a_library_that_ends_after_python(tmp_path):
    """It finds a function to call, which does nothing."""
    output = run(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parents[1] / "helpers")!r})
        import atexit, ctypes
        import cuda_stand_in
        cuda_stand_in.install()
        import numpy as np
        from gpustats.runtime import choose, dlpack
        capsule = choose.get("cuda:0").to_device(np.zeros(3)).__dlpack__()
        address = dlpack._pointer(capsule, b"dltensor")
        managed = dlpack._Managed.from_address(address)
        before = managed.deleter
        assert before and len(dlpack._given) == 1
        atexit._run_exitfuncs()
        assert managed.deleter != before
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(address)
        print(len(dlpack._given))
        """
    )
    assert output == "1\n"


def test_numbers_that_are_not_real(read):
    with pytest.raises(TypeError, match="x: DLPack type code 5"):
        dlpack.taken(np.zeros(3, complex).__dlpack__(), "x")
