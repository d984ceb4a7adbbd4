"""The choice of a device."""

import sys
import threading

import numpy as np
import pytest
from runtimes import AFFINE, CPU, HEADERS, affine, needs_cpu, run

from gpustats.errors import NoDeviceError
from gpustats.runtime import Device, choose, devices, for_array, get, use


def test_devices_describe_themselves():
    for device in devices():
        assert device.id in str(device) and device.name in str(device)
        assert device.type in ("gpu", "cpu", "accelerator") and device.memory > 0 and device.max_threads > 0
        assert get(device).device == device and get(device.id) is get(device)


def test_unknown_devices():
    with pytest.raises(ValueError, match="opencl:0" if CPU else "cuda:0"):
        get("opencl:99" if CPU else "cuda:99")
    with pytest.raises(ValueError, match="abacus"):
        get("abacus")


@needs_cpu
def test_cpu_prefers_a_real_driver():
    assert get("cpu").device.id == CPU


@needs_cpu
def test_use_is_restored():
    before = get()
    other = get(next(device for device in devices() if get(device) is not before) if len(devices()) > 1 else CPU)
    with use(other.device) as device:
        assert device == other.device and get() is other
        seen = []
        thread = threading.Thread(target=lambda: seen.append(get()))
        thread.start()
        thread.join()
        assert seen == [before]  # a block's choice is its own thread's
        with pytest.raises(ZeroDivisionError), use(before.device.id):
            assert get() is before
            _ = 1 / 0
        assert get() is other
    assert get() is before
    previous = choose._default
    try:
        use(other.device.id)
        assert get() is other
    finally:
        choose._default = previous


def test_environment_names_the_device():
    for device in devices():
        output = run("from gpustats.runtime import get; print(get().device.id)", GPUSTATS_DEVICE=device.id)
        assert output.split()[-1] == device.id


def test_oclgrind_can_be_chosen_by_name():
    if not any("Oclgrind" in device.name for device in devices()):
        pytest.skip("no Oclgrind")
    output = run(
        f"""
        import numpy as np
        from gpustats.runtime import get
        runtime = get()
        kernel = runtime.kernel({HEADERS["opencl"] + AFFINE!r}, "affine", 8)
        result = runtime.result(64)
        kernel((1, 1), runtime.memory(np.arange(8.0))[0], 8, 2.0, 1, 0.5, result.handle)
        assert (runtime.fetch(result).view(np.float64) == 2 * np.arange(8) + 1.5).all()
        print(runtime.device)
        """,
        GPUSTATS_DEVICE="oclgrind",
    )
    assert "Oclgrind" in output


def test_no_device_says_what_to_install(tmp_path):
    for module in ("pyopencl", "cuda"):
        (tmp_path / f"{module}.py").write_text(f"raise ImportError('{module} is hidden')")
    output = run(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from gpustats.errors import NoDeviceError
        from gpustats.runtime import devices, get
        assert devices() == []
        for spec in (None, "cpu", "gpu", "cuda:0"):
            try:
                get(spec)
            except NoDeviceError as error:
                print(error)
        """
    )
    assert output.count("pip install 'gpustats[cpu]'") == 4
    assert "PyOpenCL does not load (pyopencl is hidden)" in output and "cuda-bindings does not load (cuda is hidden)" in output
    assert "`gpustats doctor` tells what this machine lacks" in output


def test_no_driver_says_what_to_install(tmp_path):
    pytest.importorskip("pyopencl")
    output = run(
        """
        from gpustats.errors import NoDeviceError
        from gpustats.runtime import get
        try:
            get("cpu")
        except (NoDeviceError, ValueError) as error:  # a bundled simulator counts as a device
            print(type(error).__name__, error)
        else:
            print("bundled")
        """,
        OCL_ICD_VENDORS=str(tmp_path),
    )
    assert "gpustats[cpu]" in output or "bundled" in output


def test_arrays_know_their_runtime(runtime):
    assert for_array(np.zeros(3)) is None and for_array([1, 2]) is None and for_array(1.0) is None
    assert for_array(runtime.to_device(np.zeros(3))) is runtime


@needs_cpu
@pytest.mark.filterwarnings("ignore:Non-empty compiler output")  # PyOpenCL's own kernels
def test_a_users_own_context():
    cl = pytest.importorskip("pyopencl")
    from pyopencl.array import to_device

    device = get(CPU).cl_device
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    array = to_device(queue, np.arange(64.0)) * 2
    runtime = for_array(array)
    assert runtime is for_array(array) and runtime is not get(CPU)
    assert runtime.device.id == CPU
    out = runtime.empty((64,), np.float64)
    handle, offset = runtime.memory(array)
    affine(runtime)((1, 1), handle, 64, 1.0, 0, 0.0, runtime.memory(out)[0])
    np.testing.assert_array_equal(out.get(), np.arange(64.0) * 2)
    np.testing.assert_array_equal((out + array).get(), np.arange(64.0) * 4)


def test_devices_are_values():
    device = devices()[0] if devices() else None
    assert device is None or (isinstance(device, Device) and device in {device})


def test_an_array_on_a_gpu_without_the_bindings(monkeypatch):
    class OnTheGPU:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}

    for name in ("cuda", "cuda.bindings"):
        monkeypatch.setitem(sys.modules, name, None)  # as where they are not installed
    for name in [name for name in sys.modules if name.startswith("gpustats.runtime.cuda")]:
        if name != "gpustats.runtime.cuda_wheels":
            monkeypatch.delitem(sys.modules, name)
    choose._backend.cache_clear()
    with pytest.raises(NoDeviceError, match="on a device of cuda, and cuda-bindings does not load (.|\n)*gpustats doctor"):
        for_array(OnTheGPU())
