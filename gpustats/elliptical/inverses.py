"""Inverses of covariance matrices on the host, and derivatives in the matrices as users give them."""

from __future__ import annotations

import numpy as np

from .. import linalg
from ..runtime.types import Array, Doubles
from .whiten import LARGE_MATRIX


class CovarianceMatrices:
    """Covariance matrices given in one of several forms, and inverses of the given matrices: nan where there are none."""

    def __init__(self, scale: str, matrices: Doubles):
        self.scale, self.matrices = scale, np.asarray(matrices, np.float64)
        self.inverses: Doubles = np.empty(self.matrices.shape)
        inverse = _large_inverse if matrices.shape[-1] >= LARGE_MATRIX else _inverse
        for index in np.ndindex(matrices.shape[:-2]):
            self.inverses[index] = inverse(scale, self.matrices[index])
        self.precision = self.matrices if scale == "precision" else self.inverses
        if scale == "scale_tril":
            self.precision = self.inverses.swapaxes(-1, -2) @ self.inverses

    def derivative(self, products: Doubles, logdet: Doubles) -> Doubles:
        """Derivative in the given matrices, from the sums of s y y' and of r."""
        inverses, r = self.inverses, logdet[..., None, None]
        if self.scale == "scale_tril":
            half = self.precision @ products @ inverses.swapaxes(-1, -2)
            return np.tril(2 * (r * np.eye(half.shape[-1]) * inverses - half))
        if self.scale == "precision":
            return products - r * inverses
        whole = r * inverses - inverses @ products @ inverses
        return (whole + whole.swapaxes(-1, -2)) / 2

    def derivative_of_rows(self, y: Doubles, slopes: Doubles, logdet: float) -> Doubles:
        """Derivative in one matrix, from the rows y of its observations, (n, dim), and their s, (n, 1)."""
        inverse, weighted = self.inverses.reshape(self.inverses.shape[-2:]), slopes * y
        if self.scale == "precision":
            return weighted.T @ y - logdet * inverse
        precision = self.precision.reshape(inverse.shape)
        if self.scale == "scale_tril":
            return np.tril(2 * (logdet * np.diag(inverse.diagonal()) - (weighted @ precision).T @ (y @ inverse.T)))
        whole = logdet * inverse - (weighted @ precision).T @ (y @ precision)
        return (whole + whole.T) / 2


def _mirrored(a: Doubles) -> Doubles:
    """Symmetric matrix that has the lower triangle of a."""
    return np.tril(a) + np.tril(a, -1).T


def _inverse(scale: str, matrix: Doubles) -> Array:
    """Inverse of a matrix by LAPACK; nan where there is none."""
    from scipy.linalg import lapack

    if scale == "scale_tril":
        inverse, wrong = lapack.dtrtri(matrix, lower=1)
        return np.nan if wrong else np.tril(inverse)
    factor, wrong = lapack.dpotrf(matrix, lower=1)
    return np.nan if wrong else _mirrored(lapack.dpotri(factor, lower=1)[0])


def _large_inverse(scale: str, matrix: Doubles) -> Array:
    """Inverse of a large matrix, on the device or on the host, where it takes less time; nan where there is none."""
    try:
        if scale == "scale_tril":
            return linalg.inv_triangular(matrix)
        return linalg.cho_inverse(linalg.cholesky(_mirrored(matrix)))
    except (ValueError, np.linalg.LinAlgError):
        return np.nan
