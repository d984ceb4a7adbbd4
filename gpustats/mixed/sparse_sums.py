"""Sums over the rows of a Gaussian mixed model, of the pairs of groups that have a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..linalg.fronts import Fronts
from ..runtime.cached import cached_property
from ..runtime.types import Doubles
from .sparse_elimination import Pattern, SparseElimination
from .structure import Structure


class Crossing(NamedTuple):
    """Products of the columns of two groupings, of the n pairs of groups that have a row."""

    left: int  # numbers of the groupings
    right: int
    rows: np.ndarray  # (n,), group of each pair
    columns: np.ndarray
    products: Doubles  # (n, m, m')


@dataclass(frozen=True, eq=False)
class SparseSums:
    """Sums over rows; see `Sums`.

    Attributes
    ----------
    structure : Structure
    matrix : scipy.sparse.csr_array, (q, q)
        Products of the columns of all random groupings, with whole blocks for groups.
    graph : scipy.sparse.csr_array
        Pairs of groups that have a row, those of all groupings one behind another.
    coupling : (q, e) ndarray
        Products with the columns of fixed effects and the observations.
    ends : (e, e) ndarray
        Products of these with one another.
    weight : float
        Sum of the weights.
    """

    structure: Structure
    matrix: Any
    graph: Any
    coupling: Doubles
    ends: Doubles
    weight: float

    @classmethod
    def of(
        cls, structure: Structure, blocks: Sequence[Doubles], crossings: Sequence[Crossing], coupling: Doubles, ends: Doubles,
        weight: float,
    ) -> SparseSums:  # fmt: skip
        """Sums of the blocks (levels, m, m) of each random grouping, and of the products of their pairs."""
        levels = [len(own) for own in blocks]
        own = [Crossing(i, i, np.arange(n), np.arange(n), b) for i, (n, b) in enumerate(zip(levels, blocks, strict=True))]
        across = [Crossing(c.right, c.left, c.columns, c.rows, c.products.swapaxes(1, 2)) for c in crossings]
        nodes, first = np.cumsum([0, *levels]), np.cumsum([0, *(g.size for g in structure.random)])
        graph, matrix = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        for c in (*own, *crossings, *across):
            m, other = c.products.shape[1:]
            graph.append((np.ones(len(c.rows)), nodes[c.left] + c.rows, nodes[c.right] + c.columns))
            rows = first[c.left] + c.rows[:, None, None] * m + np.arange(m)[:, None]
            columns = first[c.right] + c.columns[:, None, None] * other + np.arange(other)
            rows, columns = np.broadcast_arrays(rows, columns)
            matrix.append((c.products.ravel(), rows.ravel(), columns.ravel()))
        return cls(structure, _summed(matrix, int(first[-1])), _summed(graph, int(nodes[-1])), coupling, ends, weight)

    def __add__(self, other: SparseSums) -> SparseSums:
        matrix, graph = (
            _summed([(m.data, *m.coords) for m in (a.tocoo(), b.tocoo())], a.shape[0])
            for a, b in ((self.matrix, other.matrix), (self.graph, other.graph))
        )
        return replace(
            self, matrix=matrix, graph=graph, coupling=self.coupling + other.coupling, ends=self.ends + other.ends,
            weight=self.weight + other.weight,
        )  # fmt: skip

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.matrix.data).all() and np.isfinite(self.coupling).all() and np.isfinite(self.ends).all())

    @property
    def _places(self) -> list[slice]:
        """Coefficients of each random grouping."""
        ends = np.cumsum([0, *(g.size for g in self.structure.random)]).tolist()
        return [slice(*pair) for pair in zip(ends, ends[1:], strict=False)]

    def squares(self, grouping: int) -> Doubles:
        diagonal: Doubles = self.matrix.diagonal()[self._places[grouping]]
        return diagonal.reshape(self.structure.random[grouping].levels, -1)

    def products(self, grouping: int) -> Doubles:
        at, own = self._places[grouping].start, self.structure.random[grouping]
        m, found = len(own.columns), np.zeros((len(own.columns), len(own.columns)))
        rows = at + m * np.arange(own.levels)
        for i in range(m):
            for j in range(m):
                found[i, j] = self.matrix[rows + i, rows + j].sum()
        return found

    def scaled(self, scales: Sequence[Doubles]) -> SparseSums:
        unit = 1 / np.concatenate([np.tile(s, g.levels) for s, g in zip(scales, self.structure.random, strict=True)])
        matrix = self.matrix.copy()
        matrix.data *= unit[matrix.indices] * np.repeat(unit, np.diff(matrix.indptr))
        return replace(self, matrix=matrix, coupling=self.coupling * unit[:, None])

    @cached_property
    def _pattern(self) -> Pattern:
        random = self.structure.random
        widths, levels = [len(g.columns) for g in random], [g.levels for g in random]
        fronts = Fronts(self.graph, np.repeat(widths, levels), first=levels[0])
        assert np.array_equal(fronts.columns, self.matrix.indices)
        return Pattern(fronts, self._places, widths)

    def eliminated(self, factors: Sequence[Doubles]) -> SparseElimination:
        return SparseElimination(self._pattern, self.matrix.data, self.coupling, self.ends, factors)


def _summed(parts: Sequence[tuple[Any, ...]], n: int) -> Any:
    """Sparse matrix (n, n) of (numbers, rows, columns), of which those at the same place are added; 0 stays."""
    import scipy.sparse

    numbers, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = scipy.sparse.coo_array((numbers, (rows, columns)), shape=(n, n)).tocsr()
    found.sort_indices()
    return found
