"""Symmetric matrices of many groups: a dense border, and a small block for each group that is coupled to the border alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..linalg.block_factors import BlockFactors
from ..linalg.threads import for_triangular_systems
from ..runtime.cached import cached_property
from ..runtime.types import Doubles
from .symmetric import Symmetric, SymmetricFactor

if TYPE_CHECKING:
    import scipy.sparse

#: Rows of a matrix up to which it is written out.
MOST_DENSE = 5000


def in_blocks(size: int, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group of each of so many rows, and its place in the block, of places (G, m) in blocks; -1 for a row of the border."""
    group, member = np.full(size, -1), np.full(size, -1)
    group[blocks] = np.arange(len(blocks))[:, None]
    member[blocks] = np.arange(blocks.shape[1])
    return group, member


@dataclass(frozen=True, eq=False)
class Bordered(Symmetric):
    """Symmetric matrix (P, P).

    Attributes
    ----------
    border : (r, r) ndarray
    places : (r,) ndarray
        The rows of the matrix that are the border's.
    blocks : (G, m, m) ndarray
        Those of the groups; G is 0 for a dense matrix.
    coupling : (G, m, r) ndarray
        Between the groups and the border.
    block_places : (G, m) ndarray
    """

    border: Doubles
    places: np.ndarray
    blocks: Doubles
    coupling: Doubles
    block_places: np.ndarray

    @classmethod
    def dense(cls, matrix: Doubles) -> Bordered:
        """Matrix without groups."""
        r = len(matrix)
        none = np.zeros((0, 0, 0)), np.zeros((0, 0, r)), np.zeros((0, 0), int)
        return cls(np.asarray(matrix, float), np.arange(r), *none)

    @property
    def is_dense(self) -> bool:  # type: ignore[override]
        return not self.block_places.size

    @property
    def size(self) -> int:
        return len(self.places) + self.block_places.size

    def __add__(self, other: Bordered) -> Bordered:
        return replace(
            self, border=self.border + other.border, blocks=self.blocks + other.blocks, coupling=self.coupling + other.coupling
        )

    def __neg__(self) -> Bordered:
        return replace(self, border=-self.border, blocks=-self.blocks, coupling=-self.coupling)

    def diagonal(self) -> Doubles:
        found = np.empty(self.size)
        found[self.places] = np.diagonal(self.border)
        found[self.block_places] = np.diagonal(self.blocks, axis1=1, axis2=2)
        return found

    @cached_property
    def _where(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Place in the border of each row, or -1; its group, and its place in the block, or -1."""
        own = np.full(self.size, -1)
        own[self.places] = np.arange(len(self.places))
        return own, *in_blocks(self.size, self.block_places)

    def at(self, rows: np.ndarray, columns: np.ndarray) -> Doubles:
        """Elements at places that broadcast; all `rows` lie in the border, or all in blocks, and so do all `columns`.

        Where both lie in blocks, each pair is of one group.
        """
        shape = np.broadcast_shapes(rows.shape, columns.shape)
        if not rows.size or not columns.size:
            return np.zeros(shape)
        own, group, member = self._where
        found: Doubles
        if own[rows.flat[0]] >= 0 and own[columns.flat[0]] >= 0:
            found = self.border[own[rows], own[columns]]
        elif own[columns.flat[0]] >= 0:
            found = self.coupling[group[rows], member[rows], own[columns]]
        elif own[rows.flat[0]] >= 0:
            found = self.coupling[group[columns], member[columns], own[rows]]
        else:
            found = self.blocks[group[rows], member[rows], member[columns]]
        return found

    def plus_diagonal(self, added: Doubles) -> Bordered:
        blocks = self.blocks.copy(order="K")
        for i, places in enumerate(self.block_places.T):
            blocks[:, i, i] += added[places]
        return replace(self, border=self.border + np.diag(added[self.places]), blocks=blocks)

    def scaled(self, slopes: Doubles) -> Bordered:
        own, of_blocks = slopes[self.places], slopes[self.block_places]
        return replace(
            self,
            border=self.border * np.outer(own, own),
            blocks=self.blocks * (of_blocks[:, :, None] * of_blocks[:, None, :]),
            coupling=self.coupling * of_blocks[:, :, None] * own,
        )

    def times(self, vector: Doubles) -> Doubles:
        own, of_blocks, found = vector[self.places], vector[self.block_places], np.empty(self.size)
        found[self.places] = self.border @ own + _flat(self.coupling) @ of_blocks.T.ravel()
        found[self.block_places] = np.einsum("gmn,gn->gm", self.blocks, of_blocks) + _times(self.coupling, own)
        return found

    def toarray(self) -> Doubles:
        found = np.zeros((self.size, self.size))
        found[np.ix_(self.places, self.places)] = self.border
        at = self.block_places
        found[at[:, :, None], at[:, None, :]] = self.blocks
        found[at[:, :, None], self.places] = self.coupling
        found[self.places, at[:, :, None]] = self.coupling
        return found

    def tosparse(self) -> scipy.sparse.csc_array:
        import scipy.sparse

        at, own, parts = self.block_places, self.places, list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
        for values, rows, columns in (
            (self.border, own[:, None], own[None]), (self.blocks, at[:, :, None], at[:, None]),
            (self.coupling, at[:, :, None], own), (self.coupling, own, at[:, :, None]),
        ):  # fmt: skip
            rows, columns = np.broadcast_arrays(rows, columns, values)[:2]
            parts.append((values.ravel(), rows.ravel(), columns.ravel()))
        numbers, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        kept = numbers != 0
        made = scipy.sparse.coo_array((numbers[kept], (rows[kept], columns[kept])), shape=(self.size, self.size))
        return made.tocsc()

    def factored(self, unit: Doubles) -> Factor:
        return Factor(self, unit)


def _flat(coupling: Doubles) -> Doubles:
    """Coupling as a matrix, (r, m G); a view where the numbers of all groups lie side by side."""
    g, m, r = coupling.shape
    return coupling.transpose(2, 1, 0).reshape(r, m * g)


def _times(coupling: Doubles, right: Doubles) -> Doubles:
    """Products of a coupling with a vector (r,), (G, m), or with a matrix (r, s), (G, m, s)."""
    g, m, _ = coupling.shape
    return (right.T @ _flat(coupling)).reshape(*right.shape[1:], m, g).T


class Factor(SymmetricFactor):
    """Factor of a bordered matrix; the border's is that of the Schur complement."""

    def __init__(self, scaled: Bordered, unit: Doubles):
        from scipy.linalg import cho_factor

        super().__init__(unit)
        self._matrix = scaled
        self._blocks = BlockFactors(scaled.blocks)
        self._solved = self._blocks.solve(scaled.coupling)
        #: what is left of the border when the groups are eliminated
        self.complement = scaled.border - _flat(scaled.coupling) @ _flat(self._solved).T
        self._cholesky = cho_factor(self.complement, lower=True) if len(scaled.places) else None

    def _of_border(self, right: Doubles) -> Doubles:
        from scipy.linalg import cho_solve

        if self._cholesky is None:
            return right
        with for_triangular_systems(len(right) * right.size):
            found: Doubles = cho_solve(self._cholesky, right)
        return found

    @cached_property
    def _pivots(self) -> Doubles:
        own = np.zeros(0) if self._cholesky is None else np.diagonal(self._cholesky[0])
        return np.concatenate([own, self._blocks.pivots().ravel()])

    def solve(self, vector: Doubles) -> Doubles:
        matrix, vector = self._matrix, vector * self._unit
        found, of_blocks = np.empty(len(vector)), vector[matrix.block_places]
        own = self._of_border(vector[matrix.places] - _flat(self._solved) @ of_blocks.T.ravel())
        found[matrix.places] = own
        if of_blocks.size:
            found[matrix.block_places] = self._blocks.solve(of_blocks[..., None])[..., 0] - _times(self._solved, own)
        return found * self._unit

    def inverse_diagonal(self) -> Doubles:
        matrix, found = self._matrix, np.empty(self._matrix.size)
        own = self._of_border(np.eye(len(matrix.places)))
        found[matrix.places] = np.diagonal(own)
        if matrix.block_places.size:
            alone = np.diagonal(self._blocks.inverse(), axis1=1, axis2=2)
            across = _times(self._solved, own)
            found[matrix.block_places] = alone + np.einsum("gmr,gmr->gm", across, self._solved)
        return found * self._unit**2

    def selected_inverse(self) -> Bordered:
        """Inverse of the matrix, of which only border, blocks and coupling are right: what lies between groups is left out."""
        matrix = self._matrix
        own = self._of_border(np.eye(len(matrix.places)))
        across = _times(self._solved, own)
        blocks = matrix.blocks
        if matrix.block_places.size:
            blocks = self._blocks.inverse() + np.matmul(across, self._solved.swapaxes(1, 2))
        return replace(matrix, border=own, blocks=blocks, coupling=-across).scaled(self._unit)

    def variances(self, sums: Sequence[tuple[np.ndarray, Doubles]]) -> Doubles:
        inverse, found = self.selected_inverse(), np.zeros(len(sums[0][0]))
        for places, numbers in sums:
            for others, weights in sums:
                between = inverse.at(places[:, :, None], others[:, None, :])
                found += np.einsum("ni,nij,nj->n", numbers, between, weights)
        return found

    def spread(self, normals: Doubles) -> Doubles:
        from scipy.linalg import solve_triangular

        matrix, found = self._matrix, np.empty(normals.shape)
        own = normals[:, matrix.places]
        if self._cholesky is not None:
            own = solve_triangular(self._cholesky[0], own.T, lower=True, trans="T").T
        found[:, matrix.places] = own
        if matrix.block_places.size:
            alone = self._blocks.spread(normals[:, matrix.block_places])
            found[:, matrix.block_places] = alone - np.einsum("gmr,sr->sgm", self._solved, own)
        return found * self._unit

    def inverse(self) -> Doubles:
        matrix, unit = self._matrix, self._unit
        own = self._of_border(np.eye(len(matrix.places)))
        found = np.zeros((matrix.size, matrix.size))
        found[np.ix_(matrix.places, matrix.places)] = own
        if matrix.block_places.size:
            at = matrix.block_places
            solved, flat = self._solved.reshape(at.size, -1), at.ravel()
            across = solved @ own
            found[np.ix_(flat, matrix.places)], found[np.ix_(matrix.places, flat)] = -across, -across.T
            found[np.ix_(flat, flat)] = across @ solved.T
            found[at[:, :, None], at[:, None, :]] += self._blocks.inverse()
        return found * np.outer(unit, unit)
