"""The runtimes: kernels, memory, caches, threads, and the choice of a device."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from gpustats.errors import CompileError, DeviceFunctionError, NoDeviceError
from gpustats.runtime import Device, choose, devices, for_array, get, host_pool, use

IDS = [device.id for device in devices() if "Oclgrind" not in device.name]
CPU = next((device.id for device in devices() if device.type == "cpu" and "Oclgrind" not in device.name), None)
needs_cpu = pytest.mark.skipif(CPU is None, reason="no OpenCL CPU device")

HEADERS = {
    "opencl": "#define KERNEL __kernel\n#define GLOBAL __global\n"
    "#define INDEX get_global_id(0)\n#define ROW get_group_id(1)\ntypedef long index_t;\n",
    "cuda": '#define KERNEL extern "C" __global__\n#define GLOBAL\n'
    "#define INDEX (blockIdx.x * (size_t)blockDim.x + threadIdx.x)\n#define ROW blockIdx.y\ntypedef long long index_t;\n",
}
AFFINE = """
KERNEL void affine(GLOBAL const double *x, index_t n, double a, int b, float c, GLOBAL double *out) {
    size_t k = INDEX;
    if (k < n) out[ROW * n + k] = a * x[k] + b + c + ROW;
}
KERNEL void fill(GLOBAL double *out, index_t n, double value) {
    size_t k = INDEX;
    if (k < n) out[k] = value;
}
"""
SEARCH = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(params=[pytest.param(id, marks=[pytest.mark.cuda] if id.startswith("cuda") else []) for id in IDS])
def runtime(request):
    return get(request.param)


def affine(runtime, name="affine"):
    return runtime.kernel(HEADERS[runtime.dialect] + AFFINE, name, 64)


def run(code, **environment):
    """The output of `code` in a new process."""
    env = {**os.environ, "PYTHONPATH": SEARCH, **environment}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


# Kernels


def test_arguments_of_every_type(runtime):
    n = 1000
    x = np.arange(n) / 8  # exact, however the device contracts a product and a sum
    handle, offset = runtime.memory(x)
    result = runtime.result(3 * n * 8)
    affine(runtime)((-(-n // 64), 3), handle, n, 2.5, -3, 0.25, result.handle)
    out = runtime.fetch(result).view(np.float64).reshape(3, n)
    assert offset == 0
    np.testing.assert_array_equal(out, 2.5 * x - 3 + 0.25 + np.arange(3)[:, None])


def test_kernels_are_compiled_once(runtime):
    assert affine(runtime) is affine(runtime)
    assert affine(runtime, "fill") is not affine(runtime)


def test_compile_error_shows_the_source(runtime):
    source = HEADERS[runtime.dialect] + "KERNEL void broken(GLOBAL double *x)\n{\n    x[0] = nonsense;\n}\n"
    with pytest.raises(CompileError, match="nonsense") as caught:
        runtime.kernel(source, "broken", 1)
    line = source.splitlines().index("    x[0] = nonsense;") + 1
    assert caught.value.lines == [line]
    assert f">{line:5d} |     x[0] = nonsense;" in str(caught.value)
    with pytest.raises(CompileError, match="no_such"):
        affine(runtime, "no_such")


def test_threads_have_their_own_arguments(runtime):
    n, wrong = 4096, []

    def work(value):
        kernel = affine(runtime, "fill")
        for _ in range(100):
            result = runtime.result(8 * n)
            kernel((n // 64, 1), result.handle, n, value)
            if not (runtime.fetch(result).view(np.float64) == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(value),)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Memory


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8])
def test_copies_there_and_back(runtime, shape, dtype):
    array = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    native = runtime.to_device(array)
    assert runtime.is_native(native) and not runtime.is_native(array)
    assert native.shape == array.shape and native.dtype == array.dtype
    back = runtime.to_host(native)
    assert back.shape == array.shape and back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    out = np.empty_like(array)
    runtime.download(native, out)
    np.testing.assert_array_equal(out, array)


def test_copies_of_strided_arrays(runtime):
    array = np.arange(24.0).reshape(4, 6)
    for view in (array.T, array[::2, ::-1], np.asfortranarray(array)):
        np.testing.assert_array_equal(runtime.to_host(runtime.to_device(view)), view)
    result = runtime.result(8 * 12)
    handle, _ = runtime.memory(array[::2, ::-1])
    affine(runtime)((1, 1), handle, 12, 1.0, 0, 0.0, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), array[::2, ::-1].ravel())


def test_large_downloads(runtime):
    array = np.random.default_rng(1).normal(size=(40 << 20) // 8 + 3)
    np.testing.assert_array_equal(runtime.to_host(runtime.to_device(array)), array)


def test_memory_of_slices_of_device_arrays(runtime):
    native = runtime.to_device(np.arange(10.0))[4:]
    handle, offset = runtime.memory(native)
    result = runtime.result(8 * 6)
    source = """
    KERNEL void shifted(GLOBAL const char *x, index_t offset, GLOBAL double *out) {
        out[INDEX] = ((GLOBAL const double *)(x + offset))[INDEX];
    }"""
    runtime.kernel(HEADERS[runtime.dialect] + source, "shifted", 6)((1, 1), handle, offset, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), np.arange(4.0, 10.0))


def test_empty_arrays_have_a_valid_handle(runtime):
    result = runtime.result(8)
    for empty in (np.empty(0), runtime.empty((0, 3), np.float64)):
        handle, offset = runtime.memory(empty)
        affine(runtime)((1, 1), handle, 0, 1.0, 0, 0.0, result.handle)
        runtime.fetch(result)


def test_too_much_memory(runtime):
    for shape in ((1 << 40,), (1 << 62, 1 << 62)):
        with pytest.raises(MemoryError, match=r"asked .* GiB, free .* GiB .*" + runtime.device.id):
            runtime.empty(shape, np.float64)
    with pytest.raises(MemoryError):
        runtime.scratch(1 << 50)


def test_scratch_memory_is_used_again(runtime):
    fill = affine(runtime, "fill")
    for nbytes in (1000, 8 << 20):
        for value in range(20):
            handle = runtime.scratch(nbytes)
            fill((2, 1), handle, 125, float(value))
            out = np.empty(125)
            runtime.download(handle, out)
            assert (out == value).all()
            other = runtime.scratch(nbytes)
            fill((2, 1), other, 125, -1.0)
            runtime.download(handle, out)
            assert (out == value).all()


def test_counters_start_at_zero(runtime):
    for n in (1, 100, 5000):
        out = np.empty(n, np.int32)
        runtime.download(runtime.zeroed_counters(n), out)
        assert not out.any()


def test_results_grow(runtime):
    fill = affine(runtime, "fill")
    for n in (1, 3000, 2, 100_000):
        result = runtime.result(8 * n)
        fill((-(-n // 64), 1), result.handle, n, float(n))
        out = runtime.fetch(result)
        assert out.dtype == np.uint8 and out.size == 8 * n
        assert (out.view(np.float64) == n).all()


def test_time_and_bandwidth(runtime):
    native = runtime.empty(1 << 20, np.float64)
    fill = affine(runtime, "fill")
    handle, _ = runtime.memory(native)
    times = runtime.elapsed(lambda: fill((1 << 14, 1), handle, 1 << 20, 1.0), 3)
    assert len(times) == 3 and all(0 < time < 1 for time in times)
    assert 1e8 < runtime.bandwidth() < 1e14


# The host's own memory


@needs_cpu
def test_numpy_arrays_are_used_in_place():
    runtime = get(CPU)
    if not runtime.host_visible:
        pytest.skip("this driver copies")
    fill = affine(runtime, "fill")
    for start in range(3):
        array = np.zeros(103)[start:]
        handle, _ = runtime.memory(array)
        fill((2, 1), handle, array.size, 1.0)
        runtime.synchronize()
        assert (array == 1).all()
    constant = np.arange(100.0)
    constant.flags.writeable = False
    result = runtime.result(800)
    affine(runtime)((2, 1), runtime.memory(constant)[0], 100, 1.0, 0, 0.0, result.handle)
    np.testing.assert_array_equal(runtime.fetch(result).view(np.float64), constant)


@needs_cpu
def test_host_results_live_as_long_as_their_views():
    runtime = get(CPU)
    if not runtime.host_visible:
        pytest.skip("this driver copies")
    fill = affine(runtime, "fill")

    def filled(value):
        array, handle = runtime.host_result((100, 1000), np.float64)
        fill((1563, 1), handle, array.size, value)
        runtime.synchronize()
        return array

    first = filled(1.0)
    address, view = first.ctypes.data, first[3:, ::2].T
    assert address % 4096 == 0 and first.flags.writeable
    del first
    second = filled(2.0)
    assert second.ctypes.data != address and (view == 1).all()
    del view
    gc.collect()
    assert filled(3.0).ctypes.data == address
    assert (second == 2).all()
    empty, _ = runtime.host_result((0, 3), np.float64)
    assert empty.shape == (0, 3)


def test_the_host_pool_is_bounded():
    pool = host_pool.HostPool(limit=1 << 20)
    arrays = [pool.empty((1 << 18,), np.uint8) for _ in range(8)]
    assert len({array.ctypes.data for array in arrays}) == 8
    del arrays
    gc.collect()
    assert 0 < pool.kept <= pool.limit
    pool.release()
    assert pool.kept == 0


@pytest.mark.parametrize("nbytes", [0, 1, 4096, 4097, 123_457, 10**9 + 1])
def test_blocks_are_little_larger_than_asked(nbytes):
    size = host_pool._rounded(nbytes)
    assert size >= nbytes and size % 4096 == 0
    assert size <= max(1.25 * nbytes, nbytes + 4096)


# The cache on disk

CACHED = f"""
import time, numpy as np
from gpustats.runtime import get
runtime = get({CPU!r})
start = time.perf_counter()
kernel = runtime.kernel({HEADERS["opencl"] + AFFINE!r}, "fill", 64)
result = runtime.result(64)
kernel((1, 1), result.handle, 8, 5.0)
assert (runtime.fetch(result).view(np.float64) == 5).all()
print(time.perf_counter() - start)
"""


@needs_cpu
def test_a_second_process_compiles_nothing(tmp_path):
    environment = {"GPUSTATS_CACHE_DIR": str(tmp_path)}
    run(CACHED, **environment)
    (entry,) = tmp_path.iterdir()
    before = entry.stat().st_ino
    assert float(run(CACHED, **environment)) < 0.5
    assert [file.stat().st_ino for file in tmp_path.iterdir()] == [before]  # nothing was written again


@needs_cpu
@pytest.mark.parametrize("damage", [b"", b"nonsense", "truncated"])
def test_a_damaged_cache_is_no_error(tmp_path, damage):
    environment = {"GPUSTATS_CACHE_DIR": str(tmp_path)}
    run(CACHED, **environment)
    (entry,) = tmp_path.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content[:-100] if damage == "truncated" else damage)
    run(CACHED, **environment)
    assert len(entry.read_bytes()) == len(content)


@needs_cpu
def test_an_unusable_cache_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.touch()
    run(CACHED, GPUSTATS_CACHE_DIR=str(file))
    run(CACHED, GPUSTATS_CACHE_DIR=str(file / "below"))


def test_the_cache_drops_what_is_oldest(tmp_path, monkeypatch):
    from gpustats.runtime import cache

    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "LIMIT", 1000)
    for n in range(10):
        cache.store(f"entry{n}", b"x" * 300)
        os.utime(tmp_path / f"entry{n}", (n, n))
    cache.store("last", b"y" * 300)
    assert cache.load("last") == b"y" * 300
    assert cache.load("entry9") and cache.load("entry0") is None
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 1000


# Processes


@needs_cpu
def test_a_forked_child_gets_a_clear_error():
    message = f"""
    import os
    from gpustats.runtime import get
    runtime = get({CPU!r})
    runtime.synchronize()
    child = os.fork()
    if not child:
        try:
            get({CPU!r}).synchronize()
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    runtime.synchronize()
    """
    assert "spawn" in run(message)


@needs_cpu
def test_a_spawned_child_works(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing
        from gpustats.runtime import get

        def work(n):
            get({CPU!r}).synchronize()
            return n + 1

        if __name__ == "__main__":
            work(0)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """)
    )
    env = {**os.environ, "PYTHONPATH": SEARCH}
    assert subprocess.run([sys.executable, script], env=env, capture_output=True, text=True).stdout == "[2, 3]\n"


