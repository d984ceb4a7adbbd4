"""Cholesky factors of stacks of symmetric matrices, some perhaps not positive definite; functions of a dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .. import linalg
from ..linalg.matrix import asymmetry_tolerance
from ..runtime.cached import cached_property

Array = np.ndarray


class Factor:
    """The Cholesky factors of a stack of matrices, (..., n, n).

    Attributes
    ----------
    lower : (..., n, n)
        Factor of each matrix, of the unit matrix where there is none.
    sound : (...)
        Whether there is one.
    """

    def __init__(self, a: Array):
        self.sound = np.asarray(np.isfinite(a).all((-2, -1)))
        try:
            self.lower: Array = linalg.cholesky(a)
        except (ValueError, np.linalg.LinAlgError):
            self.lower = self._one_by_one(a)

    def _one_by_one(self, a: Array) -> Array:
        """Factor of each matrix by itself: the unit matrix takes the place of those without a factor."""
        a = a.copy()
        for place in np.ndindex(a.shape[:-2]):
            self.sound[place] = self.sound[place] and _has_factor(a[place])
        a[~self.sound] = np.eye(a.shape[-1], dtype=a.dtype)
        return linalg.cholesky(a)

    @cached_property
    def logdet(self) -> Array:
        return 2 * np.log(np.diagonal(self.lower, axis1=-2, axis2=-1)).sum(-1, dtype=float)

    @cached_property
    def inverse(self) -> Array:
        return linalg.cho_inverse(self.lower)

    def solve(self, b: Array) -> Array:
        """Solution lower^-1 b."""
        return linalg.solve_triangular(self.lower, b)

    def solve_transposed(self, b: Array) -> Array:
        """Solution lower^-T b."""
        return linalg.solve_triangular(self.lower, b, trans=1)


def _has_factor(a: Array) -> bool:
    root = np.sqrt(np.abs(np.diagonal(a)))
    if (np.abs(a - a.T) > asymmetry_tolerance(a.dtype) * (np.abs(a) + root[:, None] * root)).any():
        return False
    try:
        linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return False
    return True


def transposed(a: Array) -> Array:
    return a.swapaxes(-1, -2)


def square_sum(a: Array) -> Array:
    """The squared Frobenius norm of each matrix."""
    return np.square(a, dtype=float).sum((-2, -1))


def gram(a: Array) -> Array:
    """Product a a'."""
    return linalg.gram(a)


def as_matrix(a: ArrayLike) -> Array:
    """Number for each matrix of a stack, with two further axes, to multiply the matrices by."""
    return np.asarray(a)[..., None, None]


def log_multigamma(a: Array, n: int) -> Array:
    """The logarithm of the multivariate gamma function; nan where a <= (n - 1) / 2."""
    a = np.asarray(a, float)
    halves = np.arange(n) / 2
    total: Array = special.gammaln(a[..., None] - halves).sum(-1) + n * (n - 1) / 4 * np.log(np.pi)
    return np.where(a > (n - 1) / 2, total, np.nan)


def multidigamma(a: Array, n: int) -> Array:
    """Derivative of `log_multigamma`."""
    return special.digamma(np.asarray(a, float)[..., None] - np.arange(n) / 2).sum(-1)
