"""Derivatives of the log-density of a Gaussian process, once the inverse of its matrix is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..evaluation.results import written
from ..linalg.matrix import Matrix
from ..linalg.provider import Provider
from ..runtime.types import Array
from .hyperparameters import Hyperparameters
from .pairs import Pairs


class Slopes(ABC):
    """Derivatives by way of the derivative in the matrix R = K + noise, W = (weight alpha alpha' - R⁻¹) / 2."""

    @abstractmethod
    def alpha(self) -> np.ndarray:
        """Vector alpha = R⁻¹ r for the residual r, (n,)."""

    @abstractmethod
    def in_hyperparameters(self, wrt: Sequence[str]) -> tuple[dict[str, Array], float, np.ndarray]:
        """Derivatives in hyperparameters of the covariance function, the trace of W, and its diagonal, (n,)."""

    @abstractmethod
    def in_points(self) -> Array:
        """Derivatives in the points, (n, columns). Call this method last: it may change the inverse."""


class InverseSlopes(Slopes):
    """Derivatives where the inverse lies on one device.

    Parameters
    ----------
    x : (n, p) array
        As kernels read it.
    inverse, alpha : Matrix
        The lower triangle of R⁻¹, and R⁻¹ r, (n, 1).
    weight : array of float64, (1,)
        As kernels read it.
    lift : float
        Weight of derivatives on the diagonal.
    """

    def __init__(
        self, provider: Provider, pairs: Pairs, x: Array, values: Hyperparameters, inverse: Matrix, alpha: Matrix,
        weight: Array, lift: float,
    ) -> None:  # fmt: skip
        self._provider, self._pairs, self._inverse, self._alpha, self._lift = provider, pairs, inverse, alpha, lift
        self._of_pairs = x, values, inverse, alpha.memory.array, weight

    def alpha(self) -> np.ndarray:
        return written(self._pairs.runtime, self._alpha.memory.array).reshape(-1)

    def in_hyperparameters(self, wrt: Sequence[str]) -> tuple[dict[str, Array], float, np.ndarray]:
        found, trace, diagonal = self._pairs.gradient(*self._of_pairs, wrt, self._lift)
        return found, trace, written(self._pairs.runtime, diagonal)

    def in_points(self) -> Array:
        self._provider.lower(self._inverse, self._inverse, "mirror")
        x = self._of_pairs[0]
        return self._pairs.points_gradient(x, *self._of_pairs, self._lift)
