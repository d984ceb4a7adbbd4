"""Tables of one kind, of which a program makes many: only numbers and the places of arrays differ between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.code import PER_SET, VALUE
from ..runtime import choose, thresholds
from ..runtime.arrays import is_contiguous, is_device_array
from .parcel import QUAD, Parcel
from .placement import address_of
from .repeated import Kept, KeptPlaces, RepeatedCall, Work
from .slots import Number, Packed, Rows, Slots

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from ..runtime.types import Array, Handle, KernelValue, Value
    from .placement import Placement

#: Bytes of an array up to which copying it takes less than telling the driver of one more.
LARGEST_PACKED = thresholds.EVALUATION_LARGEST_PACKED.value

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def kind_of_table(values: Sequence[Value]) -> tuple[Any, ...] | None:
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
            address = address_of(*own.memory(value), value.dtype)
            kinds.append((tuple(value.shape), value.dtype, address % 16))
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


def is_repeatable(placement: Placement, values: Sequence[Value]) -> bool:
    """True if a `repeated_table` can be made of a call: kernels read its arrays as they come."""
    pattern = placement.pattern
    as_they_are = all(isinstance(v, float) or v.dtype == placement.dtype for v in values)
    return as_they_are and math.prod(pattern.shape) > 0 and all(e is None for e in pattern.expand)


def slots_of(parcel: Parcel, i: int, value: Value, role: str, stride: int) -> list[Any]:
    """Slots of the argument number i, for each set or each row: in the parcel, unless it is on a device or long."""
    if not is_device_array(value) and (role == PER_SET or value.nbytes <= LARGEST_PACKED):
        return [Packed(), parcel.add(i, np.size(value)), stride]
    return [Rows(i), stride]


def repeated_table(placement: Placement, launch: TableLaunch, values: Sequence[Value]) -> RepeatedCall[Array]:
    """Repeated call of a table, for arguments like `values`."""
    parcel, taken = Parcel(placement.dtype, step=QUAD), list[Any]()
    for i, (placed, value) in enumerate(zip(placement.arguments, values, strict=True)):
        if placed.operand.role == VALUE:
            taken.append(Number(i))
        else:
            taken += slots_of(parcel, i, value, placed.operand.role, placed.values[-1])
    kernel, grid, before, behind = launch

    def start(found: Handle, taken: list[KernelValue], kept: KeptPlaces) -> None:
        kernel(grid, *kept[0], *before, *taken, *behind)

    table = Kept(placement.pattern.shape, placement.dtype, any(map(is_device_array, values)))
    slots = Slots(placement.runtime, placement.dtype, taken, parcel)
    return RepeatedCall(slots, Work(0, start), lambda numbers, kept: kept[0], kept=[table])
