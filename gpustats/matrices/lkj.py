"""Correlation matrices whose density is a power of the determinant, and their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..evaluation.results import as_shape
from ..linalg import matmul
from .distribution import MatrixDensity, fits
from .stacks import Factored, numbers, transposed
from .streams import Streams
from .wishart import column

#: How far elements that must be 1 or 0 may be off.
SLACK = 1e-6


def _log_constant(eta: np.ndarray, n: int) -> np.ndarray:
    """The logarithm of the integral of |R|^(eta - 1): Lewandowski, Kurowicka & Joe (2009), eq. 16."""
    from scipy.special import betaln

    k = np.arange(1, n)
    half = eta[..., None] + 0.5 * (n - k - 1)
    return ((2 * half - 1) * (n - k) * math.log(2) + (n - k) * betaln(half, half)).sum(-1)


def _constant_slope(eta: np.ndarray, n: int) -> np.ndarray:
    from scipy.special import digamma

    k = np.arange(1, n)
    half = eta[..., None] + 0.5 * (n - k - 1)
    return ((n - k) * (2 * math.log(2) + 2 * digamma(half) - 2 * digamma(2 * half))).sum(-1)


def _factors(streams: Streams, eta: np.ndarray, n: int) -> np.ndarray:
    """Cholesky factors of draws: of each row the squared length before the diagonal is a beta variable, its direction uniform.

    Source: Lewandowski, Kurowicka & Joe (2009), section 3.2, the onion method.
    """
    made = np.zeros((*streams.shape, n, n))
    made[..., 0, 0] = 1
    if n == 1:
        return made
    rows = np.arange(1, n)
    z = np.tril(streams.rvs("normal", 0.0, 1.0, each=(n, n)), -1)[..., 1:, :]
    shape = np.broadcast_to(eta, streams.shape)[..., None] + 0.5 * (n - 1 - rows)
    squares = streams.rvs("beta", 0.5 * rows, shape, each=(n - 1,))
    made[..., 1:, :] = z * np.sqrt(squares / (z**2).sum(-1))[..., None]
    made[..., rows, rows] = np.sqrt(1 - squares)
    return made


class _LKJ(MatrixDensity):
    parameters, matrices = ("eta",), {"x": True}

    def rvs(self, eta: Any, n: int, *, size: int | tuple[int, ...] | None = None, rng: Any = None) -> np.ndarray:
        """Random draws.

        Parameters
        ----------
        eta : array_like
            Positive.
        n : int
            Rows of the matrices.
        size : int or tuple of int, optional
            Shape of the result, to which (n, n) is added; by default the shape of eta.
        rng : optional
            As for `Density.rvs`; a draw depends on the seed and on its number alone, to rounding.

        Raises
        ------
        ValueError
            eta or n that are not positive, or a size that does not fit.
        """
        eta = numbers(eta, "eta")
        shape = eta.shape if size is None else as_shape(size)
        if not (eta > 0).all() or n < 1:
            raise ValueError(f"{self.name}: eta must be positive, and n a positive whole number, not {n}")
        if not fits(eta.shape, shape):
            raise ValueError(f"size {shape} does not fit the shape of eta, {eta.shape}")
        return self._made(_factors(Streams(rng, shape), eta, n))

    def _made(self, factors: np.ndarray) -> np.ndarray:
        """The draws whose Cholesky factors these are."""
        return factors


class LKJCorr(_LKJ):
    """The distribution of correlation matrices R with a density in proportion to |R|^(eta - 1).

    Its parameter is ``eta``, positive: at 1 all correlation matrices are equally likely, the larger it is the nearer they are
    to the identity.

    Notes
    -----
    Lewandowski, Kurowicka & Joe (2009), Generating random correlation matrices based on vines and extended onion method. The
    density is that of the elements below the diagonal; halves of a derivative in x stand on both sides.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> R = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> round(float(gs.lkj_corr.logpdf(R, 2.0)), 6)                      # log(3 / 4 * (1 - 0.5^2))
    -0.575364
    >>> gs.lkj_corr.rvs(2.0, n=3, size=100, rng=1).shape
    (100, 3, 3)
    """

    name = "lkj_corr"

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        (eta,) = parameters
        given = Factored(x)
        diagonal = (np.abs(np.diagonal(x, axis1=-2, axis2=-1) - 1) <= SLACK).all(-1)
        value = (eta - 1) * given.logdet - _log_constant(eta, x.shape[-1])
        return np.where(eta > 0, np.where(given.valid & diagonal, value, -np.inf), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        (eta,) = parameters
        given, off = Factored(x), 1 - np.eye(x.shape[-1])
        return {"x": column(eta - 1) * given.inverse * off, "eta": given.logdet - _constant_slope(eta, x.shape[-1])}

    def _made(self, factors: np.ndarray) -> np.ndarray:
        made = np.array(matmul(factors, transposed(factors)))
        n = made.shape[-1]
        made[..., range(n), range(n)] = 1
        return made


class LKJCholesky(_LKJ):
    """The distribution of the Cholesky factor of a correlation matrix that has the distribution `lkj_corr`.

    Its parameter is ``eta``, positive. The density is that of the elements below the diagonal.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> L = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> round(float(gs.lkj_cholesky.logpdf(L, 1.0)), 6)                  # uniform correlations, 1 / 2
    -0.693147
    """

    name = "lkj_cholesky"

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        (eta,) = parameters
        diagonal = np.diagonal(x, axis1=-2, axis2=-1)
        lengths = np.abs((x * x).sum(-1) - 1) <= SLACK
        inside = lengths.all(-1) & (diagonal > 0).all(-1) & (np.triu(x, 1) == 0).all((-2, -1))
        value = (self._powers(eta, x.shape[-1]) * np.log(diagonal)).sum(-1) - _log_constant(eta, x.shape[-1])
        return np.where(eta > 0, np.where(inside, value, -np.inf), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        (eta,), n = parameters, x.shape[-1]
        diagonal = np.diagonal(x, axis1=-2, axis2=-1)
        of_diagonal = self._powers(eta, n) / diagonal
        of_eta = 2 * np.log(diagonal[..., 1:]).sum(-1) - _constant_slope(eta, n)
        return {"x": of_diagonal[..., None] * np.eye(n), "eta": of_eta}

    @staticmethod
    def _powers(eta: np.ndarray, n: int) -> np.ndarray:
        """Of the elements of the diagonal in the density; the first of them is 1."""
        return np.where(np.arange(n) > 0, n - 1 - np.arange(n) + 2 * eta[..., None] - 2, 0.0)


lkj_corr, lkj_cholesky = LKJCorr(), LKJCholesky()
