"""Points in rows, not all of which a device, or the memory, need hold at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import DTypeLike

from ...parallel.rows import chunks, read
from ...runtime.types import Array
from ..observations import require_finite

ROWS_AT_ONCE = 1 << 18  # that are read at once, in a pass over all rows


class Points:
    """Points in rows, in units of their own; the rows stay where they are, and those read become float64.

    Parameters
    ----------
    rows : (N, p) or (N,) ndarray or rows that are read by slices
        (N,) is one column.
    units : sequence of (p,) ndarray
        Divisors of the columns, one after another.
    """

    def __init__(self, rows: Array, units: Sequence[np.ndarray] = ()) -> None:
        self.rows, self._units = rows, tuple(units)
        self.shape = (rows.shape[0], rows.shape[1] if len(rows.shape) > 1 else 1)

    def __len__(self) -> int:
        return self.shape[0]

    def over(self, lengths: np.ndarray) -> Points:
        """Points with columns divided by these lengths."""
        return Points(self.rows, (*self._units, lengths))

    def part(self, first: int, end: int) -> np.ndarray:
        """Rows from `first` to `end` - 1, in C order."""
        return self._within(read(self.rows, first, end, "X"))

    def parts(self) -> Iterator[np.ndarray]:
        """Rows in parts, one after another."""
        return (self.part(*rows) for rows in chunks(len(self), ROWS_AT_ONCE))

    def require_finite(self) -> None:
        """Check of all numbers: ValueError where one is nan or infinite."""
        for i, part in enumerate(self.parts()):
            require_finite("X", part, ROWS_AT_ONCE * i)

    def __getitem__(self, numbers: np.ndarray | slice) -> np.ndarray:
        """Rows of these numbers, in C order; where X is not in memory, all of it is read for them."""
        if isinstance(numbers, slice):
            numbers = np.arange(len(self))[numbers]
        if isinstance(self.rows, np.ndarray):
            return self._within(self.rows[numbers])
        order = np.argsort(numbers, kind="stable")
        found, ordered = np.empty((len(numbers), self.shape[1])), numbers[order]
        for first, end in chunks(len(self), ROWS_AT_ONCE):
            low, high = np.searchsorted(ordered, [first, end])
            if low < high:
                found[order[low:high]] = self.part(first, end)[ordered[low:high] - first]
        return found

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.part(0, len(self)), dtype)

    def _within(self, rows: np.ndarray) -> np.ndarray:
        found = np.asarray(rows, np.float64).reshape(len(rows), self.shape[1])
        for lengths in self._units:
            found = found / lengths
        return np.ascontiguousarray(found)


def parts_of(X: np.ndarray | Points) -> Iterator[np.ndarray]:
    """Rows of an array or of points, some after the others."""
    return X.parts() if isinstance(X, Points) else (X[first:end] for first, end in chunks(len(X), ROWS_AT_ONCE))
