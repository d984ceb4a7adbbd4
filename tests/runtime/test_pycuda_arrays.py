"""Arrays of PyCUDA on request, with stand-ins for PyCUDA and the device."""

import _thread
import sys
import threading
import types

import cuda_stand_in
import numpy as np
import pytest

import gpustats as gs
from gpustats.errors import NoDeviceError
from gpustats.runtime import choose


class PyCUDA:
    """As far as gpustats asks it: a stack of contexts for each thread."""

    def __init__(self):
        self.stacks, self.modules = {}, {}  # by thread, and so longer than what Python has for a thread
        self.popped = 0
        outer = self

        class Context:
            def push(self):
                outer.stack().append(self)

            @staticmethod
            def pop():
                outer.popped += 1
                outer.stack().pop()

            @staticmethod
            def get_current():
                return outer.stack()[-1] if outer.stack() else None

        class Device:
            def __init__(self, number):
                assert number == 0

            def retain_primary_context(self):
                return Context()

        class PointerHolderBase:
            def __int__(self):
                return self.get_pointer()

        class GPUArray:
            def __init__(self, shape, dtype, gpudata, base=None):
                assert outer.stack()  # else its arithmetic fails
                self.shape, self.dtype, self.gpudata, self.base, self.strides = shape, dtype, gpudata, base, None
                self.ptr, self.size = int(gpudata), int(np.prod(shape))
                self.nbytes, self.ndim = self.size * dtype.itemsize, len(shape)
                self.flags = types.SimpleNamespace(c_contiguous=True)
                self.__cuda_array_interface__ = {
                    "shape": shape, "typestr": dtype.str, "data": (self.ptr, False), "version": 3,
                }  # fmt: skip

        GPUArray.__module__ = "pycuda.gpuarray"
        self.Context, self.GPUArray = Context, GPUArray
        driver, arrays, package = (types.ModuleType(n) for n in ("pycuda.driver", "pycuda.gpuarray", "pycuda"))
        driver.Context, driver.Device, driver.init = Context, Device, lambda: None
        driver.PointerHolderBase, arrays.GPUArray = PointerHolderBase, GPUArray
        package.driver, package.gpuarray = driver, arrays
        self.modules = {m.__name__: m for m in (package, driver, arrays)}

    def stack(self):
        return self.stacks.setdefault(threading.get_ident(), [])


@pytest.fixture
def pycuda(monkeypatch):
    made = PyCUDA()
    with cuda_stand_in.in_place(monkeypatch):
        for name, module in made.modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        yield made


def test_on_request(pycuda):
    host = np.arange(12.0).reshape(3, 4)
    with gs.use("cuda:0", arrays="pycuda"):
        given = gs.to_device(host)
        assert isinstance(given, pycuda.GPUArray) and given.shape == (3, 4)
        np.testing.assert_array_equal(gs.to_host(given), host)
    with gs.use("cuda:0"):
        assert isinstance(gs.to_device(host), gs.DeviceArray)


def test_where_the_program_has_a_context_of_pycuda(pycuda):
    pycuda.Context().push()
    with gs.use("cuda:0"):
        assert isinstance(gs.to_device(np.zeros(3)), pycuda.GPUArray)
    with gs.use("cuda:0", arrays="gpustats"):
        assert isinstance(gs.to_device(np.zeros(3)), gs.DeviceArray)
    assert len(pycuda.stack()) == 1  # nothing beside the program's own


def test_a_block_that_asks_for_no_kind_changes_none(pycuda):
    with gs.use("cuda:0"):
        gs.use("cuda:0", arrays="pycuda")
    with gs.use("cuda:0"):
        assert isinstance(gs.to_device(np.zeros(3)), pycuda.GPUArray)


def test_an_array_of_another_thread_is_read_when_it_is_written(pycuda):
    gs.use("cuda:0", arrays="pycuda")
    runtime, made = choose.get(), []

    def write():
        array = runtime.empty((6,), np.float64)
        for _ in range(3):  # more than ends when the driver is asked once
            runtime.state().passing.to_device(int(array.gpudata), np.arange(6.0).view(np.uint8))
        made.extend([array, pycuda.GPUArray((3,), array.dtype, array.ptr + 24, base=array)])

    runtime.state()
    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    for array in made:
        assert runtime.memory(array) == (array.ptr, 0)
    assert cuda_stand_in.count("cuStreamWaitEvent") == 2
    pycuda.Context().push()
    foreign = pycuda.GPUArray((6,), np.dtype(float), made[0].ptr)  # of PyCUDA's own memory, in the order of its stream
    assert runtime.memory(foreign) == (foreign.ptr, 0) and cuda_stand_in.count("cuStreamWaitEvent") == 2


def test_the_kind_outlives_a_lost_device(pycuda):
    gs.use("cuda:0", arrays="pycuda")
    before = choose.get()
    before.synchronize()
    cuda_stand_in.sick.add(before.context)
    with pytest.raises(gs.DeviceLostError):
        before.synchronize()
    assert choose.get() is not before and choose.get().arrays == "pycuda"


def test_the_environment(pycuda, monkeypatch):
    monkeypatch.setenv("GPUSTATS_ARRAYS", "pycuda")
    with gs.use("cuda:0"):
        assert isinstance(gs.to_device(np.zeros(3)), pycuda.GPUArray)


def test_each_thread_pops_what_it_has_pushed(pycuda):
    found = []

    def work():
        for _ in range(3):
            gs.to_device(np.zeros(3))
        found.append(len(pycuda.stack()))

    gs.use("cuda:0", arrays="pycuda")
    for count in (1, 2, 3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == [1] * count and pycuda.popped == count


def test_memory_is_held_by_the_array(pycuda):
    with gs.use("cuda:0", arrays="pycuda"):
        given = gs.to_device(np.arange(1000.0))
        others = [gs.to_device(np.zeros(1000)) for _ in range(4)]
        np.testing.assert_array_equal(gs.to_host(given), np.arange(1000.0))
        assert len(others) == 4


def test_kinds_that_there_are_not(pycuda, monkeypatch):
    with pytest.raises(ValueError, match="arrays = 'numpy': it is 'gpustats' or 'pycuda'"):
        gs.use("cuda:0", arrays="numpy")
    monkeypatch.setattr(sys.modules["gpustats.runtime.pycuda_arrays"], "_classes", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    with pytest.raises(NoDeviceError, match=r"PyCUDA, which does not load .*pip install 'gpustats\[pycuda\]'"):
        gs.use("cuda:0", arrays="pycuda")


def test_other_devices_have_one_kind():
    cpu = [device.id for device in gs.devices() if device.backend == "opencl"]
    if not cpu:
        pytest.skip("no OpenCL device")
    with pytest.raises(ValueError, match=f"{cpu[-1]} gives arrays of PyOpenCL"):
        gs.use(cpu[-1], arrays="pycuda")


def test_a_thread_that_python_has_not_started_keeps_nothing_pushed(pycuda):
    """The process would be ended where it ends."""
    made, done = [], threading.Event()

    def work():
        made.extend([gs.to_device(np.zeros(3)), pycuda.stack()[:]])
        done.set()

    gs.use("cuda:0", arrays="pycuda")
    _thread.start_new_thread(work, ())
    assert done.wait(20)
    assert isinstance(made[0], pycuda.GPUArray) and made[1] == [] and pycuda.popped >= 1
