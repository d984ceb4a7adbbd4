"""Stacks of matrices: checked, factored, and what their factors tell; those that are not positive definite are told apart."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..linalg import cho_inverse, cholesky, solve_triangular
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host

#: How far a_ij and a_ji may be apart, relative to the largest element.
ASYMMETRY = 1e-6


def matrices(value: Any, name: str, square: bool = True) -> np.ndarray:
    """An argument as a float64 array of matrices, (..., m, n); ValueError where it is none."""
    array = numbers(value, name)
    if array.ndim < 2 or 0 in array.shape[-2:] or (square and array.shape[-1] != array.shape[-2]):
        wanted = "(..., n, n), n at least 1" if square else "(..., m, n), both at least 1"
        raise ValueError(f"{name} has shape {array.shape}: it must be {wanted}")
    return array


def numbers(value: Any, name: str) -> np.ndarray:
    """An argument as a float64 array of numbers."""
    array = on_host(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}: it must be of real numbers")
    return array.astype(np.float64)


def on_host(value: Any) -> np.ndarray:
    """An argument as a NumPy array."""
    return np.asarray(to_host(value) if is_device_array(value) else value)


class Factored:
    """A stack of symmetric matrices with their Cholesky factors.

    Parameters
    ----------
    a : ndarray (..., n, n)

    Attributes
    ----------
    valid : bool ndarray (...)
        Which of them are symmetric and positive definite.
    factor : ndarray (..., n, n)
        Lower triangular; the identity where there is none.
    """

    def __init__(self, a: np.ndarray):
        n, eye = a.shape[-1], np.eye(a.shape[-1])
        with np.errstate(invalid="ignore"):
            apart = np.abs(a - a.swapaxes(-1, -2)).max((-2, -1))
            valid = np.isfinite(a).all((-2, -1)) & (apart <= ASYMMETRY * np.abs(a).max((-2, -1)))
        lower = np.tril(a)
        symmetric = np.where(valid[..., None, None], lower + np.tril(a, -1).swapaxes(-1, -2), eye)
        try:
            self.factor = cholesky(symmetric)
        except np.linalg.LinAlgError:
            each = [_factor(m) for m in symmetric.reshape(-1, n, n)]
            definite = np.array([f is not None for f in each]).reshape(valid.shape)
            self.factor = np.stack([eye if f is None else f for f in each]).reshape(a.shape)
            valid = valid & definite
        self.valid = valid

    @property
    def dim(self) -> int:
        return int(self.factor.shape[-1])

    @functools.cached_property
    def logdet(self) -> np.ndarray:
        """The logarithms of the determinants, (...)."""
        return 2 * np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(-1)

    @functools.cached_property
    def inverse(self) -> np.ndarray:
        """The inverses."""
        return np.asarray(cho_inverse(self.factor))

    def whitened(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b, L being the factor."""
        return np.asarray(solve_triangular(self.factor, b))


def _factor(matrix: np.ndarray) -> np.ndarray | None:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None


def transposed(a: np.ndarray) -> np.ndarray:
    """The transposes of a stack of matrices."""
    return a.swapaxes(-1, -2)


def log_multivariate_gamma(a: np.ndarray, dim: int) -> np.ndarray:
    """log Gamma_dim(a), a > (dim - 1) / 2; nan elsewhere. Source: Muirhead (1982), theorem 2.1.12."""
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        terms = gammaln(a[..., None] - 0.5 * np.arange(dim)).sum(-1) + dim * (dim - 1) / 4 * math.log(math.pi)
        return np.where(a > (dim - 1) / 2, terms, np.nan)


def multivariate_digamma(a: np.ndarray, dim: int) -> np.ndarray:
    """The derivative of `log_multivariate_gamma` in a."""
    from scipy.special import digamma

    return digamma(a[..., None] - 0.5 * np.arange(dim)).sum(-1)
