"""Symmetric matrices of groups that are crossed or nested, of which few elements are not 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..linalg.fronts import Fronts
from ..linalg.sparse_cholesky import SparseCholesky
from ..runtime.cached import cached_property
from ..runtime.types import Doubles
from .symmetric import Symmetric, SymmetricFactor

if TYPE_CHECKING:
    import scipy.sparse

MOST_FOUND = 64  # lookups of elements that a pattern remembers


class SparsePattern:
    """Pattern of symmetric matrices (P, P).

    Parameters
    ----------
    size : int
    blocks : (G, m) ndarray
        Rows of groups, no two of which are coupled; they are eliminated first.
    pairs : sequence of (rows, columns)
        Places of elements, flat arrays; those across the diagonal and on it are there, too.
    """

    def __init__(self, size: int, blocks: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]):
        import scipy.sparse

        in_border = np.ones(size, bool)
        in_border[blocks] = False
        #: the rows of matrices in the order in which their numbers are kept, and the place of each row in it
        self.order = np.concatenate([blocks.ravel(), np.flatnonzero(in_border)])
        self.rank = np.empty(size, int)
        self.rank[self.order] = np.arange(size)
        (groups, m), rest = blocks.shape if blocks.size else (0, 1), int(in_border.sum())
        sizes = np.repeat([m, 1], [groups, rest])
        node = np.repeat(np.arange(groups + rest), sizes)[self.rank]
        ends = [np.concatenate([np.zeros(0, int), *(node[own] for own in side)]) for side in zip(*pairs, strict=True)]
        rows, columns = ends if ends else (np.zeros(0, int),) * 2
        keys = np.unique(np.minimum(rows, columns) * len(sizes) + np.maximum(rows, columns))
        rows, columns = np.divmod(keys, len(sizes))
        both = np.append(rows, columns), np.append(columns, rows)
        shape = len(sizes), len(sizes)
        self.fronts = Fronts(scipy.sparse.coo_array((np.ones(2 * len(keys)), both), shape=shape).tocsr(), sizes, first=groups)
        self._found = dict[Any, Any]()

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rank)

    def find(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Places of elements among the numbers; their number for those that are not there. Rows and columns broadcast."""
        if not rows.size or not columns.size:
            return np.zeros(np.broadcast_shapes(rows.shape, columns.shape), int)
        kind = tuple((own.shape, int(own.flat[0]), int(own.flat[-1])) for own in (rows, columns))
        known = self._found.get(kind)
        if known is None or not (np.array_equal(known[0], rows) and np.array_equal(known[1], columns)):
            known = rows, columns, self.fronts.find(self.rank[rows], self.rank[columns])
            if kind in self._found or len(self._found) < MOST_FOUND:
                self._found[kind] = known
        place: np.ndarray = known[2]
        return place


@dataclass(frozen=True, eq=False)
class SparseSymmetric(Symmetric):
    """Symmetric matrix (P, P).

    Attributes
    ----------
    pattern : SparsePattern
    numbers : (nnz,) ndarray
    """

    pattern: SparsePattern
    numbers: Doubles

    @property
    def size(self) -> int:
        return self.pattern.size

    def __add__(self, other: SparseSymmetric) -> SparseSymmetric:
        return replace(self, numbers=self.numbers + other.numbers)

    def __neg__(self) -> SparseSymmetric:
        return replace(self, numbers=-self.numbers)

    def diagonal(self) -> Doubles:
        found: Doubles = self.numbers[self.pattern.fronts.diagonal][self.pattern.rank]
        return found

    def at(self, rows: np.ndarray, columns: np.ndarray) -> Doubles:
        """Elements at places that broadcast; 0 where the pattern has none."""
        found: Doubles = np.append(self.numbers, 0.0)[self.pattern.find(rows, columns)]
        return found

    def plus_diagonal(self, added: Doubles) -> SparseSymmetric:
        numbers = self.numbers.copy()
        numbers[self.pattern.fronts.diagonal] += added[self.pattern.order]
        return replace(self, numbers=numbers)

    def scaled(self, slopes: Doubles) -> SparseSymmetric:
        own, fronts = slopes[self.pattern.order], self.pattern.fronts
        return replace(self, numbers=self.numbers * own[fronts.row_of] * own[fronts.columns])

    def times(self, vector: Doubles) -> Doubles:
        found: Doubles = (self._in_order @ vector[self.pattern.order])[self.pattern.rank]
        return found

    def toarray(self) -> Doubles:
        found: Doubles = self.tosparse().toarray()
        return found

    def tosparse(self) -> scipy.sparse.csc_array:
        rank = self.pattern.rank
        return self._in_order[rank][:, rank].tocsc()

    @property
    def _in_order(self) -> Any:
        return self.pattern.fronts.matrix(self.numbers)

    def factored(self, unit: Doubles) -> SparseFactor:
        return SparseFactor(self, unit)


class SparseFactor(SymmetricFactor):
    """Factor of a sparse matrix."""

    def __init__(self, scaled: SparseSymmetric, unit: Doubles):
        super().__init__(unit)
        self._pattern = scaled.pattern
        self._cholesky = SparseCholesky(scaled.pattern.fronts, scaled.numbers)

    @cached_property
    def _pivots(self) -> Doubles:
        return self._cholesky.pivots

    def solve(self, vector: Doubles) -> Doubles:
        found = self._cholesky.solve((vector * self._unit)[self._pattern.order, None])[:, 0]
        return found[self._pattern.rank] * self._unit

    def inverse_diagonal(self) -> Doubles:
        return self.selected_inverse().diagonal()

    def selected_inverse(self) -> SparseSymmetric:
        return SparseSymmetric(self._pattern, self._cholesky.selected_inverse()).scaled(self._unit)

    def variances(self, sums: Sequence[tuple[np.ndarray, Doubles]]) -> Doubles:
        places, numbers = (np.concatenate(part, 1) for part in zip(*sums, strict=True))
        return self._cholesky.variances(self._pattern.rank[places], numbers * self._unit[places])

    def spread(self, normals: Doubles) -> Doubles:
        found = self._cholesky.transposed_solve(normals[:, self._pattern.order].T)
        in_place: Doubles = found.T[:, self._pattern.rank]
        return in_place * self._unit

    def inverse(self) -> Doubles:
        rank = self._pattern.rank
        found = self._cholesky.solve(np.eye(self._pattern.size))[np.ix_(rank, rank)]
        whole: Doubles = found * np.outer(self._unit, self._unit)
        return whole
