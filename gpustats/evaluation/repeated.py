"""Repeated calls, of which a sampler makes thousands: all but their numbers is decided once.

A `RepeatedCall` is made for the calls of one kind (`kinds`). Its slots tell how each argument travels to the kernels, its work
starts these, and its results tell where the value and the derivatives lie among the numbers that they leave. From Python a call
is started and waited for; a thread that makes it often has it recorded. Compiled code does so by a `RepeatedSum`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..runtime import thresholds
from ..runtime.arrays import is_device_array
from ..runtime.replay import Moved
from ..runtime.transfers import to_host
from .compiled import Repeatable, RepeatedSum
from .parcel import QUAD, starts_of
from .results import Written, part_of

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Recording
    from ..runtime.types import Array, DType, Handle, Shape, Value
    from .slots import Slots

UNRECORDED_CALLS = 2  # calls of a thread that start each kernel as any call does
MOST_RECORDED_NUMBERS = thresholds.EVALUATION_MOST_RECORDED_NUMBERS.value  # the most numbers that a recorded call takes

R = TypeVar("R")
_NOTHING = np.empty(0)
#: Elements of an array, as NumPy's indexing takes them.
Elements: TypeAlias = "tuple[slice | int | np.ndarray, ...]"
#: Places on the device to which kernels write results of their own: handles, and the offsets behind them in numbers.
KeptPlaces = Sequence[tuple["Handle | Moved", int]]


class Work(NamedTuple):
    """Kernels of a call."""

    n_found: int  # numbers, float64, that they leave for the host
    #: starts them: takes the handle at which they leave these, the values of the slots, and the places of kept results
    launch: Callable[[Handle, list[Any], KeptPlaces], None]


class Kept(NamedTuple):
    """Result that kernels write to an array of its own."""

    shape: Shape
    dtype: DType
    native: bool = False  # whether it stays on the device


class Result(NamedTuple):
    """Derivative in an argument, or a part of it, and where it lies."""

    name: str  # of the argument
    #: its places among the numbers that the kernels leave, with a first axis of sets of arguments; of a kept result its shape
    places: np.ndarray
    #: shape of the derivative, with the axes of the sets where each has its own, else they are added up; None for a number, to
    #: which all are added
    shape: Shape | None = None
    #: elements of a set's derivative that they are added to, as NumPy's indexing takes them; None: they are all of it
    elements: Elements | None = None
    kept: int | None = None  # place among the kept results of the array in which it lies instead
    first: int | None = None  # place of its first number in that array; None: it is all of it


class Results:
    """Value of a call and its derivatives, among the numbers that kernels leave.

    Parameters
    ----------
    results : sequence of Result
        Several of one name are added up.
    values : (sets,) ndarray of int, or (sets, 0), optional
        Places of the values of the sets, if there are any; by default there is one, the first number.
    lead : tuple of int, optional
        Shape of the values; by default the value is a number.
    shapes : mapping, optional
        Name -> shape that a derivative of as many numbers is given in, () for a number; by default that of its parts.

    Attributes
    ----------
    values : ndarray of int
        Places of the values of the sets.
    n_sets : int
        Sets of arguments.
    """

    def __init__(
        self, results: Sequence[Result], values: np.ndarray | None = None, lead: Shape | None = None,
        shapes: Mapping[str, Shape] | None = None,
    ):  # fmt: skip
        self.results, shapes = results, shapes or {}
        self.values = np.zeros(1, int) if values is None else values
        self._lead, self.n_sets = lead, len(self.values)
        self._first = int(self.values.flat[0]) if lead is None and self.values.size else 0
        self._take = _taker(self.values)
        by_name = {name: [r for r in results if r.name == name] for name in dict.fromkeys(r.name for r in results)}
        self._readers = [(name, _reader(own, shapes.get(name, own[0].shape))) for name, own in by_name.items()]

    def __call__(self, numbers: np.ndarray, kept: Sequence[Array] = ()) -> tuple[Value, dict[str, Value]]:
        """Value, and derivatives by their names."""
        value = numbers.item(self._first) if self._lead is None else self._take(numbers).reshape(self._lead)
        return value, {name: read(numbers, kept) for name, read in self._readers}

    def by_set(self, kept: Sequence[int]) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
        """Elements of each derivative, and their places: see `RepeatedSum.derivatives`; `kept`: starts of kept results."""
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for result in self.results:
            own = result.places if result.kept is None else kept[result.kept] + np.arange(result.places.size)
            own = own.reshape(self.n_sets, -1)
            if result.elements is not None:
                core = (result.shape or ())[1:]
                elements = np.ravel(np.arange(math.prod(core)).reshape(core)[result.elements])
            else:
                elements = np.zeros(own.shape[1], int) if result.shape is None else np.arange(own.shape[1])
            found.setdefault(result.name, []).append((elements, own))
        return found


def _taker(places: np.ndarray, given: Shape | None = None) -> Callable[..., np.ndarray]:
    """Reader of a copy of the numbers at places, (sets, …), in a shape, by slices where they lie at regular distances."""
    shape = places.shape if given is None else given

    def by_index(numbers: np.ndarray, kept: object = None) -> Any:
        return numbers[places].reshape(shape)

    if not places.size:
        return by_index
    lines = places.reshape(len(places), -1)
    (sets, width), first = lines.shape, int(lines[0, 0])
    if (step := _distance(lines)) < width:
        return by_index
    before = first % step  # numbers of a line before those that are wanted
    start, end = first - before, first - before + sets * step
    if step == width:
        return lambda numbers, kept=None: numbers[first : first + places.size].copy().reshape(shape)
    if before + width > step:
        return by_index

    def by_lines(numbers: np.ndarray, kept: object = None) -> Any:
        if numbers.size < end:  # the last line is shorter
            return by_index(numbers)
        return numbers[start:end].reshape(sets, step)[:, before : before + width].copy().reshape(shape)

    return by_lines


def _distance(lines: np.ndarray) -> int:
    """Distance of one line of places, (sets, width), from the next where all are regular runs; -1 where they are not."""
    (sets, width), first = lines.shape, int(lines[0, 0])
    step = int(lines[1, 0]) - first if sets > 1 else width
    return step if (lines == first + step * np.arange(sets)[:, None] + np.arange(width)).all() else -1


def _reader(parts: Sequence[Result], given: Shape | None) -> Callable[[np.ndarray, Sequence[Array]], Value]:
    """Reader of a derivative, which is an array of its own of the shape `given`, or a number."""
    (_, places, shape, elements, of_kept, start), *others = parts
    if others or elements is not None:
        if (found := _side_by_side(parts)) is None:
            return lambda numbers, kept: _added(parts, numbers, kept)
        places = found
    elif of_kept is not None:
        return lambda numbers, kept: kept[of_kept] if start is None else part_of(kept[of_kept], start, given or ())
    take = _taker(places)
    if not given:  # a number
        if places.size == 1:
            first = int(places.flat[0])
            return lambda numbers, kept: numbers.item(first)
        return lambda numbers, kept: float(take(numbers).sum(-1).sum())
    if places.size != math.prod(given):  # what sets share is added up
        return lambda numbers, kept: take(numbers).sum(0).reshape(given)
    return _taker(places, given)


def _side_by_side(parts: Sequence[Result]) -> np.ndarray | None:
    """Places of the elements of a derivative of which each is in one of several parts; None where some are added up."""
    if parts[0].shape is None or any(part.kept is not None for part in parts):
        return None
    places, times = np.zeros(parts[0].shape, int), np.zeros(parts[0].shape, int)
    for part in parts:
        own = (slice(None), *(part.elements or ()))
        places[own], times[own] = part.places, times[own] + 1
    return places if (times == 1).all() else None


def in_lines(parts: Sequence[Result]) -> tuple[int, int] | None:
    """Where the numbers of a derivative, one run for each set, begin, and their distance; None where they lie otherwise."""
    places = _side_by_side(parts)
    lines = np.empty((1, 0)) if places is None else places.reshape(len(places), -1)
    return (int(lines[0, 0]), step) if lines.size and (step := _distance(lines)) >= lines.shape[1] else None


def _added(parts: Sequence[Result], numbers: np.ndarray, kept: Sequence[Array]) -> np.ndarray:
    """Derivative, of the shape of the parts, that several make."""
    total = np.zeros(parts[0].shape or ())
    for part in parts:
        found = numbers[part.places] if part.kept is None else np.reshape(to_host(kept[part.kept]), part.places.shape)
        with np.errstate(invalid="ignore"):  # infinities of both signs are nan, as in a kernel
            total[(slice(None), *(part.elements or ()))] += found
    return total


class RepeatedCall(Generic[R]):
    """Calls that differ in their numbers only. Threads may share the object.

    Parameters
    ----------
    slots : Slots
        How the arguments travel to the kernels.
    work : Work
    read : callable
        What a call from Python gives, from the numbers that the kernels leave, a view, and from the kept results: `Results`, or
        what else is made of these.
    names : sequence of str, optional
        Names of the arguments.
    results : Results, optional
        Results for compiled code; by default only Python can make such calls.
    summed : Work, optional
        Kernels that leave these results to compiled code, where Python adds up partial sums faster.
    kept : sequence of Kept, optional
    alive : object, optional
        Owner of memory that the kernels read in each call.
    most_recorded : int, optional
        The most numbers that a recorded call takes.
    """

    def __init__(
        self, slots: Slots, work: Work, read: Callable[[np.ndarray, Sequence[Array]], R], names: Sequence[str] = (), *,
        results: Results | None = None, summed: Work | None = None, kept: Sequence[Kept] = (), alive: object = None,
        most_recorded: int = MOST_RECORDED_NUMBERS,
    ):  # fmt: skip
        self._slots, self._work, self._read, self._names, self._kept, self._alive = slots, work, read, names, kept, alive
        self._results, self._summed = results, summed or work
        self._own, self._most_recorded = _OfThread(), most_recorded if work.n_found else -1

    def __call__(self, arguments: Sequence[Value]) -> R:
        """Result of a call."""
        return self.start(arguments)() if self._work.n_found else self._of_kept(arguments)

    def start(self, arguments: Sequence[Value]) -> Callable[[], R]:
        """Start a call; the function returned waits and gives its result. One without numbers for the host is waited for."""
        read, runtime, own = self._read, self._slots.runtime, self._own
        recorded = own.recorded
        if recorded is None and own.n_calls <= UNRECORDED_CALLS and self._most_recorded >= 0:
            own.n_calls += 1
            if own.n_calls > UNRECORDED_CALLS:
                recorded = own.recorded = self._recorded(arguments)
        if recorded is not None:
            kept = [Written(runtime, *k) for k in self._kept]
            if recorded.start(arguments, kept):
                return lambda: read(recorded.wait(), [k.delivered(waited=True) for k in kept])
        n_found, launch = self._work
        if not n_found:
            found_at_once = self._of_kept(arguments)
            return lambda: found_at_once
        result = runtime.result(8 * n_found)
        taken, alive = self._slots.of(arguments)
        kept = [Written(runtime, *k) for k in self._kept]
        launch(result.handle, taken, [(k.handle, k.offset) for k in kept])

        def finish() -> R:
            found = read(runtime.fetch(result).view(np.float64), [k.delivered(waited=True) for k in kept])
            alive.clear()  # which the kernels may have been reading
            return found

        return finish

    def _of_kept(self, arguments: Sequence[Value]) -> R:
        """Result of a call whose kernels leave kept results only: device arrays are not waited for."""
        taken, alive = self._slots.of(arguments)
        kept = [Written(self._slots.runtime, *k) for k in self._kept]
        places = [(k.handle, k.offset) for k in kept]
        self._work.launch(places[0][0], taken, places)  # nothing is written to the first
        found = self._read(_NOTHING, [k.delivered() for k in kept])
        del alive  # which the kernels may have been reading
        return found

    def compiled(self, arguments: Sequence[Value]) -> RepeatedSum | None:
        """Calls like that of some arguments for compiled code; None where only Python can make them."""
        if self._results is None or (places := self._slots.places(arguments)) is None:
            return None
        if any(k.native or k.dtype != np.float64 for k in self._kept):
            return None  # kept results lie among the numbers that are found
        n_found, launch = self._summed
        *starts, end = starts_of([n_found, *(math.prod(k.shape) for k in self._kept)], QUAD)

        def start(given: Handle, found: Handle) -> None:
            launch(found, self._slots.given(given, places), [(found, place) for place in starts[1:]])

        n_sets, given = self._results.n_sets, {}
        for i, (name, own) in enumerate(zip(self._names, places, strict=True)):
            by_set = own if own.ndim == 2 else own.reshape(n_sets if i in self._slots.by_set else 1, -1)
            given[name] = np.arange(by_set.shape[1]), by_set
        work = Repeatable(self._slots.runtime, _n_given(places), end, start, self._slots.dtype)
        return RepeatedSum(work, self._results.values, given, self._results.by_set(starts[1:]))

    def _recorded(self, arguments: Sequence[Value]) -> _Recorded | None:
        """Recording that starts the kernels again in the calling thread; None where that cannot be."""
        slots, (n_found, launch) = self._slots, self._work
        moving = [i for i, value in enumerate(arguments) if is_device_array(value)]
        if (moving or self._kept) and not slots.runtime.moves:
            return None
        places, kept = slots.places(arguments, moving), [(Moved(~i), 0) for i in range(len(self._kept))]
        if places is None or sum(own.size for own in places) > self._most_recorded:
            return None
        stacks = [(own, v) for own, v in zip(places, arguments, strict=True) if own.ndim == 2]
        if not all(np.size(v) in (own.size, own.shape[1]) for own, v in stacks):
            return None  # sets of a stack share some numbers, and not all
        made = slots.runtime.recording(
            _n_given(places), n_found, lambda at, to: launch(to, slots.given(at, places, moving), kept), slots.dtype
        )
        return None if made is None else _Recorded(slots.runtime, made, places, arguments, moving)


def _n_given(places: Sequence[np.ndarray]) -> int:
    """Length of the array in which all numbers lie."""
    return max(1 + max((int(own.max(initial=-1)) for own in places), default=-1), 1)


class _Recorded:
    """Recording that is started with the numbers of calls.

    Each argument's numbers have `places` among the numbers given, (sets, numbers of a set) in a stack; `arguments` are those of
    one of the calls. Those `moving` are read where they lie on the device.
    """

    def __init__(
        self, runtime: Runtime, recording: Recording, places: Sequence[np.ndarray], arguments: Sequence[Value],
        moving: Sequence[int] = (),
    ):  # fmt: skip
        self._recording, self._found, self._synchronize = recording, recording.found, runtime.synchronize
        self._memory, self._moving = runtime.memory, moving
        self._numbers: list[tuple[int, int]] = []  # place, argument
        self._arrays: list[tuple[np.ndarray, int]] = []  # their part of the numbers given
        self._lines: list[tuple[np.ndarray, int]] = []  # their parts, one for each set of a stack
        self._mixed: list[tuple[np.ndarray, int, Shape]] = []  # the places of those that lie in another order, their shape
        for i, (own, argument) in enumerate(zip(places, arguments, strict=True)):
            if i in moving:
                continue
            if own.ndim == 2:
                lines = _lines(recording.given, own)
                if lines is None:
                    self._mixed.append((own, i, (-1, own.shape[1])))
                else:
                    self._lines.append((lines, i))
            elif not np.shape(argument):
                self._numbers.append((int(own[0]), i))
            elif (np.diff(own) == 1).all():
                part = recording.given[int(own[0]) : int(own[-1]) + 1] if own.size else recording.given[:0]
                self._arrays.append((part.reshape(np.shape(argument)), i))
            else:
                self._mixed.append((own, i, (-1,)))
        self._given = recording.given
        self._as_memory: Any = recording.given.data  # in which a number is set sooner

    def start(self, arguments: Sequence[Value], kept: Sequence[Written] = ()) -> bool:
        """Start the recording, which writes kept results to their places; return whether the driver took it all."""
        for i in self._moving:
            self._recording.move(i, self._memory(arguments[i])[0])
        for i, written in enumerate(kept):
            self._recording.move(~i, written.handle)
        as_memory = self._as_memory
        for place, i in self._numbers:
            as_memory[place] = float(arguments[i])
        for part, i in self._arrays:
            part[...] = arguments[i]
        for lines, i in self._lines:
            lines[...] = np.reshape(arguments[i], (-1, lines.shape[1]))
        for places, i, shape in self._mixed:
            self._given[places] = np.reshape(arguments[i], shape)
        return self._recording.start()

    def wait(self) -> np.ndarray:
        """Wait for the last start; return its results, a view, to be read at once."""
        self._synchronize()
        return self._found


def _lines(numbers: np.ndarray, places: np.ndarray) -> np.ndarray | None:
    """View of the numbers at places (sets, numbers of a set); None where these lie in another order."""
    if not places.size:
        return numbers[:0].reshape(places.shape)
    if (step := _distance(places)) < places.shape[1]:
        return None
    return as_strided(numbers[int(places[0, 0]) :], places.shape, (step * numbers.itemsize, numbers.itemsize))


class _OfThread(threading.local):
    """Recording of a thread."""

    n_calls = 0  # up to that from which on there may be a recording
    recorded: _Recorded | None = None
