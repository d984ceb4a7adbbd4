"""Cholesky factors of many small matrices at once."""

from __future__ import annotations

import numpy as np

from ..runtime.types import Doubles

#: Rows of matrices that are factored together, an element of all at a time; LAPACK factors larger ones, one after another.
MOST_TOGETHER = 8


class BlockFactors:
    """Cholesky factors of positive definite matrices, (G, m, m); numpy.linalg.LinAlgError where one is not."""

    def __init__(self, matrices: Doubles):
        self._matrices, self._m = matrices, matrices.shape[1]
        if self._m > MOST_TOGETHER:
            self._factor = np.linalg.cholesky(matrices).transpose(1, 2, 0)
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

    def solve(self, right: Doubles) -> Doubles:
        """Solutions of the systems with matrices, (G, m, r)."""
        if self._m > MOST_TOGETHER:
            return np.asarray(np.linalg.solve(self._matrices, right), float)
        factor, found = self._factor, np.array(right.transpose(1, 2, 0), order="C")
        for i in range(self._m):
            for j in range(i):
                found[i] -= factor[i, j] * found[j]
            found[i] /= factor[i, i]
        self._solve_transposed(found)
        return found.transpose(2, 0, 1)

    def inverse(self) -> Doubles:
        """Inverses, (G, m, m)."""
        return self.solve(np.broadcast_to(np.eye(self._m), self._matrices.shape))

    def pivots(self) -> Doubles:
        """Diagonals of the factors, (m, G)."""
        return np.stack([self._factor[i, i] for i in range(self._m)]) if self._m else np.zeros((0, len(self._matrices)))

    def spread(self, normals: Doubles) -> Doubles:
        """Vectors whose covariance is the inverse of the matrices, of independent standard normal numbers (S, G, m)."""
        found = np.array(normals.transpose(2, 0, 1), order="C")
        self._solve_transposed(found)
        return found.transpose(1, 2, 0)

    def _solve_transposed(self, right: Doubles) -> None:
        """Solve the systems with the transposed factors in place, (m, …)."""
        factor = self._factor
        for i in reversed(range(self._m)):
            for j in range(i + 1, self._m):
                right[i] -= factor[j, i] * right[j]
            right[i] /= factor[i, i]
