"""Arrays that gpustats takes, and the memory in which they lie."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import choose, dlpack
from .types import Array

#: Types that come in; whatever is neither float32 nor float64 is computed in float64.
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


#: End of errors about a mapping where numbers are wanted.
IS_MAPPING = "is a dict: parameters by name are given as **parameters, not as one dict"


def as_array(value: Any, name: str) -> Array:
    """Argument `value` as a NumPy array, a float, or a device array as it lies (nothing is copied between devices).

    Parameters
    ----------
    value : array_like
        Numbers, NumPy arrays and what converts to them; `DeviceArray`; ``pyopencl.array.Array``;
        ``pycuda.gpuarray.GPUArray``; objects with ``__cuda_array_interface__``; objects with DLPack.
    name : str
        The argument's name, for errors.

    Raises
    ------
    TypeError
        For complex numbers, objects, strings and mappings.

    Notes
    -----
    NumPy's floats of other sizes and byte orders are converted: to float32 those of four bytes, to float64 all others.
    """
    if type(value) in (float, int):
        return float(value)
    if is_device_array(value):
        array = value
    elif hasattr(value, "__cuda_array_interface__"):
        array = _from_cuda_array_interface(value, name)
    elif (dlpack.device_of(value) or (0,))[0] == dlpack.CUDA:
        array = _from_dlpack(value, name)
    elif not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
    else:
        array = np.asarray(value)
        if array.dtype.kind == "O" and isinstance(value, Mapping):
            raise TypeError(f"{name} {IS_MAPPING}")
        if isinstance(value, np.ma.MaskedArray) and value.mask.any():
            raise TypeError(f"{name} is masked: fill its gaps first")
    if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.dtype not in _FLOATS:
        array = array.astype(np.float32 if array.dtype.itemsize == 4 else np.float64)
    check_dtype(np.dtype(array.dtype), name)
    if isinstance(array, np.ndarray) and array.ndim == 0:
        return float(array)
    return array


class Single(float):
    """Number for several, which all came as NumPy's float32 and without axes."""


def with_common_type(given: Sequence[object], values: list[Array]) -> list[Array]:
    """Numbers without axes, as `Single` ones if every typed number of the call has the type float32.

    Parameters
    ----------
    given : sequence
        Arguments of the call.
    values : list
        The same arguments after `as_array`.
    """
    if all(isinstance(v, float) for v in values):
        dtypes = {v.dtype for v in given if isinstance(v, np.generic | np.ndarray)}
        if dtypes == {np.dtype(np.float32)}:
            return [Single(v) for v in values]
    return values


def check_dtype(dtype: np.dtype, name: str) -> None:
    """TypeError for a type that is none of real numbers."""
    if dtype not in _FLOATS and dtype.kind not in "iub":
        labels = f"; labels are numbered by numpy.unique({name}, return_inverse=True)[1]" if dtype.kind in "USO" else ""
        raise TypeError(
            f"{name} has dtype {dtype}: gpustats computes with float32 and float64 (and takes integers); "
            f"convert it, for example with {name}.astype('float64'){labels}"
        )


def is_device_array(value: object) -> bool:
    """True if `value` is an array of gpustats, PyOpenCL or PyCUDA on a device."""
    kind: Any = type(value)
    return _is_device_type(kind)


#: The modules of arrays that lie on devices.
_LIBRARIES = (f"{__package__}.device_array", "pyopencl.array", "pycuda.gpuarray")


@functools.cache
def _is_device_type(kind: Any) -> bool:
    return any(c.__module__ in _LIBRARIES for c in kind.__mro__)


@functools.cache
def name_of(dtype: np.dtype) -> str:
    """Name of a type, which NumPy would put together each time."""
    return dtype.name


def result_dtype(values: Sequence[Array]) -> np.dtype:
    """Type float32 where every array is float32, else float64; numbers without axes count only where there is no array."""
    dtypes = {np.dtype(v.dtype) for v in values if not isinstance(v, float)}
    if not dtypes and any(isinstance(v, Single) for v in values):
        return np.dtype(np.float32)
    return np.dtype(np.float32) if dtypes == {np.dtype(np.float32)} else np.dtype(np.float64)


def is_contiguous(array: Array) -> bool:
    """True if a device array's numbers lie in C order without gaps."""
    expected = array.dtype.itemsize
    for n, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if n > 1 and stride != expected:
            return False
        expected *= n
    return True


# ---- arrays of other libraries


def _from_cuda_array_interface(value: Array, name: str) -> Array:
    interface = value.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise TypeError(f"{name} is masked: fill its gaps first")
    runtime: Any = choose.for_array(value)
    runtime.memory(value)  # waits for the library's own stream
    dtype, strides = np.dtype(interface["typestr"]), interface.get("strides")
    if not dtype.isnative:
        raise TypeError(f"{name} has dtype {dtype.str}, another order of bytes than this machine's: convert it")
    return runtime.over(value, interface["data"][0] or 0, interface["shape"], dtype, strides)


def _from_dlpack(value: Array, name: str) -> Array:
    """Array over a CUDA tensor that offers only DLPack. The capsule, kept alive with it, frees the tensor."""
    runtime: Any = choose.for_array(value)
    runtime.reenter()
    capsule = dlpack.capsule_of(value)
    taken = dlpack.taken(capsule, name)
    return runtime.over((value, capsule), taken.pointer, taken.shape, taken.dtype, taken.strides)
