"""Results: where a kernel writes them, a new array or the user's, and how they are handed over."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..runtime.arrays import is_contiguous, is_device_array
from ..runtime.base import Runtime, nbytes_of
from ..runtime.device_array import DeviceArray
from ..runtime.types import Array, DType, Handle
from .broadcasting import Shape
from .placement import gather


def output(runtime: Runtime, shape: Shape, dtype: DType, native: bool) -> tuple[Array, Handle, int]:
    """Result array, on the device if `native`; the handle for the kernel to write to; and the offset in it in numbers."""
    if not native and runtime.host_visible:
        array, handle = runtime.host_result(shape, dtype)
        return array, handle, 0
    array = runtime.empty(shape, dtype)
    return (array, *runtime.memory(array))


class Written:
    """Result that a kernel writes, as the user gets it: a device array if `native`.

    The kernel writes to `handle`, at `offset` in it in numbers.
    """

    def __init__(self, runtime: Runtime, shape: Shape, dtype: DType, native: bool):
        self._runtime, self._shape, self._dtype, self._native = runtime, shape, dtype, native
        self._array: Array | None = None
        if native or runtime.host_visible:
            self._array, self.handle, self.offset = output(runtime, shape, dtype, native)
        else:  # no array: to make one on the device takes longer than all else here
            self.handle, self.offset = runtime.scratch(nbytes_of(shape, dtype)), 0

    def delivered(self, waited: bool = False) -> Array:
        """Array for the user, once the kernel has been started; `waited`: it is known to be done."""
        if self._array is None:
            return self._runtime.downloaded(self.handle, self._shape, self._dtype)[()]
        return self._array if waited else deliver(self._runtime, self._array, self._native)


def part_of(array: Array, start: int, shape: Shape) -> Array:
    """View, of a shape, of the numbers of an array of one axis from `start` on."""
    if type(array) is DeviceArray:  # in less time than by its views
        address = array.ptr + start * array.dtype.itemsize
        return DeviceArray(array.runtime, array.owner, address, shape, array.dtype, None, array.stream)
    return array[start : start + math.prod(shape)].reshape(shape)


def written_by(launch: Callable[[Handle, int], None], runtime: Runtime, shape: Shape, dtype: DType, native: bool) -> Array:
    """Result of a kernel, as the user gets it; `launch` takes the memory to write to, and the offset in it in numbers."""
    result = Written(runtime, shape, dtype, native)
    launch(result.handle, result.offset)
    return result.delivered()


def deliver(runtime: Runtime, result: Array, native: bool) -> Array:
    """Result for the user, once the kernel may be waited for."""
    if native:
        if runtime.host_visible:  # the kernel may be reading NumPy arrays that do not outlive this call
            runtime.synchronize()
        return result
    if runtime.host_visible:
        runtime.synchronize()
        return result[()]
    return runtime.downloaded(result, tuple(result.shape), result.dtype)[()]


def delivered(runtime: Runtime, array: Array, native: bool) -> Array:
    """Array as a caller gets it: a device array if `native`, else a NumPy array."""
    if native == is_device_array(array):
        return array
    return runtime.results_to_device([np.asarray(array)])[0] if native else runtime.to_host(array)


def on_device(runtime: Runtime, found: Sequence[Array | float]) -> list[Array]:
    """Device arrays of results, those of the host copied together where they are small."""
    if not (hosts := [np.asarray(array) for array in found if not is_device_array(array)]):
        return list(found)
    natives = iter(runtime.results_to_device(hosts))
    return [array if is_device_array(array) else next(natives) for array in found]


def like(runtime: Runtime, result: Array, argument: Any) -> Any:
    """Result in the form of its argument: a number, a host array or a device array."""
    result = delivered(runtime, result, is_device_array(argument))
    return float(result) if isinstance(argument, float) else result


def as_host(runtime: Runtime, array: Array) -> np.ndarray:
    """Array on the host: the array itself where it lies there, else a copy."""
    return runtime.to_host(array) if is_device_array(array) else array


def written(runtime: Runtime, array: Array) -> np.ndarray:
    """NumPy array of the numbers that kernels have written to an array, once they are done."""
    if isinstance(array, np.ndarray):
        runtime.synchronize()
    return as_host(runtime, array)


def as_shape(size: Any) -> Shape:
    """Shape from the argument `size`, a whole number or several."""
    given = tuple(size) if np.iterable(size) else (size,)
    try:
        shape = tuple(int(n) for n in given)
    except (TypeError, ValueError):
        shape = (-1,)
    if shape != given or min(shape, default=0) < 0:
        raise ValueError(f"size must be a whole number that is not negative, or a tuple of them, not {size!r}")
    return shape


def size_of(out: Any, size: Any, core: Shape) -> Shape:
    """Size that the array `out` stands for, without the axes of a vector."""
    if not (isinstance(out, np.ndarray) or is_device_array(out)):
        raise TypeError(f"out must be a NumPy or a device array, not {type(out).__name__}")
    shape = tuple(out.shape)
    if not (out.flags.c_contiguous if isinstance(out, np.ndarray) else is_contiguous(out)):
        raise ValueError("out must be contiguous, in C order")
    wanted = shape[: len(shape) - len(core)] if size is None else as_shape(size)
    if shape != wanted + core:
        raise ValueError(f"out has shape {shape}, but the draws have {wanted + core}")
    return wanted


class Destination:
    """Memory for a result, which a kernel writes with the type `written` and the user gets with the type `dtype`.

    The result is a device array if `native`, where `out` does not tell; this is contiguous, of the shape and `dtype`. The
    kernel takes `handle`; the result begins at `offset` behind it, in numbers.
    """

    def __init__(self, runtime: Runtime, shape: Shape, written: np.dtype, dtype: np.dtype, native: bool, out: Any):
        self.runtime, self.dtype, self.out = runtime, dtype, out
        self.native = native if out is None else is_device_array(out)
        if out is not None and written == dtype and (self.native or runtime.host_visible):
            self.result = out
            self.handle, self.offset = runtime.memory(out)
        else:
            self.result, self.handle, self.offset = output(runtime, shape, written, self.native)

    def finished(self) -> Any:
        """Result as the user gets it, once the kernel has been started."""
        result, out = self.result, self.out
        if self.native and result.dtype != self.dtype:
            result = gather(self.runtime, result, self.dtype, out=out)
        delivered = deliver(self.runtime, result, self.native)
        if out is None:
            return delivered if delivered.dtype == self.dtype else delivered.astype(self.dtype)
        if not self.native and result is not out:
            out[...] = delivered
        return out
