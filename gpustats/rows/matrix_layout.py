"""Places of elements in a matrix of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from ..fits.bordered import MOST_DENSE, Bordered, in_blocks
from ..fits.symmetric import Symmetric
from ..runtime.cached import cached_property
from ..runtime.types import Array, Doubles
from .row_parts import Element

M = TypeVar("M", bound=Symmetric)


class MatrixLayout(Protocol[M]):
    """Places of P elements in symmetric matrices of one kind.

    Attributes
    ----------
    size : int
        Number of elements.
    work : int
        Multiplications of a factorisation, about.
    """

    size: int

    @property
    def work(self) -> int: ...

    def ready(self, fill: Callable[[MatrixLayout[Symmetric]], object]) -> MatrixLayout[M]:
        """The layout, which knows the elements that `fill` adds to a matrix."""

    def empty(self) -> M:
        """Matrix of zeros."""

    def add_diagonal(self, found: M, rows: np.ndarray, columns: np.ndarray, diagonal: Doubles) -> None:
        """Add numbers (n,) at n places, those of the elements of two tables of one grouping."""

    def add_matrix(self, found: M, rows: np.ndarray, columns: np.ndarray, matrix: Doubles) -> None:
        """Add a matrix (n, n') at the places of its rows and columns."""

    def add_rows(self, found: M, left: Element, right: Element, numbers: Array, both: bool) -> None:
        """Add each row's number at the places of its elements of two tables, and across the diagonal if `both`."""


class BorderedLayout:
    """Places of P elements in a matrix: in its border, or in the blocks of the groups of one grouping.

    `blocks` has the elements of each group, (G, m): tables whose elements are those of the groups in their order.
    """

    def __init__(self, size: int, blocks: np.ndarray | None = None):
        self.blocks = np.zeros((0, 0), int) if blocks is None else np.asfortranarray(blocks)
        self.size, in_border = size, np.ones(size, bool)
        in_border[self.blocks] = False
        self.border = np.flatnonzero(in_border)
        if len(self.border) > MOST_DENSE:
            raise NotImplementedError(
                f"second derivatives in {len(self.border)} parameters beside {len(self.blocks)} groups: {MOST_DENSE} at most; "
                "fix some of them, or integrate them out"
            )
        self.in_border = np.full(size, -1)
        self.in_border[self.border] = np.arange(len(self.border))
        #: place of each element of the first group -> its number in the block
        self.members = {int(place): i for i, place in enumerate(self.blocks[0])} if self.blocks.size else {}

    @property
    def work(self) -> int:
        return len(self.border) ** 2 * self.size

    def ready(self, fill: Callable[[MatrixLayout[Symmetric]], object]) -> Self:
        return self

    def empty(self) -> Bordered:
        """Matrix of zeros, with the numbers of all groups side by side: there are many groups of few elements."""
        (g, m), r = self.blocks.shape, len(self.border)
        blocks, coupling = np.zeros((g, m, m), order="F"), np.zeros((g, m, r), order="F")
        return Bordered(np.zeros((r, r)), self.border, blocks, coupling, self.blocks)

    def add_diagonal(self, found: Bordered, rows: np.ndarray, columns: np.ndarray, diagonal: Doubles) -> None:
        if not len(rows):
            return
        in_border = self.in_border[rows[0]] >= 0, self.in_border[columns[0]] >= 0
        if all(in_border):
            found.border[self.in_border[rows], self.in_border[columns]] += diagonal
        elif not any(in_border):
            (group, member), (_, other) = self._in_blocks(rows), self._in_blocks(columns)
            found.blocks[group, member, other] += diagonal
        elif in_border[1]:
            found.coupling[*self._of_each(rows), self.in_border[columns]] += diagonal

    def add_matrix(self, found: Bordered, rows: np.ndarray, columns: np.ndarray, matrix: Doubles) -> None:
        if not len(rows) or not len(columns) or self.in_border[columns[0]] < 0:
            return  # the coupling of a column in a block is that of its row
        if self.in_border[rows[0]] >= 0:
            found.border[np.ix_(self.in_border[rows], self.in_border[columns])] += matrix
            return
        group, member = self._in_blocks(rows)
        if isinstance(member, int):
            found.coupling[:, member][:, _run(self.in_border[columns])] += matrix
        else:
            found.coupling[group[:, None], member[:, None], self.in_border[columns]] += matrix

    def add_rows(self, found: Bordered, left: Element, right: Element, numbers: Array, both: bool) -> None:
        n = len(left.places), len(right.places)
        summed = sums(left.index.astype(np.int64) * n[1] + right.index, numbers, n[0] * n[1]).reshape(n)
        self.add_matrix(found, left.places, right.places, summed)
        if both:
            self.add_matrix(found, right.places, left.places, summed.T)

    def _in_blocks(self, places: np.ndarray) -> tuple[Any, Any]:
        """Groups of elements, and their numbers in the blocks: a slice and one number for an element of each group."""
        member = self.members.get(int(places[0]))
        if member is not None and len(places) == len(self.blocks) and np.array_equal(places, self.blocks[:, member]):
            return slice(None), member
        return self._of_each(places)

    def _of_each(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Group of each element, and its number in the block."""
        group, member = self._where
        return group[places], member[places]

    @cached_property
    def _where(self) -> tuple[np.ndarray, np.ndarray]:
        """Group of each of all elements, and its number in the block, or -1."""
        return in_blocks(len(self.in_border), self.blocks)


def sums(index: np.ndarray, numbers: Array, n: int) -> Doubles:
    """Sums (n,) of numbers by their places."""
    return np.bincount(index, numbers, n).astype(float, copy=False)


def _run(places: np.ndarray) -> slice | np.ndarray:
    """Places as a slice, where they stand one after another."""
    run = bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if run else places
