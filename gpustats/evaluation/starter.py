"""Kernels that calls of one kind start, which a thread records and has the device do again: see `runtime.replay`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Recording
    from ..runtime.types import DType, Handle

UNRECORDED_CALLS = 2  # calls of a thread that start each kernel as any call does
MOST_RECORDED_NUMBERS = 4096  # the most numbers that a recorded call takes


class Sender(Protocol):
    """Carrier of the numbers of calls of one kind to kernels."""

    def of(self, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Values for the kernels in a call, and objects that the caller holds until they are done."""

    def places(self, arguments: Sequence[Any]) -> Sequence[np.ndarray] | None:
        """Places of the numbers of each argument if all of them travel in one array; None where they cannot."""

    def given(self, handle: Handle, places: Sequence[np.ndarray]) -> Any:
        """Values for the kernels where the array of all numbers lies at a handle."""


class Starter:
    """Starter of the kernels of calls of one kind, which waits for their results. Threads may share the object.

    Parameters
    ----------
    runtime : Runtime
    dtype : dtype
        Type of the numbers that the kernels read.
    values : Sender
    n_found : int
        Numbers that the kernels leave.
    launch : callable
        Starts them: takes the handle at which they leave these, and what goes to them.
    few : int, optional
        The most numbers that a recorded call takes.
    """

    def __init__(
        self, runtime: Runtime, dtype: DType, values: Sender, n_found: int, launch: Callable[[Handle, Any], None],
        few: int = MOST_RECORDED_NUMBERS,
    ):  # fmt: skip
        self._runtime, self._dtype, self._values, self._n_found, self._launch = runtime, dtype, values, n_found, launch
        self._own, self._few = _Own(), few

    def start(self, arguments: Sequence[Any]) -> Callable[[], np.ndarray]:
        """Start the kernels; the function returned waits and gives their results, a view, to be read at once."""
        own = self._own
        if own.n_calls <= UNRECORDED_CALLS:
            own.n_calls += 1
            if own.n_calls > UNRECORDED_CALLS:
                own.recorded = self._recorded(arguments)
        if own.recorded is not None and own.recorded.start(arguments):
            return own.recorded.wait
        runtime, result = self._runtime, self._runtime.result(8 * max(self._n_found, 1))
        taken, alive = self._values.of(arguments)
        self._launch(result.handle, taken)

        def finish() -> np.ndarray:
            found = runtime.fetch(result).view(np.float64)
            alive.clear()  # which the kernels may have been reading
            return found

        return finish

    def _recorded(self, arguments: Sequence[Any]) -> _Recorded | None:
        """Recording that starts the kernels again in the calling thread; None where that cannot be."""
        places = self._values.places(arguments)
        if places is None or sum(map(len, places)) > self._few:
            return None
        n_given = 1 + max((int(own.max(initial=-1)) for own in places), default=-1)
        made = self._runtime.recording(
            n_given, self._n_found, lambda at, to: self._launch(to, self._values.given(at, places)), self._dtype
        )
        return None if made is None else _Recorded(self._runtime, made, places, arguments)


class _Recorded:
    """Recording that is started with the numbers of calls.

    Parameters
    ----------
    runtime : Runtime
    recording : Recording
    places : sequence of ndarray
        Places of each argument's numbers among the numbers given.
    arguments : sequence
        Arguments of one of the calls.
    """

    def __init__(self, runtime: Runtime, recording: Recording, places: Sequence[np.ndarray], arguments: Sequence[Any]):
        self._recording, self._found, self._synchronize = recording, recording.found, runtime.synchronize
        self._numbers: list[tuple[int, int]] = []  # place, argument
        self._arrays: list[tuple[np.ndarray, int]] = []  # their part of the numbers given
        self._mixed: list[tuple[np.ndarray, int]] = []  # the places of those that lie in another order
        for i, (own, argument) in enumerate(zip(places, arguments, strict=True)):
            if not np.shape(argument):
                self._numbers.append((int(own[0]), i))
            elif (np.diff(own) == 1).all():
                part = recording.given[int(own[0]) : int(own[-1]) + 1] if own.size else recording.given[:0]
                self._arrays.append((part.reshape(np.shape(argument)), i))
            else:
                self._mixed.append((own.reshape(np.shape(argument)), i))
        self._given = recording.given
        self._as_memory: Any = recording.given.data  # in which a number is set sooner

    def start(self, arguments: Sequence[Any]) -> bool:
        """Start the recording; return whether the driver took it all."""
        as_memory = self._as_memory
        for place, i in self._numbers:
            as_memory[place] = float(arguments[i])
        for part, i in self._arrays:
            part[...] = arguments[i]
        for places, i in self._mixed:
            self._given[places] = arguments[i]
        return self._recording.start()

    def wait(self) -> np.ndarray:
        """Wait for the last start; return its results, a view, to be read at once."""
        self._synchronize()
        return self._found


class _Own(threading.local):
    """Recording of a thread."""

    n_calls = 0  # up to that from which on there may be a recording
    recorded: _Recorded | None = None
