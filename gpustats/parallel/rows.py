"""The one place that cuts along the rows: data into pieces, arguments into those of pieces, and results into one again.

Sums run in the order of the pieces, in float64, so that the same pieces give the same bits wherever each is evaluated.
"""

from __future__ import annotations

import functools
import math
import operator
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from mmap import ALLOCATIONGRANULARITY
from typing import Any

import numpy as np

from ..runtime import arrays
from ..runtime.types import Array, DType, Shape

Range = tuple[int, int]  # the first row, and the one behind the last
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


# ---- data


def as_rows(value: Any, name: str) -> Array:
    """What `arrays.as_array` makes of the rows of a model, but for rows that `is_stored`: they stay where they are."""
    if not is_stored(value):
        return arrays.as_array(value, name)
    arrays.check_dtype(np.dtype(value.dtype), name)
    return value


def is_stored(value: Any) -> bool:
    """Whether an array is read by slices: a memory-mapped file, a Zarr or Dask array, an HDF5 data set and their like."""
    if isinstance(value, np.ndarray):
        return isinstance(value, np.memmap)
    if any(hasattr(value, a) for a in ("__cuda_array_interface__", "__dlpack__", "iloc")):  # other libraries' memory; pandas
        return False
    return isinstance(value, Section) or (
        isinstance(getattr(value, "dtype", None), np.dtype)
        and len(getattr(value, "shape", ())) > 0
        and hasattr(value, "__getitem__")
        and not arrays.is_device_array(value)
    )


class Section:
    """Some rows of an array that is read by slices. Pickled without the rows of a file, which is opened anew elsewhere."""

    def __init__(self, source: Any, first: int, end: int):
        if isinstance(source, Section):
            source, first, end = source.source, source.first + first, source.first + end
        self.source: Any = source
        self.first, self.end = first, end

    @property
    def shape(self) -> Shape:
        return (self.end - self.first, *self.source.shape[1:])

    @property
    def dtype(self) -> DType:
        return self.source.dtype

    def __getitem__(self, rows: slice) -> Any:
        first, end, step = rows.indices(self.end - self.first)
        if step != 1:
            raise IndexError("the rows of a section are read one after another")
        return self.source[self.first + first : self.first + max(first, end)]

    def __reduce__(self) -> Any:
        if not isinstance(self.source, np.memmap):
            return Section, (self.source, self.first, self.end)
        if (place := _place_in_file(self.source)) is None:
            raise pickle.PicklingError("of a memory-mapped array only rows that lie in its file in C order can be pickled")
        path, start = place
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        return _mapped, (path, self.dtype, start + self.first * row, self.shape)


def _place_in_file(array: np.memmap) -> tuple[str, int] | None:
    """The file behind a memory-mapped array, if its numbers lie there in C order, and where they start."""
    mapped, path = getattr(array, "_mmap", None), getattr(array, "filename", None)
    if mapped is None or path is None or not array.flags.c_contiguous:
        return None
    # A view keeps the `offset` of the array that it is a view of: only addresses tell where it starts.
    behind = array.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    return os.path.abspath(path), behind + array.offset // ALLOCATIONGRANULARITY * ALLOCATIONGRANULARITY


def _mapped(path: str, dtype: DType, offset: int, shape: Shape) -> Any:
    return np.memmap(path, dtype, "r", offset, shape) if math.prod(shape) else np.empty(shape, dtype)


def section(value: Array, first: int, end: int) -> Array:
    """Some rows of an array, of one that is read by slices still to be read."""
    return Section(value, first, end) if is_stored(value) else value[first:end]


def read(value: Array, first: int, end: int) -> np.ndarray:
    """Some rows of an array, in memory; a view where it is in memory or mapped to it."""
    rows = value[first:end]
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows)


def largest(value: Array, initial: Any) -> Any:
    """The largest number of an array and `initial`. An array that is read by slices passes through the memory."""
    size = 1 << 20 if is_stored(value) else max(value.shape[0], 1)
    return functools.reduce(lambda found, rows: read(value, *rows).max(initial=found), chunks(value.shape[0], size), initial)


def split(n_rows: int, shares: Sequence[float]) -> list[Range]:
    """The rows in pieces as large as the shares demand, without empty ones (but for one of no rows)."""
    ends = np.cumsum(shares) / math.fsum(shares)
    places = [0, *np.rint(n_rows * ends[:-1]).astype(int).tolist(), n_rows]
    return [r for r in zip(places[:-1], places[1:], strict=True) if r[1] > r[0]] or [(0, 0)]


def chunks(n_rows: int, size: int) -> list[Range]:
    """The rows in pieces of one size, the last of which may be smaller."""
    return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)] or [(0, 0)]


# ---- arguments


def cut(
    args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], axes: Mapping[str, int], ranges: Iterable[Range]
) -> Iterator[Arguments]:
    """The arguments for each piece.

    Parameters
    ----------
    args, kwargs
        The arguments of the call for all rows.
    names : sequence of str
        The names of `args`.
    axes : mapping
        The axis of the rows, counted from the end, of each argument that has one.
    ranges : iterable of (int, int)
    """

    def part(name: str, value: Any, rows: slice) -> Any:
        return value[(..., rows, *[slice(None)] * (-axes[name] - 1))] if name in axes else value

    given = dict(zip(names, args, strict=False))
    given = {n: np.asarray(v) if n in axes else v for n, v in given.items()}
    kwargs = {n: np.asarray(v) if n in axes else v for n, v in kwargs.items()}
    for first, end in ranges:
        rows = slice(first, end)
        yield tuple(part(n, v, rows) for n, v in given.items()), {n: part(n, v, rows) for n, v in kwargs.items()}


# ---- results


def added(results: Iterable[Any], axes: Mapping[str, int]) -> Any:
    """The sum of what the pieces give."""
    return functools.reduce(operator.add, results)


def added_gradients(results: Iterable[dict[str, Any]], axes: Mapping[str, int]) -> dict[str, Any]:
    """Derivatives: sums, but in what has a value for each row, where those of the pieces lie one after another."""
    sums: dict[str, Any] = {}
    by_row: dict[str, list[Any]] = {}
    for gradients in results:
        for name, gradient in gradients.items():
            if name in axes:
                by_row.setdefault(name, []).append(gradient)
            else:
                sums[name] = sums[name] + gradient if name in sums else gradient
        order = list(gradients)
    return {n: _after_one_another(by_row[n], axes[n]) if n in by_row else sums[n] for n in order}


def _after_one_another(parts: Sequence[np.ndarray], axis: int) -> np.ndarray:
    # What has a value for each row is of the data's type; of a piece of one row it is a sum, and so in float64.
    return np.concatenate(parts, axis, dtype=min((p.dtype for p in parts), key=lambda dtype: dtype.itemsize))


def added_with_gradients(
    results: Iterable[tuple[Any, dict[str, Any]]], axes: Mapping[str, int]
) -> tuple[Any, dict[str, Any]]:
    """Values and derivatives."""
    values: list[Any] = []

    def gradients() -> Iterator[dict[str, Any]]:
        for value, gradient in results:
            values.append(value)
            yield gradient

    found = added_gradients(gradients(), axes)
    return added(values, axes), found


def joined(name: str) -> Callable[[Iterable[Any], Mapping[str, int]], Any]:
    """A function that puts together results with a value for each row, whose axis of the rows `axes` calls `name`."""

    def together(results: Iterable[Any], axes: Mapping[str, int]) -> Any:
        return np.concatenate(list(results), axes[name])

    return together
