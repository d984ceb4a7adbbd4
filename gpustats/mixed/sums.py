"""Sums over the rows of a Gaussian mixed model: products of the columns of its effects, by group, and of its observations.

They are all that its likelihood needs of the rows: see Bates et al. (2015), J. Stat. Softw. 67(1), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from ..fits.bordered import Bordered
from ..kernels.template import Template
from ..rows.placed import Placed
from ..rows.segments import Segments
from ..runtime.base import Runtime
from ..runtime.types import Doubles, DType
from .bordered_sums import BorderedSums
from .elimination import Elimination
from .sparse_sums import Crossing, SparseSums
from .structure import Grouping, Structure

_SEGMENTS = Template.beside(__file__, "segment_products")
_TILE = 4  # columns on each side of a block's products


class Sums(Protocol):
    """Sums over rows of the products of all columns with one another, those of groups by group.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    ends : (e, e) ndarray
        Products of the columns with fixed effects, and of the observations last.
    finite : bool
        Whether all of them are finite.
    """

    @property
    def weight(self) -> float: ...

    @property
    def ends(self) -> Doubles: ...

    @property
    def finite(self) -> bool: ...

    def __add__(self, other: Self) -> Self: ...

    def squares(self, grouping: int) -> Doubles:
        """Sums of the squares of a random grouping's columns over the rows of each group, (levels, its)."""

    def products(self, grouping: int) -> Doubles:
        """Sums over the rows of the products of a random grouping's columns, (m, m)."""

    def scaled(self, scales: Sequence[Doubles]) -> Self:
        """Sums where the columns of each random grouping are divided by numbers, (m,)."""

    def eliminated(self, factors: Sequence[Doubles]) -> Elimination:
        """Sums without the random effects, whose factors Λ are (m, m) for each grouping."""


def sums(
    structure: Structure, data: Mapping[str, np.ndarray], weights: np.ndarray | None, shifts: Doubles, runtime: Runtime
) -> Sums:
    """Sums over the rows of arrays on the host, `shifts` being subtracted from the columns."""
    return _Summed(structure, data, weights, shifts, runtime).sums()


class _GroupedRows(Segments):
    """Rows of each group, in segments."""

    def products(self, dtype: DType, shape: tuple[int, int], n_tiles: int, sources: int, values: Sequence[Any]) -> Doubles:
        """Products (groups, *shape) of columns, by a kernel that takes `values` behind the segments."""
        runtime, size = self._runtime, shape[0] * shape[1]
        result = runtime.result(8 * self.n * size)
        out = result.handle if self.alone else runtime.scratch(8 * self.n_segments * size)
        kernel = _SEGMENTS.kernel(
            runtime, "segment_products", self._threads, dtype=dtype.name, threads=self._threads, lanes=self.lanes,
            sources=sources,
        )  # fmt: skip
        kernel((self.blocks(), n_tiles), out, 0, *self.placed(self.order), *self.starts, self.n_segments, *values)
        if not self.alone:
            self.add_groups(result.handle, 0, out, dtype, 1, size)
        return runtime.fetch(result).view(np.float64)[: self.n * size].reshape(self.n, *shape).copy()


