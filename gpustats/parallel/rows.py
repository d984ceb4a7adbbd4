"""Cuts along the rows, all in this module: data into pieces, arguments into those of pieces, and results into one again.

Sums run in the order of the pieces, in float64, so that the same pieces give the same bits wherever each is evaluated.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..runtime import arrays
from ..runtime.host_memory import HostRows
from ..runtime.types import Array, DType, Shape
from .declared import as_declared, checked_chunks, is_dask
from .files import hdf5_rows, mapped_rows
from .ragged import Ragged
from .zarr_rows import zarr_rows

Range = tuple[int, int]  # the first row, and the one behind the last
Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Gradients = dict[str, Array]  # derivatives, by the names of what they are in
Total = TypeVar("Total", float, np.ndarray)  # sum over rows, or one for each set of parameters


# ---- data


def as_rows(value: Array, name: str) -> Array:
    """Rows of a model as `arrays.as_array` has them, but for rows that `is_stored`: they stay where they are."""
    if not is_stored(value):
        array = arrays.as_array(value, name)
        return (mapped_rows(array, name) or array) if isinstance(array, np.ndarray) else array
    arrays.check_dtype(np.dtype(value.dtype), name)
    return checked_chunks(value, name) if is_dask(value) else hdf5_rows(value, name) or zarr_rows(value, name) or value


def is_stored(value: object) -> bool:
    """True if an array is read by slices: rows in a file, a Zarr or Dask array, an HDF5 data set and their like."""
    if isinstance(value, np.ndarray):
        return False
    if isinstance(value, HostRows):
        return True
    if any(hasattr(value, a) for a in ("__cuda_array_interface__", "__dlpack__", "iloc")):  # other libraries' memory; pandas
        return False
    return isinstance(value, Section) or (
        isinstance(getattr(value, "dtype", None), np.dtype)
        and len(getattr(value, "shape", ())) > 0
        and hasattr(value, "__getitem__")
        and not arrays.is_device_array(value)
    )


class Section:
    """Range of rows of an array that is read by slices."""

    def __init__(self, source: Array, first: int, end: int):
        if isinstance(source, Section):
            source, first, end = source.source, source.first + first, source.first + end
        self.source: Array = source
        self.first, self.end = first, end

    @property
    def shape(self) -> Shape:
        return (self.end - self.first, *self.source.shape[1:])

    @property
    def dtype(self) -> DType:
        dtype: DType = self.source.dtype
        return dtype

    def __getitem__(self, rows: slice) -> Array:
        first, end, step = rows.indices(self.end - self.first)
        if step != 1:
            raise IndexError("the rows of a section are read one after another")
        return self.source[self.first + first : self.first + max(first, end)]



def section(value: Array, first: int, end: int) -> Array:
    """Range of rows of an array; where the array is read by slices, still to be read."""
    if isinstance(value, HostRows):
        return value.part(first, end)
    return Section(value, first, end) if is_stored(value) else value[first:end]


def read(value: Array, first: int, end: int, name: str) -> Array:
    """Range of rows of an array, in memory; a view where it is there already."""
    if isinstance(value, Ragged):
        return value[first:end]
    return as_declared(value[first:end], (end - first, *value.shape[1:]), value.dtype, f"{name}[{first}:{end}]")


def largest(value: Array, initial: float, name: str) -> float:
    """Largest number of an array and `initial`. An array that is read by slices passes through the memory."""
    size = 1 << 20 if is_stored(value) else max(value.shape[0], 1)
    parts = (read(value, *rows, name) for rows in chunks(value.shape[0], size))
    return functools.reduce(lambda found, rows: rows.max(initial=found), parts, initial)


def total(value: Array, name: str) -> float:
    """Sum of an array, in float64. An array that is read by slices passes through the memory."""
    size = 1 << 20 if is_stored(value) else max(value.shape[0], 1)
    return math.fsum(float(np.sum(read(value, *rows, name), dtype=float)) for rows in chunks(value.shape[0], size))


def split(n_rows: int, shares: Sequence[float], bytes_before: np.ndarray | None = None) -> list[Range]:
    """Ranges of rows as large as the shares demand, without empty ones (but for one of no rows).

    `bytes_before`, (n_rows + 1,), are those of the rows before each, and of all, where rows are not of one size.
    """
    ends = np.cumsum(shares)[:-1] / math.fsum(shares)
    if bytes_before is None:
        within = np.rint(n_rows * ends).astype(int)
    else:  # between two rows, half of the one behind the place included
        middles = (bytes_before[1:] + bytes_before[:-1]) / 2
        within = np.searchsorted(middles, ends * bytes_before[-1])
    places = [0, *within.tolist(), n_rows]
    return [r for r in zip(places[:-1], places[1:], strict=True) if r[1] > r[0]] or [(0, 0)]


def chunks(n_rows: int, size: int) -> list[Range]:
    """Ranges of rows of one size, the last of which may be smaller."""
    return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)] or [(0, 0)]


def bounded(bytes_before: np.ndarray, most: int) -> list[Range]:
    """Ranges of as many rows as have so many bytes at most, but for single rows that have more."""
    found, first, n_rows = list[Range](), 0, bytes_before.size - 1
    while first < n_rows:
        end = max(int(np.searchsorted(bytes_before, bytes_before[first] + most, "right")) - 1, first + 1)
        found.append((first, end))
        first = end
    return found or [(0, 0)]


# ---- arguments


def cut(
    args: Sequence[Array], kwargs: Mapping[str, Array], names: Sequence[str], axes: Mapping[str, int], ranges: Iterable[Range]
) -> Iterator[Arguments]:
    """Arguments for each piece, from those of a call for all rows.

    `names` are the names of `args`; `axes` has the axis of the rows, counted from the end, of each argument that has one.
    """

    def part(name: str, value: Array, rows: slice) -> Array:
        return value[(..., rows, *[slice(None)] * (-axes[name] - 1))] if name in axes else value

    given = dict(zip(names, args, strict=False))
    if axes.keys().isdisjoint(given) and axes.keys().isdisjoint(kwargs):
        yield from ((tuple(args), dict(kwargs)) for _ in ranges)
        return
    given = {n: np.asarray(v) if n in axes else v for n, v in given.items()}
    kwargs = {n: np.asarray(v) if n in axes else v for n, v in kwargs.items()}
    for first, end in ranges:
        rows = slice(first, end)
        yield tuple(part(n, v, rows) for n, v in given.items()), {n: part(n, v, rows) for n, v in kwargs.items()}


# ---- results


def added(results: Iterable[Total], axes: Mapping[str, int]) -> Total:
    """Sum of the results of the pieces."""
    return functools.reduce(operator.add, results)


def added_gradients(results: Iterable[Gradients], axes: Mapping[str, int]) -> Gradients:
    """Derivatives of all pieces: summed, or joined one after another where there is a value for each row."""
    sums: Gradients = {}
    by_row: dict[str, list[np.ndarray]] = {}
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


def added_with_gradients(results: Iterable[tuple[Total, Gradients]], axes: Mapping[str, int]) -> tuple[Total, Gradients]:
    """Values and derivatives of all pieces."""
    values: list[Total] = []

    def gradients() -> Iterator[Gradients]:
        for value, gradient in results:
            values.append(value)
            yield gradient

    found = added_gradients(gradients(), axes)
    return added(values, axes), found


def joined(name: str) -> Callable[[Iterable[np.ndarray], Mapping[str, int]], np.ndarray]:
    """Function that puts together results with a value for each row, whose axis of the rows `axes` calls `name`."""

    def together(results: Iterable[np.ndarray], axes: Mapping[str, int]) -> np.ndarray:
        return np.concatenate(list(results), axes[name])

    return together
