"""Where the arguments of a call lie: which device they are for, and how a kernel takes them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen
from ..kernels.code import PER_ROW, Operand
from ..runtime import arrays, choose
from .broadcasting import Pattern, Shape

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime


@dataclass
class Placed:
    """An argument on a device, as a kernel takes it."""

    operand: Operand
    values: tuple[Any, ...]  # what fills the operand's parameters
    address: int = 0  # in bytes; matters modulo 16 only


@dataclass
class Placement:
    """All arguments of a call on a device."""

    runtime: Runtime
    dtype: np.dtype
    pattern: Pattern
    dim: int
    placed: list[Placed] = field(default_factory=list)
    alive: list[Any] = field(default_factory=list)  # memory that the kernel reads

    @property
    def values(self) -> list[Any]:
        return [v for p in self.placed for v in p.values]

    @property
    def aligned(self) -> bool:
        """Whether all rows allow 16-byte accesses."""
        rows = [p for p in self.placed if p.operand.role == PER_ROW]
        whole = self.pattern.n_sets == 1 or self.pattern.n_rows * self.dtype.itemsize % 16 == 0
        return all(p.address % 16 == 0 for p in rows) and (whole or not self.pattern.by_rows)


def device_of(values: Sequence[Any], names: Sequence[str], default: Runtime | None = None) -> Runtime:
    """The runtime of the one device on which the device arrays lie, else `default`, else the chosen one."""
    found: dict[int, tuple[Runtime, str]] = {}
    for value, name in zip(values, names, strict=True):
        if arrays.is_device_array(value):
            runtime = choose.for_array(value)
            assert runtime is not None
            found.setdefault(id(runtime), (runtime, name))
    if len(found) > 1:
        listed = ", ".join(f"{name} on {runtime.device.id}" for runtime, name in found.values())
        raise ValueError(f"arrays of different devices in one call: {listed}; move them with gs.to_host and gs.to_device")
    if found:
        return next(iter(found.values()))[0]
    return default or choose.get()


def target_of(values: Sequence[Any], names: Sequence[str], default: Runtime | None) -> tuple[Runtime, np.dtype]:
    """The runtime for a call, and the type that it computes in."""
    runtime, dtype = device_of(values, names, default), arrays.result_dtype(list(values))
    if dtype.itemsize == 8 and not runtime.device.double:
        raise ValueError(f"{runtime.device} computes in float32 only: pass float32 arrays")
    return runtime, dtype


def at(runtime: Runtime, array: Any) -> tuple[Any, int]:
    """An array as a kernel takes it: its handle, and its offset behind it in numbers."""
    handle, offset = runtime.memory(array)
    return handle, offset // array.dtype.itemsize


def gather(runtime: Runtime, array: Any, dtype: np.dtype, shape: Shape | None = None, out: Any = None) -> Any:
    """A contiguous copy on the device, in `out` if given, of an array with any strides and type, broadcast to `shape`."""
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
    kernel, threads = _gather_kernel(runtime, dtype.name, len(shape), source_type)
    (to, to_offset), (handle, offset) = runtime.memory(result), runtime.memory(array)
    pairs = [v for pair in zip(shape, strides, strict=True) for v in pair]
    start = to_offset // dtype.itemsize
    kernel((min(-(-n // threads), 1 << 16), 1), to, start, handle, offset // itemsize, n, *pairs)
    return result


@functools.lru_cache
def _gather_kernel(runtime: Runtime, dtype: str, ndim: int, source_type: str) -> tuple[Kernel, int]:
    threads = min(256, runtime.device.max_threads)
    source = codegen.render_plain(
        "evaluation/gather", dtype, runtime.dialect, threads=threads, ndim=ndim, source_type=source_type,
        result_type=_C_TYPES[dtype],
    )  # fmt: skip
    return runtime.kernel(source, "gather", threads), threads


_C_TYPES = {
    "float32": "float", "float64": "double", "int8": "signed char", "uint8": "unsigned char", "bool": "unsigned char",
    "int16": "short", "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int",
    "int64": "index_t", "uint64": "unsigned long",
}  # fmt: skip
