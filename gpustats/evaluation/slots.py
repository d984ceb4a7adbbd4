"""Slots: how each argument of a repeated call travels to its kernels."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.arrays import is_device_array
from ..runtime.replay import Given, Moved
from ..runtime.transfers import to_host
from .parcel import QUAD, Parcel
from .pieces import Place, copy_pieces
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
    native : collection of int, optional
        Places of the small arguments that are device arrays, contiguous and of the type that the kernels read. A kernel copies
        them to the others.

    Attributes
    ----------
    scratch : list of int
        Places of scratch memory among the kernels' values.
    """

    def __init__(
        self, runtime: Runtime, dtype: DType, values: Sequence[Value], parcel: Parcel | None = None,
        by_set: Collection[int] = (), native: Collection[int] = (),
    ):  # fmt: skip
        self.runtime, self.dtype, self._parcel = runtime, np.dtype(dtype), parcel or Parcel(dtype)
        self.by_set = by_set
        of_all = [p.argument for p in self._parcel.parts if p.lead in ((), self._parcel.lead)]
        self._native = [i for i in of_all if i in native]
        self._fetched = [i for i in native if i not in of_all]  # those that have to be broadcast, on the host
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
            if self._fetched:
                arguments = [to_host(v) if i in self._fetched else v for i, v in enumerate(arguments)]
            if (handle := self._room()) is None:
                array = self._parcel.packed(arguments, self._native)
                handle = runtime.passed(array)
                alive.append(array)
            for place in self._packed:
                taken[place] = handle
            alive.append(handle)
            if self._native:
                places = {i: runtime.memory(arguments[i]) for i in self._native}
                self._copy_native(handle, places)
                alive.append(places)
        for place in self.scratch:
            taken[place] = runtime.scratch(taken[place].nbytes)
        return taken, alive

    def places(self, arguments: Sequence[Value], moving: Collection[int] = ()) -> list[np.ndarray] | None:
        """Places of the numbers of each argument if all of them travel in one array, as `given` takes them.

        Those of an argument in a stack of sets are (sets, numbers of a set), with each set's own. None where an array has to be
        broadcast, or lies on the device and is not one of those `moving`, which have no places.
        """
        if self._fetched or any(slot.shape is not None for _, slot in self._rows):
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
        packed = handle if (room := self._room()) is None else room
        for place in self._packed:
            taken[place] = packed
        for place in self.scratch:
            taken[place] = self.runtime.scratch(taken[place].nbytes)
        if self._native:
            self._copy_native(packed, {i: (Moved(i), 0) for i in self._native})
        return taken

    def _room(self) -> Handle | None:
        """Memory for the small arguments, if all of them are device arrays: else the host's travel to it."""
        parcel = self._parcel
        if not self._native or len(self._native) < len(parcel.parts):
            return None
        return self.runtime.scratch(math.prod(parcel.lead) * parcel.width * self.dtype.itemsize)

    def _copy_native(self, handle: Handle, places: Mapping[int, tuple[Handle | Moved, int]]) -> None:
        """Start the copy of small arguments that lie at some places on the device to the array in which the others travel."""
        parcel, pieces = self._parcel, list[tuple[Place, Place, int]]()
        for i, lead, start, end, _ in parcel.parts:
            if i in places:
                size = end - start
                pieces.append((Place(*places[i], size if lead else 0), Place(handle, start, parcel.width), size))
        copy_pieces(self.runtime, self.dtype, pieces, math.prod(parcel.lead))
