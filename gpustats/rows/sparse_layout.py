"""Layout of second derivatives where few pairs of groups have a row: matrices are sparse, with a pattern that is found once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..fits.sparse_symmetric import SparsePattern, SparseSymmetric
from ..runtime.types import Doubles
from .row_parts import Element

MOST_WHOLE = 1 << 24  # elements of a matrix of two parts that is written out


class SparseLayout:
    """Places of P elements in a sparse matrix; see `MatrixLayout`.

    Parameters
    ----------
    size : int
    blocks : (G, m) ndarray
        The elements of groups, no two of which stand in a row together.
    """

    def __init__(self, size: int, blocks: np.ndarray):
        self.size, self._blocks = size, blocks
        self._pattern: SparsePattern | None = None
        self._rows: dict[tuple[int, int], tuple[Any, ...]] = {}

    def ready(self, fill: Callable[[Any], object]) -> SparseLayout:
        """The layout, whose pattern is what `fill` adds to a matrix."""
        if self._pattern is None:
            recorder = PatternLayout(self.size)
            fill(recorder)
            self._pattern = SparsePattern(self.size, self._blocks, recorder.pairs)
        return self

    @property
    def work(self) -> int:
        """Multiplications of a factorisation, about."""
        return 0 if self._pattern is None else self._pattern.fronts.size

    def empty(self) -> SparseSymmetric:
        """Matrix of zeros."""
        assert self._pattern is not None
        return SparseSymmetric(self._pattern, np.zeros(len(self._pattern.fronts.columns)))

    def add_diagonal(self, found: SparseSymmetric, rows: np.ndarray, columns: np.ndarray, diagonal: Doubles) -> None:
        found.numbers[found.pattern.find(rows, columns)] += diagonal

    def add_matrix(self, found: SparseSymmetric, rows: np.ndarray, columns: np.ndarray, matrix: Doubles) -> None:
        found.numbers[found.pattern.find(rows[:, None], columns)] += matrix

    def add_rows(self, found: SparseSymmetric, left: Element, right: Element, numbers: np.ndarray, both: bool) -> None:
        key = id(left), id(right)
        if key not in self._rows:
            rows, columns, index = _pairs(left, right, self.size)
            places = found.pattern.find(rows, columns), found.pattern.find(columns, rows)
            self._rows[key] = left, right, index, *places  # with the parts, whose numbers are theirs as long as they are kept
        *_, index, places, across = self._rows[key]
        summed = np.bincount(index, numbers, len(places))
        found.numbers[places] += summed
        if both:
            found.numbers[across] += summed


class PatternLayout:
    """Layout that notes the pairs of elements of which there are second derivatives."""

    def __init__(self, size: int):
        self.size = size
        self.pairs = list[tuple[np.ndarray, np.ndarray]]()

    def empty(self) -> Nothing:
        return Nothing()

    def add_diagonal(self, found: Any, rows: np.ndarray, columns: np.ndarray, diagonal: Doubles) -> None:
        self.pairs.append((rows, columns))

    def add_matrix(self, found: Any, rows: np.ndarray, columns: np.ndarray, matrix: Doubles) -> None:
        if matrix.size > MOST_WHOLE:
            raise NotImplementedError(
                f"second derivatives in {len(rows):,} effects and {len(columns):,} others, which all stand in rows together: "
                f"{MOST_WHOLE:,} at most; leave some of them out"
            )
        rows, columns = np.broadcast_arrays(rows[:, None], columns)
        self.pairs.append((rows.ravel(), columns.ravel()))

    def add_rows(self, found: Any, left: Element, right: Element, numbers: np.ndarray, both: bool) -> None:
        self.pairs.append(_pairs(left, right, self.size)[:2])


class Nothing:
    """Matrix of which nobody asks for numbers."""

    def __add__(self, other: Nothing) -> Nothing:
        return self


def _pairs(left: Element, right: Element, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of elements that stand in a row together, and each row's number among them."""
    both = left.places[left.index].astype(np.int64) * size + right.places[right.index]
    pairs, index = np.unique(both, return_inverse=True)
    return *np.divmod(pairs, size), index