# The choice


def test_importing_touches_no_device():
    run("""
    import sys, gpustats.runtime
    assert not {"pyopencl", "pycuda", "mako"} & set(sys.modules)
    """)


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
    for module in ("pyopencl", "pycuda"):
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
    assert "pyopencl is hidden" in output and "pycuda is hidden" in output


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

    device = get(CPU)._device
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


# Errors


def test_errors_show_their_lines():
    error = DeviceFunctionError("what is this", 2, 3, "first\nsecond\nthird\nfourth")
    assert "line 2, column 3: what is this" in str(error) and ">    2 | second" in str(error)
    assert "fourth" not in str(error)
    assert str(DeviceFunctionError("what is this")) == "what is this"
    assert isinstance(error, ValueError) and issubclass(NoDeviceError, RuntimeError)
    nvcc = CompileError('kernel.cu(2): error: identifier "y" is undefined', "a\nb\nc\nd\ne\nf")
    assert nvcc.lines == [2] and ">    2 | b" in str(nvcc) and "f" not in str(nvcc).split("\n\n")[1]
    intel = CompileError("1:3:5: error: use of undeclared identifier 'y'", "a\nb\nc")
    pocl = CompileError("error: /tmp/a.cl:3:5: use of undeclared identifier 'y'\nDevice failed to build", "a\nb\nc")
    assert intel.lines == pocl.lines == [3]


def test_devices_are_values():
    device = devices()[0] if devices() else None
    assert device is None or (isinstance(device, Device) and device in {device})