class _Summed:
    """Columns of the rows, on the host and on a device."""

    def __init__(
        self, structure: Structure, data: Mapping[str, np.ndarray], weights: np.ndarray | None, shifts: Doubles,
        runtime: Runtime,
    ):  # fmt: skip
        self._structure, self._data, self._weights, self._runtime = structure, data, weights, runtime
        self._shifts = np.asarray(shifts, float)
        self._n = len(data[structure.sources[-1][0]])
        self._dtype: DType = np.result_type(*(data[name].dtype for name, _ in structure.sources))
        self._placed = Placed(runtime)
        one = self._placed(np.ones(1, self._dtype))
        self._sources = list[Any](one)
        self._columns = [(0, 0, 0)]  # source, first place and distance of the numbers of each column
        for i, (name, width) in enumerate(structure.sources):
            self._sources += self._placed(np.ascontiguousarray(data[name], self._dtype))
            self._columns += [(i + 1, place, width) for place in range(width)]
        self._weighting = (*one, 0) if weights is None else (*self._placed(np.ascontiguousarray(weights, self._dtype)), 1)

    def sums(self) -> Sums:
        """Sums of all products."""
        return self._sparse() if self._structure.sparse else self._bordered()

    def _bordered(self) -> BorderedSums:
        """Sums of which those of the largest grouping are blocks, all others a dense border."""
        structure = self._structure
        largest, others, r = structure.largest, (*structure.random[1:], *structure.tables), structure.border
        m, ends = len(largest.columns), (*structure.fixed, structure.observations)
        ending = slice(r - len(ends), r)
        border, coupling = np.zeros((r, r)), np.zeros((largest.levels, m, r))
        border[ending, ending] = self._of_all(ends)
        found = self._by_group(largest, (*largest.columns, *ends))
        blocks, coupling[:, :, ending] = found[:, :, :m], found[:, :, m:]
        for own, grouping in _places(others):
            coupling[:, :, own] = self._crossed(largest, grouping)
        self._fill(border, others)
        places = r + np.arange(largest.size).reshape(largest.levels, m)
        return BorderedSums(structure, Bordered(border, np.arange(r), blocks, coupling, places), self._weight)

    def _sparse(self) -> SparseSums:
        """Sums of which those of groups of two groupings are there where these have a row."""
        structure, fixed = self._structure, (*self._structure.fixed, self._structure.observations)
        ends, blocks, coupling = np.zeros((structure.ends, structure.ends)), list[Doubles](), list[Doubles]()
        ends[-len(fixed) :, -len(fixed) :] = self._of_all(fixed)
        self._fill(ends, structure.tables)
        for grouping in structure.random:
            m = len(grouping.columns)
            found = self._by_group(grouping, (*grouping.columns, *fixed))
            tables = [self._crossed(grouping, table).reshape(grouping.size, -1) for table in structure.tables]
            coupling.append(np.concatenate([*tables, found[:, :, m:].reshape(grouping.size, len(fixed))], 1))
            blocks.append(found[:, :, :m])
        pairs = [
            self._crossing(a, b, rows, columns)
            for a, rows in enumerate(structure.random) for b, columns in enumerate(structure.random[:a])
        ]  # fmt: skip
        return SparseSums.of(structure, blocks, pairs, np.concatenate(coupling), ends, self._weight)

    @property
    def _weight(self) -> float:
        return float(self._n if self._weights is None else self._weights.sum(dtype=float))

    def _fill(self, matrix: Doubles, groupings: Sequence[Grouping]) -> None:
        """Fill in products of groupings with one another, and with the columns at the end of a matrix, those first."""
        ends = (*self._structure.fixed, self._structure.observations)
        ending = slice(len(matrix) - len(ends), len(matrix))
        for i, (own, grouping) in enumerate(_places(groupings)):
            width = len(grouping.columns)
            found = self._by_group(grouping, (*grouping.columns, *ends))
            _diagonal_blocks(matrix[own, own], width)[...] = found[:, :, :width]
            matrix[own, ending] = found[:, :, width:].reshape(grouping.size, len(ends))
            matrix[ending, own] = matrix[own, ending].T
            for there, other in list(_places(groupings))[i + 1 :]:
                matrix[own, there] = self._crossed(grouping, other).reshape(grouping.size, other.size)
                matrix[there, own] = matrix[own, there].T

    def _of_all(self, columns: Sequence[int]) -> Doubles:
        """Products of columns with one another, over all rows."""
        rows = _GroupedRows(np.zeros(self._n, np.uint16), 1, self._runtime)
        found = np.triu(self._products(rows, columns, columns, symmetric=True)[0])
        return found + np.triu(found, 1).T

    def _by_group(self, grouping: Grouping, columns: Sequence[int]) -> Doubles:
        """Products of a grouping's columns with some columns over the rows of each group, (levels, its, columns)."""
        rows = _GroupedRows(self._data[grouping.data], grouping.levels, self._runtime)
        return self._products(rows, grouping.columns, columns)

    def _products(self, rows: _GroupedRows, left: Sequence[int], right: Sequence[int], symmetric: bool = False) -> Doubles:
        """Products of columns over the rows of each group, (groups, left, right); if `symmetric`, those above the diagonal."""
        if not self._n:
            return np.zeros((rows.n, len(left), len(right)))
        starts = ((i, j) for i in range(0, len(left), _TILE) for j in range(0, len(right), _TILE))
        tiles = [tile for tile in starts if not symmetric or tile[1] >= tile[0]]
        placed, numbers = Placed(self._runtime), [*left, *right]
        values = (
            *placed.whole(np.array(tiles)), *placed.whole(np.array([self._columns[c] for c in numbers])),
            *placed(self._shifts[numbers]), len(left), len(right), *self._weighting, *self._sources,
        )  # fmt: skip
        return rows.products(self._dtype, (len(left), len(right)), len(tiles), len(self._structure.sources) + 1, values)

    def _crossed(self, rows: Grouping, columns: Grouping) -> Doubles:
        """Products of the columns of two groupings, (levels, its, coefficients of the other), on the host."""
        pairs = self._data[rows.data].astype(np.int64) * columns.levels + self._data[columns.data]
        found = np.zeros((rows.levels, len(rows.columns), columns.levels, len(columns.columns)))
        for i, j, weights in self._products_of(rows, columns):
            found[:, i, :, j] = np.bincount(pairs, weights, rows.levels * columns.levels).reshape(rows.levels, -1)
        return found.reshape(rows.levels, len(rows.columns), columns.size)

    def _crossing(self, a: int, b: int, rows: Grouping, columns: Grouping) -> Crossing:
        """Products of the columns of two groupings, of the pairs of groups that have a row."""
        both = self._data[rows.data].astype(np.int64) * columns.levels + self._data[columns.data]
        pairs, index = np.unique(both, return_inverse=True)
        found = np.zeros((len(pairs), len(rows.columns), len(columns.columns)))
        for i, j, weights in self._products_of(rows, columns):
            found[:, i, j] = np.bincount(index, weights, len(pairs))
        return Crossing(a, b, *np.divmod(pairs, columns.levels), found)

    def _products_of(self, rows: Grouping, columns: Grouping) -> Iterator[tuple[int, int, np.ndarray | None]]:
        """Numbers of two columns, and their products with the weights for each row, None where all are 1."""
        for i, left in enumerate(rows.columns):
            for j, right in enumerate(columns.columns):
                factors = [v for v in (self._weights, self._column(left), self._column(right)) if v is not None]
                yield i, j, np.prod(factors, axis=0, dtype=float) if factors else None

    def _column(self, number: int) -> np.ndarray | None:
        """Column of the rows, None for the one of ones."""
        place = number - 1
        if place < 0:
            return None
        for name, width in self._structure.sources:
            if place < width:
                matrix = self._data[name]
                own: np.ndarray = matrix if matrix.ndim == 1 else matrix[:, place]
                return own - self._shifts[number] if self._shifts[number] else own
            place -= width
        raise AssertionError(number)


def _diagonal_blocks(matrix: np.ndarray, width: int) -> np.ndarray:
    """View of the blocks (n, width, width) on the diagonal of a matrix, which may be a part of a larger one."""
    down, across = matrix.strides
    shape = (len(matrix) // width, width, width)
    return np.lib.stride_tricks.as_strided(matrix, shape, (width * (down + across), down, across))


def _places(groupings: Sequence[Grouping]) -> Iterator[tuple[slice, Grouping]]:
    """Groupings with the places of their coefficients, one after another."""
    at = 0
    for grouping in groupings:
        yield slice(at, at + grouping.size), grouping
        at += grouping.size
