"""Repeated calls that differ in their numbers only, of which a sampler makes thousands: all else is decided once.

Such calls share their kind, `kind_of` their arguments. All that is decided for a kind is its plan, which is kept in a
`Plans`; a plan that launches a kernel keeps the list of what the kernel takes as `KernelValues`, in which each call puts
its numbers. Compiled code makes such calls without Python by a `SumReplay`; those from Python are made by a `starter.Starter`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..runtime.replay import Given

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Replay
    from ..runtime.types import DType, Handle, Shape

P = TypeVar("P")

_NUMBERS = (float, int, np.float64, np.float32)
_MISSING = object()


def in_order(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
    """Arguments of a call in their order; None where it does not give just these."""
    if len(args) + len(kwargs) != len(names):
        return None
    try:
        return (*args, *(kwargs[n] for n in names[len(args) :])) if kwargs else args
    except KeyError:
        return None


def kind_of(arguments: Sequence[Any]) -> tuple[tuple[Shape, DType] | None, ...] | None:
    """Kind of a call, shared by calls that differ in numbers only: shape and type of each array, None for a number.

    None where an argument is neither a NumPy array nor a number of a type that samplers use: such a call is not repeated.
    """
    found: list[tuple[Shape, DType] | None] = []
    for value in arguments:
        if type(value) in _NUMBERS:
            found.append(None)
        elif type(value) is np.ndarray:
            found.append((value.shape, value.dtype))
        else:
            return None
    return tuple(found)


class Plans(Generic[P]):
    """Plans of the kinds of calls that an object has seen; where these are more than `LIMIT`, all are forgotten.

    Threads may share it.
    """

    LIMIT = 1024

    def __init__(self) -> None:
        self._known: dict[Hashable, P] = {}

    def __reduce__(self) -> Any:
        return Plans, ()  # they are for devices of this process

    def plan(self, kind: Hashable, make: Callable[..., P], *arguments: Any) -> P:
        """Plan of a kind of calls, which `make` makes from `arguments` at the first call."""
        found: Any = self._known.get(kind, _MISSING)
        if found is _MISSING:
            found = make(*arguments)
            if len(self._known) >= self.LIMIT:
                self._known.clear()
            self._known[kind] = found
        plan: P = found
        return plan


class SumReplay(NamedTuple):
    """Replay by which compiled code finds a sum and its derivatives. It is for one thread at a time.

    Attributes
    ----------
    replay : Replay
        Leaves the sum first.
    arguments : dict
        Argument -> where its numbers lie among those given.
    derivatives : dict
        Argument -> pairs of arrays: elements of it, and where among what is found the derivatives in them lie. Where an
        element is in several pairs, these are added.
    """

    replay: Replay
    arguments: dict[str, np.ndarray]
    derivatives: dict[str, list[tuple[np.ndarray, np.ndarray]]]

    def fix(self, values: Mapping[str, Any]) -> SumReplay:
        """Set the numbers of constant arguments, by their names."""
        for name, value in values.items():
            self.replay.given[self.arguments[name]] = np.ravel(value)
        return self


class Number(NamedTuple):
    """Placeholder among a kernel's values for a number of the call: its place among the arguments."""

    argument: int


class Rows(NamedTuple):
    """Placeholder for the handle and the offset of an array that is read where it lies: its place among the arguments.

    A device array is contiguous, and of the type that the kernel reads.
    """

    argument: int


class Packed(NamedTuple):
    """Placeholder for the handle of the one array in which small arguments of the call travel."""


class Scratch(NamedTuple):
    """Placeholder for the handle of memory that kernels write and read within the call."""

    nbytes: int


class Part(NamedTuple):
    """Part of an argument in the array in which small ones travel; `transposed`: with its last axes exchanged."""

    argument: int
    start: int
    end: int
    transposed: bool


def aligned(n: int) -> int:
    """Next place from n on, of numbers of 4 bytes at least, at which 16-byte reads may begin."""
    return n + -n % 4


