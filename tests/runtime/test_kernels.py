"""Kernels of a runtime: their arguments, their compilation, their errors."""

import threading

import numpy as np
import pytest
from runtimes import HEADERS, affine

from gpustats.errors import CompileError, DeviceFunctionError, NoDeviceError


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
