"""Host memory: how much of it is free, copies that ask for it first, and rows that are copied in parts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from . import thresholds
from .types import Array, DType, Shape

LARGE_COPY = thresholds.RUNTIME_LARGE_COPY.value  # bytes from which on it pays to look at the free memory


def available() -> int | None:
    """Bytes of unused memory, None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = (int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    return next(found, None)


def contiguous(array: np.ndarray, dtype: DTypeLike, copy: bool = False) -> np.ndarray:
    """Numbers of an array in C order: the array itself where they lie so already and `copy` is not asked for, else a copy.

    Raises
    ------
    MemoryError
        Where a copy does not fit. Some systems grant more than there is, and kill the process when it is written.
    """
    if copy or array.dtype != dtype or not array.flags.c_contiguous:
        nbytes = array.size * np.dtype(dtype).itemsize
        free = available() if nbytes > LARGE_COPY else None
        if free is not None and nbytes > free:
            raise MemoryError(
                f"a copy of an array of shape {array.shape} asked {nbytes / 2**30:.2f} GiB, free {free / 2**30:.2f} GiB "
                "of the host's memory"
            )
    return np.array(array, dtype, order="C") if copy else np.ascontiguousarray(array, dtype)


class HostRows(ABC):
    """Rows of an array that several threads read straight to their destination; the result belongs to nobody else."""

    dtype: DType
    shape: Shape

    @abstractmethod
    def part(self, first: int, end: int) -> Self:
        """Range of the rows, still to be read."""

    @abstractmethod
    def read(self, out: np.ndarray) -> None:
        """Fill an array of this shape and type, whose numbers lie in C order."""

    def together(self, rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of about so many rows, each of which is best read at once."""
        n = self.shape[0]
        return ((first, min(first + rows, n)) for first in range(0, n, rows))

    def array(self) -> np.ndarray:
        """Array of all rows, read by the calling thread."""
        result = np.empty(self.shape, self.dtype)
        if result.size:
            self.read(result)
        return result

    def __getitem__(self, rows: slice) -> np.ndarray:
        first, end, step = rows.indices(self.shape[0])
        if step != 1:
            raise IndexError("the rows are read one after another")
        return self.part(first, max(first, end)).array()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)


#: Device arrays, and what is to be copied into each.
Copies = Sequence[tuple[Array, np.ndarray | HostRows]]


def read_into(out: np.ndarray, source: np.ndarray | HostRows) -> None:
    """Fill an array, whose numbers lie in C order, from another array or from rows, converted to its type."""
    if isinstance(source, HostRows) and source.dtype == out.dtype:
        source.read(out)
    else:
        np.copyto(out, source.array() if isinstance(source, HostRows) else source, casting="unsafe")


def parts(array: Array, itemsize: int, most: int) -> Iterator[tuple[int, Array]]:
    """Parts of an array, or of rows, of at most `most` bytes, whose numbers follow one another in C order.

    Parts of rows are larger where more are to be read together.

    Yields
    ------
    start : int
        The byte at which the part begins.
    part : ndarray or HostRows
    """
    n, row = array.shape[0], math.prod(array.shape[1:]) * itemsize
    if row > most:
        for i, wide in enumerate(array[:]):
            yield from ((i * row + start, part) for start, part in parts(wide, itemsize, most))
        return
    step = most // max(row, 1)
    if isinstance(array, HostRows):
        yield from ((first * row, array.part(first, end)) for first, end in array.together(step))
    else:
        yield from ((first * row, array[first : first + step]) for first in range(0, n, step))