class KernelValues:
    """Values that a kernel takes in calls of one kind. Threads may share the object.

    Parameters
    ----------
    runtime : Runtime
    dtype : dtype
        Type of the numbers that the kernel reads.
    values : sequence
        In the kernel's order: what is the same in each call, and `Number`, `Rows` (which stands for two values), `Packed` and
        `Scratch`.
    parts : sequence of Part

    Attributes
    ----------
    scratch : list of int
        The places of scratch memory among the kernel's values.
    """

    def __init__(self, runtime: Runtime, dtype: DType, values: Sequence[Any], parts: Sequence[Part] = ()):
        self._runtime, self._dtype, self._parts = runtime, dtype, parts
        self._values: list[Any] = []
        self._numbers: list[tuple[int, int]] = []  # place in `_values`, argument
        self._rows: list[tuple[int, int]] = []
        self._packed: list[int] = []
        self.scratch: list[int] = []
        for value in values:
            place = len(self._values)
            if isinstance(value, Number):
                self._numbers.append((place, value.argument))
            elif isinstance(value, Rows):
                self._rows.append((place, value.argument))
                self._values.append(None)
            elif isinstance(value, Packed):
                self._packed.append(place)
            elif isinstance(value, Scratch):
                self.scratch.append(place)
            self._values.append(value)

    def of(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Values that the kernel takes in a call, and objects that the caller holds until the kernel is done."""
        taken, alive = self._values.copy(), list[Any]()
        for place, i in self._numbers:
            value = arguments[i]
            number = value.item() if type(value) is np.ndarray else float(value)
            taken[place] = number if self._dtype.itemsize == 8 else ctypes.c_float(number).value  # or infinite
        for place, i in self._rows:
            array = arguments[i]
            if type(array) is np.ndarray:
                array = np.ascontiguousarray(array, self._dtype)
            handle, offset = self._runtime.memory(array)
            taken[place], taken[place + 1] = handle, offset // self._dtype.itemsize
            alive += [array, handle]
        if self._packed:
            array = self._pack(arguments)
            handle = self._runtime.passed(array)
            for place in self._packed:
                taken[place] = handle
            alive += [array, handle]
        for place in self.scratch:
            taken[place] = self._runtime.scratch(taken[place].nbytes)
        return taken, alive

    def replay(
        self, names: Sequence[str], arguments: Sequence[Any], n_found: int, start: Callable[[Handle, list[Any]], None],
        derivatives: dict[str, list[tuple[np.ndarray, np.ndarray]]],
    ) -> SumReplay | None:  # fmt: skip
        """Replay by which compiled code makes calls like the call of some arguments; None where the device cannot.

        Parameters
        ----------
        names : sequence of str
            Names of the arguments.
        arguments : sequence
        n_found : int
            Numbers that the kernels leave.
        start : callable
            Starts them: takes the handle at which they leave these, and what the first kernel takes.
        derivatives : dict
            See `SumReplay`.
        """
        places = self.places(arguments)
        n_given = 1 + max((int(own.max(initial=-1)) for own in places), default=-1)
        made = self._runtime.replay(n_given, n_found, lambda at, to: start(to, self.given(at, places)), self._dtype)
        return None if made is None else SumReplay(made, dict(zip(names, places, strict=True)), derivatives)

    def places(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Places of the numbers of each argument if all of them travel in one array, as `given` takes them."""
        found, start = dict[int, np.ndarray](), self._parts[-1].end if self._parts else 0
        for i, first, end, transposed in self._parts:
            place = np.arange(first, end)
            if transposed:
                *lead, rows, columns = arguments[i].shape
                place = place.reshape(*lead, columns, rows).swapaxes(-1, -2).ravel()
            found[i] = place
        for i, value in enumerate(arguments):
            if i not in found:
                start = aligned(start)
                found[i] = np.arange(start, start + np.size(value))
                start += np.size(value)
        return [found[i] for i in range(len(arguments))]

    def given(self, handle: Handle, places: Sequence[np.ndarray]) -> list[Any]:
        """Values that a recorded kernel takes, where all arguments lie at a handle."""
        taken = self._values.copy()
        for place, i in self._numbers:
            taken[place] = Given(int(places[i][0]))
        for place, i in self._rows:
            taken[place], taken[place + 1] = handle, int(places[i][0])
        for place in self._packed:
            taken[place] = handle
        for place in self.scratch:
            taken[place] = self._runtime.scratch(taken[place].nbytes)
        return taken

    def _pack(self, arguments: Sequence[Any]) -> np.ndarray:
        """Array of the small arrays of a call; a new one for each call, because threads share this object."""
        packed = np.empty(self._parts[-1].end, self._dtype)
        for argument, start, end, transposed in self._parts:
            value = arguments[argument]
            packed[start:end] = (value.swapaxes(-1, -2) if transposed else value).reshape(-1)
        return packed
