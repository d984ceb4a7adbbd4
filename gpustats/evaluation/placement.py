"""Placement of the arguments of a call: the device that they are for, and their form as a kernel takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..kernels.code import PER_ROW, PER_SET, VALUE, Operand
from ..kernels.template import Template
from ..language.device_function import Argument
from ..runtime import choose
from ..runtime.arrays import is_contiguous, is_device_array, result_dtype
from ..runtime.base import Runtime
from ..runtime.host_memory import contiguous
from ..runtime.types import Array, DType, Handle, Value
from .broadcasting import Pattern, Shape
from .parcel import sent_together

_GATHER = Template.beside(__file__, "gather")


@dataclass(frozen=True)
class PlacedArgument:
    """Argument on a device, as a kernel takes it."""

    operand: Operand
    values: tuple[Any, ...]  # what fills the operand's parameters
    address: int = 0  # in bytes; matters modulo 16 only


@dataclass
class Placement:
    """Arguments of a call, all on one device."""

    runtime: Runtime
    dtype: DType
    pattern: Pattern
    dim: int
    arguments: list[PlacedArgument] = field(default_factory=list)
    alive: list[object] = field(default_factory=list)  # memory that the kernel reads

    @property
    def operands(self) -> tuple[Operand, ...]:
        return tuple(a.operand for a in self.arguments)

    @property
    def values(self) -> list[Any]:
        """Values of all parameters of the kernel that stand for arguments."""
        return [v for a in self.arguments for v in a.values]

    @property
    def aligned(self) -> bool:
        """True if all rows allow 16-byte accesses."""
        rows = [a for a in self.arguments if a.operand.role == PER_ROW]
        whole = self.pattern.n_sets == 1 or self.pattern.n_rows * self.dtype.itemsize % 16 == 0
        return all(a.address % 16 == 0 for a in rows) and (whole or not self.pattern.by_rows)

    def add_array(self, operand: Operand, value: Array, expand: Shape | None, stride: int) -> None:
        """Add an argument of contiguous `real` numbers: the array as it lies if it fits, else a copy.

        It is broadcast to the shape `expand` first; `stride` is the distance of the next set's numbers.
        """
        runtime, dtype = self.runtime, self.dtype
        value = as_read(runtime, value, dtype, expand)
        handle, offset = runtime.memory(value)
        self.alive.append((value, handle))
        self.arguments.append(PlacedArgument(operand, (handle, offset, stride), address_of(handle, offset, dtype)))


def address_of(handle: Handle, offset: int, dtype: DType) -> int:
    """Address in bytes of a place on a device, as far as its driver tells; kernels are chosen by it modulo 16."""
    return offset * dtype.itemsize + (handle if isinstance(handle, int) else 0)


class _Taken(NamedTuple):
    """Argument in the form that a kernel takes: a number, an array for each set, or an array for each row."""

    operand: Operand
    value: Value
    expand: Shape | None = None  # the shape that an array is broadcast to first
    stride: int = 0


def place_arguments(
    arguments: Sequence[Argument], c_names: Sequence[str], values: Sequence[Value], pattern: Pattern, runtime: Runtime,
    dtype: DType, dim: int,
) -> Placement:  # fmt: skip
    """Placement of a call's arguments on a device; host arrays with a value for each set travel in one copy.

    The values are numbers, host arrays and arrays of the device, `c_names` the names in the device function, and `dim` is the
    length of vectors.
    """
    placement = Placement(runtime, dtype, pattern, dim)
    if not math.prod(pattern.shape):
        return placement
    taken = [_taken(pattern, i, a.rank, n, v, dim) for i, (a, n, v) in enumerate(zip(arguments, c_names, values, strict=True))]
    small = [t for t in taken if t.operand.role == PER_SET and not is_device_array(t.value)]
    sent, alive = sent_together(runtime, {t.operand.name: as_read(runtime, t.value, dtype, t.expand) for t in small})
    placement.alive += alive
    for t in taken:
        if isinstance(t.value, float):
            placement.arguments.append(PlacedArgument(t.operand, (t.value,)))
        elif t.operand.name in sent:
            placement.arguments.append(PlacedArgument(t.operand, (*sent[t.operand.name], t.stride)))
        else:
            placement.add_array(t.operand, t.value, t.expand, t.stride)
    return placement


def _taken(pattern: Pattern, i: int, rank: int, name: str, value: Value, dim: int) -> _Taken:
    """Form in which a kernel takes the argument number i, values of which have `rank` axes of length `dim`."""
    role, expand = pattern.roles[i], pattern.expand[i]
    if role == VALUE and isinstance(value, np.ndarray) and not rank:
        value = float(value.reshape(()))
    if isinstance(value, float):
        return _Taken(Operand(name, VALUE), value)
    core: Shape = (dim,) * rank
    if role == PER_ROW:
        stride = dim**rank * (pattern.n_rows if pattern.own_rows[i] else 0)
    else:
        stride = 0 if role == VALUE else dim**rank
        role = PER_SET
        if expand is not None:  # a sum's sets have no last axis
            expand = expand[:-1]
            value = value.reshape(*value.shape[: len(value.shape) - rank - 1], *core)
    return _Taken(Operand(name, role, min(rank, 1)), value, None if expand is None else expand + core, stride)


def device_of(values: Sequence[Value], names: Sequence[str], default: Runtime | None = None) -> Runtime:
    """Runtime of the one device on which the device arrays lie, else `default`, else the chosen one."""
    found: dict[int, tuple[Runtime, str]] = {}
    for value, name in zip(values, names, strict=True):
        if is_device_array(value):
            runtime = choose.for_array(value)
            assert runtime is not None
            found.setdefault(id(runtime), (runtime, name))
    if len(found) > 1:
        listed = ", ".join(f"{name} on {runtime.device.id}" for runtime, name in found.values())
        raise ValueError(f"arrays of different devices in one call: {listed}; move them with gs.to_host and gs.to_device")
    if found:
        return next(iter(found.values()))[0]
    return default or choose.get()


def target_of(values: Sequence[Value], names: Sequence[str], default: Runtime | None) -> tuple[Runtime, np.dtype]:
    """Runtime for a call, and the type that the call computes in."""
    runtime, dtype = device_of(values, names, default), result_dtype(list(values))
    if dtype.itemsize == 8 and not runtime.device.double:
        raise ValueError(f"{runtime.device} computes in float32 only: pass float32 arrays")
    return runtime, dtype


def as_read(runtime: Runtime, array: Array, dtype: DType, shape: Shape | None = None) -> Array:
    """Array as kernels read it, contiguous numbers of a type: itself if it fits, else a copy where it lies.

    It is broadcast to `shape` first, by default its own.
    """
    if not is_device_array(array):
        return contiguous(np.asarray(array) if shape is None else np.broadcast_to(array, shape), dtype)
    if array.dtype != dtype or shape is not None or not is_contiguous(array):
        return gather(runtime, array, dtype, shape)
    return array


def gather(runtime: Runtime, array: Array, dtype: DType, shape: Shape | None = None, out: Array = None) -> Array:
    """Contiguous copy on the device, in `out` if given, of an array with any strides and type, broadcast to `shape`."""
    shape = tuple(array.shape) if shape is None else shape
    result = runtime.empty(shape, dtype) if out is None else out
    n = math.prod(shape)
    if not n:
        return result
    itemsize = array.dtype.itemsize
    strides = (0,) * (len(shape) - len(array.shape)) + tuple(
        s // itemsize if m > 1 else 0 for m, s in zip(array.shape, array.strides, strict=True)
    )
    source_type = _C_TYPES.get(array.dtype.name)
    if source_type is None:
        raise TypeError(f"device arrays of dtype {array.dtype} are not supported")
    threads = min(256, runtime.device.max_threads)
    kernel = _GATHER.kernel(
        runtime, "gather", threads, dtype=dtype.name, threads=threads, ndim=len(shape), source_type=source_type,
        result_type=_C_TYPES[dtype.name],
    )  # fmt: skip
    (to, start), (handle, offset) = runtime.memory(result), runtime.memory(array)
    pairs = [v for pair in zip(shape, strides, strict=True) for v in pair]
    kernel((min(-(-n // threads), 1 << 16), 1), to, start, handle, offset, n, *pairs)
    return result


def empty(runtime: Runtime, shape: int | Shape, dtype: DTypeLike) -> Array:
    """New array for kernels to write: a NumPy array where they see the host's memory, else a device array."""
    return np.empty(shape, dtype) if runtime.host_visible else runtime.empty(shape, dtype)


def moved(runtime: Runtime, array: Array) -> Array:
    """Array where kernels read and write it: a copy on the device of a NumPy array whose memory they do not see."""
    return array if runtime.host_visible or is_device_array(array) else runtime.to_device(array)


_C_TYPES = {
    "float32": "float", "float64": "double", "int8": "signed char", "uint8": "unsigned char", "bool": "unsigned char",
    "int16": "short", "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int",
    "int64": "index_t", "uint64": "unsigned long",
}  # fmt: skip
