"""Slots: the steps of all rows that are loops, one row after another, with the element of the term that each step adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .along import Along, At, Entry, evenly
from .scalar_ops import Unsupported

MOST_REPEATS = 16  # rows that go through the same steps, each for a part of the term


class Reading(NamedTuple):
    """Elements of an output of a scan that the elements of a term read."""

    at: At
    n_first: int  #: number of the output's elements before the steps

    def steps(self, n: int) -> np.ndarray:
        """Step that makes what each element reads; below 0 what is there before."""
        place = self.at[0]
        return np.broadcast_to(place if isinstance(place, int) else place.places, n) - self.n_first

    def used(self, n: int) -> np.ndarray:
        """Elements that use what they read."""
        used = None if isinstance(self.at[0], int) else self.at[0].used
        return np.ones(n, bool) if used is None else used()


class Slots:
    """Slots of rows: those of row i are `starts[i]` up to `starts[i + 1]`, one for each step of its loop.

    `live` tells which of them add an element of the term; the others have the positions of a neighbour.
    """

    def __init__(self, row: np.ndarray, step: np.ndarray, shape: Sequence[int]):
        """Slots for elements of a term of this shape, of which each has a row and a step."""
        self.lengths = np.zeros(int(row.max()) + 1, np.int64)
        np.maximum.at(self.lengths, row, step + 1)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.n, self.n_rows = int(self.starts[-1]), self.lengths.size
        self.step = np.arange(self.n) - np.repeat(self.starts[:-1], self.lengths)
        slot = self.starts[row] + step
        self.live = np.zeros(self.n, bool)
        self.live[slot] = True
        element = np.zeros(self.n, np.int64)
        element[slot] = np.arange(row.size)
        last = np.maximum.accumulate(np.where(self.live, np.arange(self.n), -1))
        first = np.repeat(np.minimum.reduceat(np.where(self.live, np.arange(self.n), self.n), self.starts[:-1]), self.lengths)
        self.rows = _positions(element[np.maximum(last, first)], shape)
        self._by_row: dict[tuple, np.ndarray | None] = {}

    @property
    def when(self) -> str:
        """Condition of C for the steps that add to the sum; empty where all do, "?" where only data tell."""
        if self.live.all():
            return ""
        begins = int(self.step[self.live].min())
        if np.array_equal(self.live, self.step >= begins):
            return f"t >= {begins}"
        last = np.zeros(self.n, bool)
        last[self.starts[1:] - 1] = True
        return "t == n - 1" if np.array_equal(self.live, last) else "?"

    def by_row(self, numbers: np.ndarray) -> np.ndarray | None:
        """Number of each row, where it is the same in all of a row's slots, else None."""
        first = numbers[self.starts[:-1]]
        same = np.array_equal(np.repeat(first, self.lengths), numbers, equal_nan=numbers.dtype.kind == "f")
        return first if same else None

    def of_row(self, place: Along) -> np.ndarray | None:
        """Position of each row, where all of a row's slots have the same, else None."""
        if place.key not in self._by_row:
            self._by_row[place.key] = self.by_row(place.places)
        return self._by_row[place.key]

    def at_step(self, extent: int) -> Entry:
        """Position of what has an element for each step."""
        if extent == 1:
            return 0
        if self.n_rows == 1 and self.n <= extent:
            return evenly(0, 1, self.n)
        key = ("step", extent)
        return Along(key, lambda: np.minimum(self.step, extent - 1), used=lambda: self.step < extent)

    def lag(self, reading: Reading) -> int:
        """How many steps before the present one that was made which is read."""
        lags = (self.step - reading.steps(self.n))[reading.used(self.n) & self.live]
        if not lags.size:
            return 0
        if lags.min() != lags.max():
            raise Unsupported("a scan whose elements are read in another order than that of its steps")
        if lags[0] < 0:
            raise Unsupported("a scan that is read ahead of its steps")
        return int(lags[0])


def slots_of(readings: Sequence[Reading], shape: Sequence[int]) -> Slots:
    """Slots of a term of this shape whose elements read scans in this way."""
    n = int(np.prod(shape))
    step, known = np.full(n, -1), np.zeros(n, bool)
    for reading in readings:
        used = reading.used(n)
        step = np.where(used, np.maximum(step, reading.steps(n)), step)
        known |= used
    if not known.any():
        raise Unsupported("a scan of which nothing is read")
    row = _rows(readings, shape, step, known)
    if not known.all():
        step = _continued(row, step, known)
    return Slots(row, step - min(int(step.min()), 0), shape)


def _rows(readings: Sequence[Reading], shape: Sequence[int], step: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Row of each element: no row has two at a step."""
    n = step.size
    at_states = {a.key: a for reading in readings for a in reading.at[1:] if isinstance(a, Along)}
    of_states = sorted((_numbered(a.places) for a in at_states.values()), key=lambda found: -found.max())
    of_term = [_numbered(a.places) for a in _positions(np.arange(n), shape) if isinstance(a, Along)]
    of_term.sort(key=lambda found: found.max())
    row = np.zeros(n, np.int64)
    for k, numbers in enumerate([*of_states, *of_term]):
        if _all_differ(row[known], step[known]):
            break
        if k >= len(of_states) and numbers.max() >= MOST_REPEATS:
            raise Unsupported("a scan of which many elements of the sum read the same step")
        row = _numbered(row * (numbers.max() + 1) + numbers)
    if not _all_differ(row[known], step[known]):
        raise Unsupported("a scan of which several elements of the sum read the same step")
    return row


def _continued(row: np.ndarray, step: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Steps of all elements, where some are not told: an element's neighbours in its row are its neighbours in time."""
    order = np.argsort(row, kind="stable")
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    rank = np.empty(row.size, np.int64)
    rank[order] = np.arange(row.size) - np.repeat(starts, np.diff(starts, append=row.size))
    offsets = (step - rank)[known]
    if offsets.min() != offsets.max():
        raise Unsupported("a scan whose steps are joined with others")
    return rank + int(offsets[0])


def _numbered(numbers: np.ndarray) -> np.ndarray:
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)


def _all_differ(row: np.ndarray, step: np.ndarray) -> bool:
    pairs = row * (int(step.max()) - min(int(step.min()), 0) + 1) + step - min(int(step.min()), 0)
    return np.unique(pairs).size == pairs.size


def _positions(element: np.ndarray, shape: Sequence[int]) -> tuple[Entry, ...]:
    """Positions along each axis of a term of this shape, for these of its elements."""
    n, found = element.size, list[Entry]()
    for axis, places in enumerate(np.unravel_index(element, tuple(shape)) if shape else ()):
        if shape[axis] == 1:
            found.append(0)
        elif n == shape[axis] and np.array_equal(places, np.arange(n)):
            found.append(evenly(0, 1, n))
        else:
            found.append(Along(("slot", axis, tuple(shape)), lambda places=places: places))  # type: ignore[misc]
    return tuple(found)
