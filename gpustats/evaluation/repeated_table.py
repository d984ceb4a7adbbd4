"""Tables of one kind, of which a program makes many: only numbers and the places of arrays differ between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.code import PER_SET, VALUE
from ..runtime import choose
from ..runtime.arrays import is_contiguous, is_device_array
from .repeated import KernelValues, Number, Packed, Part, Rows, aligned
from .results import written_by

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from ..runtime.types import Array, Handle
    from .placement import Placement

LARGEST_PACKED = 1 << 14  # bytes of an array up to which copying it takes less than telling the driver of one more

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def kind_of_table(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """Kind of a table, shared by tables that differ in their numbers only; the runtime comes first.

    None where an argument is not a number, or an array that a kernel reads as it lies.
    """
    runtime: Runtime | None = None
    kinds: list[Any] = [None]
    for value in values:
        kind = type(value)
        if kind is float or kind is int:
            kinds.append(None)
        elif kind is np.ndarray:
            if value.dtype not in _FLOATS or not value.flags.c_contiguous:
                return None
            if value.ndim == 0 and value.dtype != np.float64:  # where all are numbers, their type counts
                return None
            kinds.append((value.shape, value.dtype) if value.ndim else None)
        elif is_device_array(value):
            own = choose.for_array(value)
            if own is None or (runtime or own) is not own or value.dtype not in _FLOATS or not is_contiguous(value):
                return None
            runtime = own
            handle, offset = own.memory(value)
            kinds.append((tuple(value.shape), value.dtype, (offset + (handle if isinstance(handle, int) else 0)) % 16))
        else:
            return None
    kinds[0] = runtime or choose.get()
    return tuple(kinds)


class TableLaunch(NamedTuple):
    """Kernel of a table, its grid, and the values that it takes before the arguments and behind them."""

    kernel: Kernel
    grid: tuple[int, int]
    before: tuple[int, ...]
    behind: tuple[int, ...]


def is_repeatable(placement: Placement, values: Sequence[Any]) -> bool:
    """True if a `RepeatedTable` can be made of a call: kernels read its arrays as they come."""
    pattern = placement.pattern
    as_they_are = all(isinstance(v, float) or v.dtype == placement.dtype for v in values)
    return as_they_are and math.prod(pattern.shape) > 0 and all(e is None for e in pattern.expand)


class RepeatedTable:
    """Tables of a function for arguments of one kind. Threads may share the object.

    Parameters
    ----------
    placement : Placement
    launch : TableLaunch
    values : sequence
        The arguments of one of the calls.
    """

    def __init__(self, placement: Placement, launch: TableLaunch, values: Sequence[Any]):
        taken: list[Any] = []
        parts: list[Part] = []
        for i, (placed, value) in enumerate(zip(placement.arguments, values, strict=True)):
            if placed.operand.role == VALUE:
                taken.append(Number(i))
            elif not is_device_array(value) and (placed.operand.role == PER_SET or value.nbytes <= LARGEST_PACKED):
                start = aligned(parts[-1].end if parts else 0)
                taken += [Packed(), start, placed.values[-1]]
                parts.append(Part(i, start, start + value.size, False))
            else:
                taken += [Rows(i), placed.values[-1]]
        self._runtime, self._dtype, self._shape = placement.runtime, placement.dtype, placement.pattern.shape
        self._native, self._launch = any(map(is_device_array, values)), launch
        self._values = KernelValues(self._runtime, self._dtype, taken, parts)

    def __call__(self, values: Sequence[Any]) -> Array:
        """Table at other numbers."""
        taken, alive = self._values.of(values)
        kernel, grid, before, behind = self._launch

        def launch(out: Handle, offset: int) -> None:
            kernel(grid, out, offset, *before, *taken, *behind)

        result = written_by(launch, self._runtime, self._shape, self._dtype, self._native)
        del alive  # which the kernel may have been reading
        return result
