"""Cholesky factors of many small matrices at once, or of a few large ones."""

from __future__ import annotations

import numpy as np

from ..runtime.types import Doubles
from .cholesky import cho_inverse, cholesky
from .triangular import solve_triangular

#: Rows of matrices that are factored together, an element of all at a time, and of those whose factors are inverted.
MOST_TOGETHER, MOST_INVERTED = 8, 256


class BlockFactors:
    """Cholesky factors of positive definite matrices, (G, m, m); numpy.linalg.LinAlgError where one is not."""

    def __init__(self, matrices: Doubles):
        self._m = matrices.shape[1]
        if self._m > MOST_TOGETHER:
            self._large = np.linalg.cholesky(matrices) if self._m <= MOST_INVERTED else np.asarray(cholesky(matrices))
            self._inverses = _inverses(self._large) if self._m <= MOST_INVERTED else self._large
            return
        factor = self._factor = np.array(matrices.transpose(1, 2, 0), order="C")
        for k in range(self._m):
            for j in range(k):
                factor[k, k] -= factor[k, j] ** 2
            if not (factor[k, k] > 0).all():
                raise np.linalg.LinAlgError("a block is not positive definite")
            factor[k, k] = np.sqrt(factor[k, k])
            for i in range(k + 1, self._m):
                for j in range(k):
                    factor[i, k] -= factor[i, j] * factor[k, j]
                factor[i, k] /= factor[k, k]

    def half_solve(self, right: Doubles) -> Doubles:
        """Products of the inverse factors and matrices, (G, m, r)."""
        if self._m > MOST_INVERTED:
            return np.asarray(solve_triangular(self._large, right))
        if self._m > MOST_TOGETHER:
            return np.matmul(self._inverses, right)
        found = np.array(right.transpose(1, 2, 0), order="C")
        for i in range(self._m):
            for j in range(i):
                found[i] -= self._factor[i, j] * found[j]
            found[i] /= self._factor[i, i]
        return found.transpose(2, 0, 1)

    def transposed_solve(self, right: Doubles) -> Doubles:
        """Products of the inverse transposed factors and matrices, (G, m, r)."""
        if self._m > MOST_INVERTED:
            return np.asarray(solve_triangular(self._large, right, trans=1))
        if self._m > MOST_TOGETHER:
            return np.matmul(self._inverses.swapaxes(1, 2), right)
        found = np.array(right.transpose(1, 2, 0), order="C")
        self._transposed(found)
        return found.transpose(2, 0, 1)

    def solve(self, right: Doubles) -> Doubles:
        """Solutions of the systems with matrices, (G, m, r)."""
        return self.transposed_solve(self.half_solve(right))

    def inverse(self) -> Doubles:
        """Inverses, (G, m, m)."""
        if self._m > MOST_INVERTED:
            return np.asarray(cho_inverse(self._large))
        if self._m > MOST_TOGETHER:
            return np.matmul(self._inverses.swapaxes(1, 2), self._inverses)
        groups = self._factor.shape[2]
        return self.solve(np.broadcast_to(np.eye(self._m), (groups, self._m, self._m)))

    def pivots(self) -> Doubles:
        """Diagonals of the factors, (m, G)."""
        if self._m > MOST_TOGETHER:
            return np.diagonal(self._large, axis1=1, axis2=2).T
        return np.einsum("iig->ig", self._factor)

    def spread(self, normals: Doubles) -> Doubles:
        """Vectors whose covariance is the inverse of the matrices, of independent standard normal numbers (S, G, m)."""
        if self._m > MOST_TOGETHER:
            return self.transposed_solve(normals.transpose(1, 2, 0)).transpose(2, 0, 1)
        found = np.array(normals.transpose(2, 0, 1), order="C")
        self._transposed(found)
        return found.transpose(1, 2, 0)

    def _transposed(self, right: Doubles) -> None:
        """Solve the systems with the transposed factors in place, (m, …)."""
        factor = self._factor
        for i in reversed(range(self._m)):
            for j in range(i + 1, self._m):
                right[i] -= factor[j, i] * right[j]
            right[i] /= factor[i, i]


def _inverses(factors: np.ndarray) -> np.ndarray:
    """Inverses of lower triangular matrices, (G, m, m)."""
    from scipy.linalg.lapack import dtrtri

    return np.stack([dtrtri(own, lower=1)[0] for own in factors]) if len(factors) else factors
