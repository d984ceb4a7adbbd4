"""Slots: how each argument of a repeated call travels to its kernels."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.arrays import is_device_array
from ..runtime.replay import Given, Moved
from .parcel import QUAD, Parcel
from .results import as_host

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import DType, Handle, Shape, Value


class Number(NamedTuple):
    """Slot of a number that a kernel takes by value."""

    argument: int  # place among the arguments
    element: int | None = None  # element of an argument that is an array; None where it is a number


class Rows(NamedTuple):
    """Slot, of two values, for the handle and the offset of an array that is read where it lies.

    A device array is contiguous, and of the type that the kernel reads.
    """

    argument: int
    shape: Shape | None = None  # to which the array is broadcast; None where it is read as it comes


class Packed(NamedTuple):
    """Slot of the handle of the one array in which small arguments travel."""


class Scratch(NamedTuple):
    """Slot of the handle of memory that kernels write and read within the call."""

    nbytes: int


class Slots:
    """Slots of the kernels of calls of one kind. Threads may share the object.

    Parameters
    ----------
    runtime : Runtime
    dtype : dtype
        Type of the numbers that the kernels read.
    values : sequence
        In the kernels' order: what is the same in each call, and `Number`, `Rows`, `Packed` and `Scratch`.
    parcel : Parcel, optional
        Small arguments, which travel together.
    by_set : collection of int, optional
        Places of the arguments that are stacks of sets, and lie one set after another.

    Attributes
    ----------
    scratch : list of int
        Places of scratch memory among the kernels' values.
    """

    def __init__(
        self, runtime: Runtime, dtype: DType, values: Sequence[Value], parcel: Parcel | None = None,
        by_set: Collection[int] = (),
    ):  # fmt: skip
        self.runtime, self.dtype, self._parcel = runtime, np.dtype(dtype), parcel or Parcel(dtype)
        self.by_set = by_set
        self._values: list[Any] = []
        self._numbers: list[tuple[int, Number]] = []
        self._rows: list[tuple[int, Rows]] = []
        self._packed: list[int] = []
        self.scratch: list[int] = []
        for value in values:
            place = len(self._values)
            if isinstance(value, Number):
                self._numbers.append((place, value))
            elif isinstance(value, Rows):
                self._rows.append((place, value))
                self._values.append(None)
            elif isinstance(value, Packed):
                self._packed.append(place)
            elif isinstance(value, Scratch):
                self.scratch.append(place)
            self._values.append(value)

    def of(self, arguments: Sequence[Value]) -> tuple[list[Any], list[Any]]:
        """Values that the kernels take in a call, and objects that the caller holds until they are done."""
        taken, alive, runtime, dtype = self._values.copy(), list[Any](), self.runtime, self.dtype
        for place, (i, element) in self._numbers:
            value = arguments[i]
            number = value.item(element or 0) if type(value) is np.ndarray else float(value)
            taken[place] = number if dtype.itemsize == 8 else ctypes.c_float(number).value  # or infinite
        for place, (i, shape) in self._rows:
            array = arguments[i]
            if shape is not None:
                array = np.broadcast_to(as_host(runtime, array), shape)
            if type(array) is np.ndarray:
                array = np.ascontiguousarray(array, dtype)
            handle, taken[place + 1] = runtime.memory(array)
            taken[place] = handle
            alive += [array, handle]
        if self._packed:
            array = self._parcel.packed(arguments)
            handle = runtime.passed(array)
            for place in self._packed:
                taken[place] = handle
            alive += [array, handle]
        for place in self.scratch:
            taken[place] = runtime.scratch(taken[place].nbytes)
        return taken, alive

    def places(self, arguments: Sequence[Value], moving: Collection[int] = ()) -> list[np.ndarray] | None:
        """Places of the numbers of each argument if all of them travel in one array, as `given` takes them.

        Those of an argument in a stack of sets are (sets, numbers of a set), with each set's own. None where an array has to be
        broadcast, or lies on the device and is not one of those `moving`, which have no places.
        """
        if any(slot.shape is not None for _, slot in self._rows):
            return None
        if any(is_device_array(value) and i not in moving for i, value in enumerate(arguments)):
            return None
        found, end = self._parcel.places(arguments), self._parcel.width * math.prod(self._parcel.lead)
        found |= {i: np.empty(0, int) for i in moving}
        for i, value in enumerate(arguments):
            if i not in found:
                end += -end % QUAD
                found[i] = np.arange(end, end + np.size(value))
                end += np.size(value)
        return [found[i] for i in range(len(arguments))]

    def given(self, handle: Handle, places: Sequence[np.ndarray], moving: Collection[int] = ()) -> list[Any]:
        """Values that recorded kernels take, where all arguments lie at a handle but those that are `moving`."""
        taken = self._values.copy()
        for place, (i, element) in self._numbers:
            taken[place] = Given(int(places[i][element or 0]))
        for place, (i, _) in self._rows:
            taken[place], taken[place + 1] = handle, int(places[i].flat[0]) if places[i].size else 0
            if i in moving:
                taken[place] = Moved(i)
        for place in self._packed:
            taken[place] = handle
        for place in self.scratch:
            taken[place] = self.runtime.scratch(taken[place].nbytes)
        return taken
