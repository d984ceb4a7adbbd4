"""Parcels: small host arrays that travel to a device in one copy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import DType, Handle, Shape, Value

QUAD = 4  # numbers of 4 bytes at least, at multiples of which reads of 16 bytes may begin


def starts_of(sizes: Iterable[int], step: int = 1) -> list[int]:
    """Starts of arrays that lie one after another, each at a multiple of `step`, and behind them the end of the last one."""
    starts, end = list[int](), 0
    for size in sizes:
        starts.append(end + -end % step)
        end = starts[-1] + size
    return [*starts, end]


def sent_together(runtime: Runtime, arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, tuple[Handle, int]], list[Any]]:
    """Places on the device of contiguous arrays of 4- and 8-byte numbers, which travel together.

    Returns
    -------
    places : dict
        Name -> a handle, and the offset behind it in numbers of the array's type.
    alive : list
        Objects that the caller holds until the kernels that read the arrays are done.
    """
    if not arrays:
        return {}, []
    *starts, end = starts_of((a.nbytes for a in arrays.values()), 8)
    together = np.zeros(end, np.uint8)
    for array, start in zip(arrays.values(), starts, strict=True):
        together[start : start + array.nbytes] = array.reshape(-1).view(np.uint8)
    handle = runtime.passed(together)
    places = {n: (handle, start // a.itemsize) for (n, a), start in zip(arrays.items(), starts, strict=True)}
    return places, [together, handle]


class Part(NamedTuple):
    """Part of a parcel."""

    argument: int  # place of the array among the arguments of a call
    lead: Shape  # leading axes of the array that are sets of a stack
    start: int  # place of its numbers in each line
    end: int
    transposed: bool  # whether it travels with its last axes exchanged


class Parcel:
    """Parcel for arguments whose shapes are the same in all calls of a kind.

    Parameters
    ----------
    dtype : dtype
        Type of the numbers on the device.
    lead : tuple of int, optional
        Shape of a stack of sets of arguments: the parcel has a line for each set.
    step : int, optional
        Each array begins at a multiple of it.

    Attributes
    ----------
    parts : list of Part
    """

    def __init__(self, dtype: DType, lead: Shape = (), step: int = 1):
        self.dtype, self.lead, self._step = dtype, lead, step
        self.parts: list[Part] = []

    @property
    def width(self) -> int:
        """Numbers of a line."""
        return self.parts[-1].end if self.parts else 0

    def add(self, argument: int, size: int, lead: Shape = (), transposed: bool = False) -> int:
        """Start, in each line, of an array of `size` numbers for each set, of which `lead` are the axes."""
        start = self.width + -self.width % self._step
        self.parts.append(Part(argument, lead, start, start + size, transposed))
        return start

    def packed(self, arguments: Sequence[Value], missing: Collection[int] = ()) -> np.ndarray:
        """Array of the parts of a call, (*lead, width): a new one for each call, because threads share this object.

        Those of the arguments `missing` are left to others to write.
        """
        packed = np.empty((*self.lead, self.width), self.dtype)
        for argument, lead, start, end, transposed in self.parts:
            value = arguments[argument]
            if argument in missing:
                continue
            if type(value) is np.ndarray and (lead or value.ndim > 1):
                value = (value.swapaxes(-1, -2) if transposed else value).reshape(*lead, -1)
            packed[..., start:end] = value
        return packed

    def places(self, arguments: Sequence[Value]) -> dict[int, np.ndarray]:
        """Places of the numbers of each argument, in the argument's order; those of a stack are (sets, numbers of a set)."""
        found = {}
        for argument, _, start, end, transposed in self.parts:
            places = np.arange(start, end)
            if transposed:
                *lead, rows, columns = arguments[argument].shape
                lead = [] if self.lead else lead
                places = places.reshape(*lead, columns, rows).swapaxes(-1, -2).ravel()
            if self.lead:
                places = self.width * np.arange(math.prod(self.lead))[:, None] + places
            found[argument] = places
        return found
