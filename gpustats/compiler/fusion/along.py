"""Positions along an axis, as each row of a sum reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np


class Along:
    """Position along an axis for each row: start + step · n for row n, where it is regular.

    `key` is equal where the positions are known to be equal. `make` returns the positions, (N,); it is called once, and only
    where somebody asks. `used` returns which rows use what is there, (N,); None where all do.
    """

    def __init__(
        self, key: tuple, make: Callable[[], np.ndarray], start: int | None = None, step: int | None = None,
        used: Callable[[], np.ndarray] | None = None,
    ):  # fmt: skip
        self.key, self.start, self.step, self.used = key, start, step, used
        self._make = make
        self._places: np.ndarray | None = None

    @property
    def places(self) -> np.ndarray:
        if self._places is None:
            self._places = self._make()
        return self._places

    @property
    def is_row(self) -> bool:
        """True if row n is at position n."""
        return self.start == 0 and self.step == 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Along) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def scaled(self, step: int, start: int) -> Along:
        """Positions start + step · self."""
        if (step, start) == (1, 0):
            return self
        if self.start is not None and self.step is not None:
            return evenly(self.start * step + start, self.step * step, self._n)
        return Along(("scaled", self.key, step, start), lambda: self.places * step + start, used=self.used)

    @property
    def _n(self) -> int:
        return self.key[-1]


Entry = int | Along
At = tuple[Entry, ...]
#: Part of a variable, as NumPy's basic indexing takes it; (...,) for all of its elements, one after another.
Pick = tuple[int | slice | EllipsisType, ...]


def evenly(start: int, step: int, n: int) -> Along:
    """Positions start + step · n of n rows."""
    return Along(("evenly", start, step, n), lambda: start + step * np.arange(n), start, step)


def axes_of(shape: Sequence[int]) -> list[Entry]:
    """Positions along each axis of an array whose elements are the rows."""
    n = math.prod(shape)
    long = [axis for axis, extent in enumerate(shape) if extent != 1]
    if len(long) <= 1:
        return [0 if extent == 1 else evenly(0, 1, n) for extent in shape]
    found: list[Entry] = []
    for axis, extent in enumerate(shape):
        inner = math.prod(shape[axis + 1 :])

        def make(extent: int = extent, inner: int = inner) -> np.ndarray:
            return np.arange(n) // inner % extent

        found.append(0 if extent == 1 else Along(("axis", axis, tuple(shape)), make))
    return found


def picked(array: np.ndarray, at: Sequence[Entry], name: Hashable) -> Entry:
    """Elements of an array of whole numbers at these positions, as positions.

    The same array always comes with the same `name`.
    """
    if not any(isinstance(a, Along) for a in at):
        return int(array[tuple(a for a in at if isinstance(a, int))])
    key = ("picked", name, *(a.key if isinstance(a, Along) else a for a in at))
    places = read(array, at).astype(np.int64, copy=False)
    if places.size and (places == places[0]).all():
        return int(places[0])
    if places.size > 1 and (step := int(places[1] - places[0])) and (np.diff(places) == step).all():
        return evenly(int(places[0]), step, places.size)
    return Along(key, lambda: places)


def read(array: np.ndarray, at: Sequence[Entry]) -> Any:
    """Elements of an array at these positions: (N,), or a number where no position differs between rows."""
    long = [a for a in at if isinstance(a, Along)]
    if len(long) == 1 and long[0].start is not None and long[0].step == 1:
        n = long[0].key[-1]
        return array[tuple(slice(a.start, a.start + n) if isinstance(a, Along) else a for a in at)]
    return array[tuple(a.places if isinstance(a, Along) else a for a in at)]


def of_each(pick: Pick) -> Pick:
    """Index of the same part in each set along the first axis."""
    return pick if pick == (...,) else (slice(None), *pick)


def part_of(array: Any, pick: Pick, n_sets: int | None = None) -> Any:
    """Part of an input that a parameter is; the input may have a first axis of sets."""
    if type(array) is float:
        return array
    if not pick:
        return float(array)
    if pick == (...,):
        return array.reshape(-1 if n_sets is None else (n_sets, -1)).astype(np.float64, copy=False)
    part = array[pick]
    return part.astype(np.float64, copy=False) if part.ndim else float(part)
