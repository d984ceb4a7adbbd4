"""DLPack, by which libraries pass arrays to one another without a copy: https://dmlc.github.io/dlpack."""

from __future__ import annotations

import atexit
import ctypes
from typing import Any, NamedTuple

import numpy as np

from .types import Array, DType, Shape
from .waiting import keep_for_ever

CPU, CUDA = 1, 2  # kinds of devices
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # of types
_NAME = b"dltensor"  # of a capsule that nobody has taken yet


class _Tensor(ctypes.Structure):
    """Structure `DLTensor` of dlpack.h, version 0 (the layout that every library still takes)."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    """Structure `DLManagedTensor` of dlpack.h."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


# Functions of our own: those of `ctypes.pythonapi` are shared, and JAX gives them other types.
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))

_given: dict[int, tuple[Any, ...]] = {}  # what libraries still hold, by the address of its description


def _release(managed: int) -> None:
    """End of the use by a library, which calls this from any thread, with or without Python's lock."""
    _given.pop(managed, None)


def _destroy(capsule: int) -> None:
    """End of a capsule; one that nobody took has the array still."""
    if _is_valid(capsule, _NAME):
        _given.pop(_pointer_of(capsule, _NAME), None)


@atexit.register
def _leave() -> None:
    """Leave the arrays to the libraries that still hold them: no function of Python's is called when Python has ended.

    Some libraries look for a deleter only as they take an array, so that there is one, which does nothing.
    """
    for _, managed, *_ in list(_given.values()):
        managed.deleter = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p)
    keep_for_ever(_given)


_release_c = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_release)
_destroy_c = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)


def capsule(owner: object, pointer: int, shape: Shape, strides: Shape, dtype: DType, number: int) -> object:
    """Capsule of an array on a CUDA device, which keeps `owner` alive until the library that takes it has no more use for it.

    Parameters
    ----------
    strides : tuple of int
        In bytes.
    number : int
        Of the device.
    """
    if dtype.kind not in _CODES or not dtype.isnative:
        raise BufferError(f"DLPack passes real numbers in the order of bytes of this machine, and no {dtype}")
    n = len(shape)
    lengths, steps = (ctypes.c_int64 * n)(*shape), (ctypes.c_int64 * n)(*(s // dtype.itemsize for s in strides))
    tensor = _Tensor(
        pointer or None, CUDA, number, n, _CODES[dtype.kind], 8 * dtype.itemsize, 1,
        ctypes.cast(lengths, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)), 0,
    )  # fmt: skip
    managed = _Managed(tensor, None, ctypes.cast(_release_c, ctypes.c_void_p))
    address = ctypes.addressof(managed)
    _given[address] = owner, managed, lengths, steps
    made: object = _new(address, _NAME, ctypes.cast(_destroy_c, ctypes.c_void_p))
    return made


class Taken(NamedTuple):
    """Array that came in a capsule."""

    pointer: int
    shape: Shape
    dtype: DType
    strides: Shape | None  # in bytes; None in C order without gaps


def taken(capsule: object, name: str) -> Taken:
    """Description of the array in a capsule, which lives as long as the capsule.

    Raises
    ------
    TypeError
        For what is no real number, with the argument's name.
    """
    tensor = _Tensor.from_address(_pointer(capsule, _NAME))
    kind = {code: kind for kind, code in _CODES.items()}.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise TypeError(f"{name}: DLPack type code {tensor.code} with {tensor.lanes} lanes is not a real number")
    dtype = np.dtype(f"{kind}{tensor.bits // 8}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim)) if tensor.strides else None
    return Taken((tensor.data or 0) + tensor.byte_offset, shape, dtype, strides)


def device_of(value: Array) -> tuple[int, int] | None:
    """Kind and number of the device of an object with DLPack; None without."""
    try:
        kind, number = value.__dlpack_device__()
    except (AttributeError, TypeError, NotImplementedError):
        return None
    return int(kind), int(number)


def capsule_of(value: Any) -> object:
    """Capsule from another library, whose numbers are there for what the default stream does next."""
    made: object = value.__dlpack__(stream=1)
    return made
