"""Repeated work of a device with other numbers each time, by Python or by compiled code that takes no lock of Python's."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .cached import cached_property
from .types import Handle

#: Starts the work: from numbers that lie at a handle, what kernels leave at another.
Start = Callable[[Handle, Handle], None]


class Given(NamedTuple):
    """Placeholder among a kernel's arguments for a number taken by value: its place among the given numbers."""

    place: int


class Moved(NamedTuple):
    """Placeholder among a kernel's arguments for the handle of an array that lies elsewhere in each call: which one it is."""

    array: int


class Command(NamedTuple):
    """Call of one of the driver's functions, which returns 0 or the number of an error."""

    function: int  # address of the function
    arguments: tuple[int, ...]  # whole numbers and addresses, at most nine

    def call(self, holds: bool = True) -> Callable[[], int]:
        """Command as a function of Python's; `holds`: it keeps Python's lock."""
        kind = ctypes.PYFUNCTYPE if holds else ctypes.CFUNCTYPE
        made = kind(ctypes.c_int, *[ctypes.c_int64] * len(self.arguments))(self.function)
        return functools.partial(made, *map(ctypes.c_int64, self.arguments))


@dataclass(eq=False)
class Enqueued:
    """Repeatable work of a device, as commands that put it on a stream, and do not wait for it.

    One thread at a time writes the stream, the device's address of the numbers given, of the type for which it was made, and
    that of the numbers found, float64, to all the places for them, and runs the commands.
    """

    commands: Sequence[Command]
    streams: Sequence[int]  # the host's addresses of 8 bytes each, here and below
    given: Sequence[int]
    found: Sequence[int]
    context: int  # to which the stream belongs
    alive: list[object]  # objects that have to live as long as anybody runs the commands


@dataclass(eq=False)
class Recording:
    """Work that its recording thread starts again from Python, in order with all else that the thread starts.

    The thread writes `given`, starts the work, waits by `Runtime.synchronize`, and reads `found` at once.
    """

    given: np.ndarray  # float64 or float32: the host's memory from which the work takes its numbers
    # float64: the host's memory in which the work leaves its results; the memory of `Runtime.result`
    found: np.ndarray
    # Returns whether the driver took it all. Else it may have taken a part, and the work is to be started anew otherwise.
    start: Callable[[], bool]
    alive: list[object]  # objects that have to live as long as anybody starts the work
    # `Moved.array` -> where kernels take its handle
    moved: Mapping[int, Sequence[ctypes.c_int64]] = field(default_factory=dict)

    def move(self, array: int, handle: Handle) -> None:
        """Have the next starts find an array at a handle."""
        for place in self.moved.get(array, ()):
            place.value = int(handle)


@dataclass(eq=False)
class Replay:
    """Repeatable work of a device, as commands: one thread at a time writes `given`, runs them, and reads `found`."""

    given: np.ndarray  # float64 or float32: the host's memory from which the work takes its numbers
    found: np.ndarray  # float64: the host's memory in which the work leaves its results
    commands: Sequence[Command]  # in their order; the last ones return when the work is done
    alive: list[object]  # objects that have to live as long as anybody runs the commands

    @cached_property
    def _calls(self) -> list[Callable[[], int]]:
        """Commands as functions of Python's."""
        return [command.call(holds=False) for command in self.commands]

    def run(self) -> None:
        """Run the commands from Python.

        Raises
        ------
        RuntimeError
            Where a command fails.
        """
        if any([call() for call in self._calls]):
            raise RuntimeError("the device did not do its work again")
