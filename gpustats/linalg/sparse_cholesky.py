"""Cholesky factors of sparse symmetric matrices, with the elements of their inverses that lie where the matrices have some."""

from __future__ import annotations

import numpy as np

from ..runtime.cached import cached_property
from ..runtime.types import Doubles
from .block_factors import BlockFactors
from .fronts import Fronts, Level

#: Rows of a border from which on what is left of it is added front by front.
WIDE = 64
NUMBERS_AT_ONCE = 1 << 23  # of vectors that are solved for


class SparseCholesky:
    """Cholesky factor of a positive definite matrix (P, P); numpy.linalg.LinAlgError where it is not.

    Parameters
    ----------
    fronts : Fronts
        Of the pattern.
    numbers : (nnz,) ndarray
        Elements of the matrix.
    """

    def __init__(self, fronts: Fronts, numbers: Doubles):
        self._fronts, self._parts = fronts, list[tuple[BlockFactors, Doubles]]()
        flat = np.zeros(fronts.size + 1)
        flat[fronts.places], flat[fronts.ones] = numbers, 1.0
        for level in fronts.levels:
            p = level.pivots.shape[1]
            front = _front(flat, level)
            factors = BlockFactors(front[:, :p, :p])
            half = factors.half_solve(front[:, :p, p:])
            self._parts.append((factors, half))
            if half.shape[2]:
                _add(flat, level, front[:, p:, p:] - np.matmul(half.swapaxes(1, 2), half))

    @property
    def pivots(self) -> Doubles:
        """Diagonal of the factor, in the order of elimination."""
        levels = zip(self._parts, self._fronts.levels, strict=True)
        own = [factors.pivots().T[level.pivots < self._fronts.n] for (factors, _), level in levels]
        return np.concatenate([np.zeros(0), *own])

    def half_solve(self, right: Doubles) -> Doubles:
        """Product of the inverse factor and a matrix, (P, r), with rows in the order of the matrix."""
        found = np.concatenate([right, np.zeros((1, right.shape[1]))])
        for (factors, half), level in zip(self._parts, self._fronts.levels, strict=True):
            own = factors.half_solve(found[level.pivots])
            found[level.pivots] = own
            if half.shape[2]:
                np.subtract.at(found, level.border, np.matmul(half.swapaxes(1, 2), own))
            found[-1] = 0.0
        return found[:-1]

    def transposed_solve(self, right: Doubles) -> Doubles:
        """Product of the inverse transposed factor and a matrix, (P, r)."""
        found = np.concatenate([right, np.zeros((1, right.shape[1]))])
        for (factors, half), level in zip(reversed(self._parts), reversed(self._fronts.levels), strict=True):
            own = found[level.pivots]
            if half.shape[2]:
                own = own - np.matmul(half, found[level.border])
            found[level.pivots] = factors.transposed_solve(own)
            found[-1] = 0.0
        return found[:-1]

    def solve(self, right: Doubles) -> Doubles:
        """Solutions of the systems with the columns of a matrix, (P, r)."""
        return self.transposed_solve(self.half_solve(right))

    def variances(self, places: np.ndarray, numbers: Doubles) -> Doubles:
        """Quadratic forms of the inverse, (M,), of vectors that are sums of k numbers (M, k) at places (M, k)."""
        fronts = self._fronts
        pairs = fronts.find(places[:, :, None], places[:, None, :])
        matter = (numbers[:, :, None] != 0) & (numbers[:, None, :] != 0)
        elsewhere = (matter & (pairs == len(fronts.columns))).any((1, 2))
        known = np.append(self.selected_inverse(), 0.0)[pairs]
        found = np.einsum("ni,nij,nj->n", numbers, known, numbers)
        far, step = np.flatnonzero(elsewhere), max(NUMBERS_AT_ONCE // fronts.n, 1)
        for rows in (far[first : first + step] for first in range(0, len(far), step)):
            right = np.zeros((fronts.n, len(rows)))
            np.add.at(right, (places[rows], np.arange(len(rows))[:, None]), numbers[rows])
            found[rows] = (self.half_solve(right) ** 2).sum(0)
        return found

    def selected_inverse(self) -> Doubles:
        """Elements of the inverse where the pattern has some, (nnz,)."""
        return self._inverse

    @cached_property
    def _inverse(self) -> Doubles:
        fronts = self._fronts
        flat = np.zeros(fronts.size + 1)
        for (factors, half), level in zip(reversed(self._parts), reversed(fronts.levels), strict=True):
            p, front = level.pivots.shape[1], _front(flat, level)
            front[:, :p, :p] = factors.inverse()
            if half.shape[2]:
                through, border = factors.transposed_solve(half), flat[level.targets]
                across = np.matmul(through, border)
                front[:, :p, :p] += np.matmul(across, through.swapaxes(1, 2))
                front[:, :p, p:], front[:, p:, :p], front[:, p:, p:] = -across, -across.swapaxes(1, 2), border
        return flat[fronts.places]


def _front(flat: Doubles, level: Level) -> Doubles:
    """View of the fronts of a level, (n, p + b, p + b)."""
    n, f = len(level.pivots), level.pivots.shape[1] + level.border.shape[1]
    return flat[level.numbers].reshape(n, f, f)


def _add(flat: Doubles, level: Level, left: Doubles) -> None:
    """Add what is left of the borders to the fronts above."""
    if left.shape[1] < WIDE:
        np.add.at(flat, level.targets.ravel(), left.ravel())
    else:
        for targets, own in zip(level.targets, left, strict=True):
            flat[targets] += own
