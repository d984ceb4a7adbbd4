"""Sums over the rows of a Gaussian mixed model: products of the columns of its effects, by group, and of its observations.

They are all that its likelihood needs of the rows: see Bates et al. (2015), J. Stat. Softw. 67(1), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..fits.bordered import Bordered
from ..kernels.template import Template
from ..rows.placed import Placed
from ..rows.segments import Segments
from ..runtime.base import Runtime
from ..runtime.types import Doubles, DType

_SEGMENTS = Template.beside(__file__, "segment_products")
_TILE = 4  # columns on each side of a block's products

#: Columns of the border, the effects that are not those of the largest grouping, and numbers of its coupling to this one.
MOST_BORDER, MOST_COUPLING = 20_000, 1 << 30


class Grouping(NamedTuple):
    """Groups of rows, each with a coefficient of some columns."""

    data: str  # name, among the data, of the group of each row
    levels: int  # number of groups
    columns: tuple[int, ...]  # numbers of the columns

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.levels * len(self.columns)


@dataclass(frozen=True)
class Structure:
    """Structure of a linear predictor: which columns have coefficients of all rows, and which of groups.

    Columns are numbered: 0 is one of ones, behind it come those of `sources`.

    Attributes
    ----------
    sources : tuple of (str, int)
        Names, among the data, and widths of matrices and vectors, the last of which has the observations.
    largest : Grouping
        The one whose groups are blocks of the matrix of sums.
    others : tuple of Grouping
        The others, in the border.
    fixed : tuple of int
        Columns that have a coefficient of all rows.
    """

    sources: tuple[tuple[str, int], ...]
    largest: Grouping
    others: tuple[Grouping, ...]
    fixed: tuple[int, ...]

    def __post_init__(self) -> None:
        coupling = self.largest.size * self.border
        if self.border > MOST_BORDER or coupling > MOST_COUPLING:
            sizes = ", ".join(f"{g.levels:,} of {g.data}" for g in (self.largest, *self.others))
            raise NotImplementedError(
                f"effects of {sizes}: all but the largest grouping have {self.border:,} coefficients together, and "
                f"{MOST_BORDER:,} at most are possible, with {MOST_COUPLING:,} products of both at most, here {coupling:,}"
            )

    @property
    def width(self) -> int:
        """Number of columns."""
        return 1 + sum(width for _, width in self.sources)

    @property
    def observations(self) -> int:
        """Number of the column of observations."""
        return self.width - 1

    @property
    def border(self) -> int:
        """Number of rows of the border: coefficients, and the observations last."""
        return sum(g.size for g in self.others) + len(self.fixed) + 1


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows.

    Attributes
    ----------
    matrix : Bordered
        Products of all columns with one another: the blocks are those of the largest grouping, the border has the other
        groupings, the columns of all rows and the observations.
    weight : float
        Sum of the weights.
    """

    matrix: Bordered
    weight: float

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.matrix + other.matrix, self.weight + other.weight)

    def squares(self, structure: Structure, grouping: int) -> Doubles:
        """Sums of the squares of a grouping's columns over the rows of each group, (levels, its); 0 is the largest."""
        if not grouping:
            return np.diagonal(self.matrix.blocks, axis1=1, axis2=2)
        at, own = self._border(structure, grouping)
        return np.diagonal(self.matrix.border)[at : at + own.size].reshape(own.levels, -1)

    def products(self, structure: Structure, grouping: int) -> Doubles:
        """Sums over the rows of the products of a grouping's columns, (m, m)."""
        if not grouping:
            found: Doubles = self.matrix.blocks.sum(0)
            return found
        at, own = self._border(structure, grouping)
        its, shape = slice(at, at + own.size), (own.levels, len(own.columns))
        return np.einsum("iaib->ab", self.matrix.border[its, its].reshape(*shape, *shape))

    @staticmethod
    def _border(structure: Structure, grouping: int) -> tuple[int, Grouping]:
        """Place in the border of a grouping but the largest, and it."""
        return sum(g.size for g in structure.others[: grouping - 1]), structure.others[grouping - 1]


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
        structure, n = self._structure, self._n
        largest, others, r = structure.largest, structure.others, structure.border
        m, ends = len(largest.columns), (*structure.fixed, structure.observations)
        ending = slice(r - len(ends), r)
        border, coupling = np.zeros((r, r)), np.zeros((largest.levels, m, r))
        border[ending, ending] = self._of_all(ends)
        found = self._by_group(largest, (*largest.columns, *ends))
        blocks, coupling[:, :, ending] = found[:, :, :m], found[:, :, m:]
        at = 0
        for i, grouping in enumerate(others):
            width = len(grouping.columns)
            own = slice(at, at + grouping.size)
            found = self._by_group(grouping, (*grouping.columns, *ends))
            _diagonal_blocks(border[own, own], width)[...] = found[:, :, :width]
            border[own, ending] = found[:, :, width:].reshape(grouping.size, len(ends))
            border[ending, own] = border[own, ending].T
            coupling[:, :, own] = self._crossed(largest, grouping)
            behind = at + grouping.size
            for other in others[i + 1 :]:
                there = slice(behind, behind + other.size)
                border[own, there] = self._crossed(grouping, other).reshape(grouping.size, other.size)
                border[there, own] = border[own, there].T
                behind += other.size
            at += grouping.size
        places = r + np.arange(largest.size).reshape(largest.levels, m)
        weight = float(n if self._weights is None else self._weights.sum(dtype=float))
        return Sums(Bordered(border, np.arange(r), blocks, coupling, places), weight)

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
        for i, left in enumerate(rows.columns):
            for j, right in enumerate(columns.columns):
                factors = [v for v in (self._weights, self._column(left), self._column(right)) if v is not None]
                weights = np.prod(factors, axis=0, dtype=float) if factors else None
                found[:, i, :, j] = np.bincount(pairs, weights, rows.levels * columns.levels).reshape(rows.levels, -1)
        return found.reshape(rows.levels, len(rows.columns), columns.size)

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
