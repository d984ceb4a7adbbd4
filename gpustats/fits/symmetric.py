"""Symmetric matrices of second derivatives, however their numbers are kept, and their factors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from ..runtime.types import Doubles

if TYPE_CHECKING:
    import scipy.sparse


class Symmetric(ABC):
    """Symmetric matrix (P, P)."""

    #: whether all of its numbers are there, as an array
    is_dense = False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of rows."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __neg__(self) -> Self: ...

    @abstractmethod
    def diagonal(self) -> Doubles:
        """Diagonal, (P,)."""

    @abstractmethod
    def at(self, rows: np.ndarray, columns: np.ndarray) -> Doubles:
        """Elements at places that broadcast."""

    @abstractmethod
    def plus_diagonal(self, added: Doubles) -> Self:
        """Sum of the matrix and a diagonal, (P,)."""

    @abstractmethod
    def scaled(self, slopes: Doubles) -> Self:
        """Matrix whose rows and columns are multiplied by numbers, (P,)."""

    @abstractmethod
    def times(self, vector: Doubles) -> Doubles:
        """Product with a vector, (P,)."""

    @abstractmethod
    def toarray(self) -> Doubles:
        """Matrix as an array, (P, P)."""

    @abstractmethod
    def tosparse(self) -> scipy.sparse.csc_array:
        """Matrix as a sparse one, (P, P)."""

    @abstractmethod
    def factored(self, unit: Doubles) -> SymmetricFactor:
        """Factor of the matrix before its rows and columns were multiplied by `unit`, which made its diagonal 1."""

    def pinned(self, pinned: np.ndarray) -> Self:
        """Matrix in which the rows of some parameters, a mask (P,), are those of the unit matrix."""
        if not pinned.any():
            return self
        return self.scaled((~pinned).astype(float)).plus_diagonal(pinned.astype(float))

    def factor(self) -> SymmetricFactor | None:
        """Factor of the matrix; None where it is not positive definite."""
        diagonal = self.diagonal()
        if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            return None
        unit = 1 / np.sqrt(diagonal)
        try:
            return self.scaled(unit).factored(unit)
        except (np.linalg.LinAlgError, ValueError):
            return None


class SymmetricFactor(ABC):
    """Factor of a positive definite matrix (P, P), whose diagonal was scaled to 1 by the numbers `unit`."""

    def __init__(self, unit: Doubles):
        self._unit = unit

    @property
    @abstractmethod
    def _pivots(self) -> Doubles:
        """Diagonals of the Cholesky factors, of the matrix that is scaled."""

    @property
    def least_pivot(self) -> float:
        """Least part of a diagonal element that is left when those before are eliminated: 0 for a singular matrix."""
        return float(self._pivots.min(initial=1) ** 2)

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""
        return 2 * float(np.log(self._pivots).sum() - np.log(self._unit).sum())

    @abstractmethod
    def solve(self, vector: Doubles) -> Doubles:
        """Solution of the system with a vector, (P,)."""

    @abstractmethod
    def inverse_diagonal(self) -> Doubles:
        """Diagonal of the inverse, (P,)."""

    @abstractmethod
    def selected_inverse(self) -> Symmetric:
        """Inverse of the matrix, of which only the elements are right that the matrix has."""

    @abstractmethod
    def variances(self, sums: Sequence[tuple[np.ndarray, Doubles]]) -> Doubles:
        """Quadratic forms of the inverse, (M,), of M sparse vectors: sums of numbers (M, m) at places (M, m).

        Places of one part lie all in blocks, and then in one block for each vector, or none do.
        """

    @abstractmethod
    def spread(self, normals: Doubles) -> Doubles:
        """Vectors (S, P) whose covariance is the inverse of the matrix, of independent standard normal numbers (S, P)."""

    @abstractmethod
    def inverse(self) -> Doubles:
        """Inverse of the matrix, (P, P)."""
