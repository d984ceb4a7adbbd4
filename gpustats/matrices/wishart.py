"""The Wishart distribution and its inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..linalg import inv_triangular, matmul
from .distribution import MatrixDistribution
from .stacks import Factored, log_multivariate_gamma, multivariate_digamma, transposed
from .streams import Streams


def column(numbers: np.ndarray) -> np.ndarray:
    """Numbers that multiply matrices."""
    return np.asarray(numbers)[..., None, None]


def bartlett(streams: Streams, nu: np.ndarray, dim: int) -> np.ndarray:
    """Lower triangular A for which A A' has a Wishart distribution of scale I: Bartlett (1933)."""
    shape = streams.shape
    normal = streams.rvs("normal", 0.0, 1.0, each=(dim, dim))
    degrees = np.broadcast_to(nu, shape)[..., None] - np.arange(dim)
    root = np.sqrt(streams.rvs("chi_squared", degrees, each=(dim,)))
    made = np.tril(normal, -1)
    made[..., range(dim), range(dim)] = root
    return made


class Wishart(MatrixDistribution):
    """The Wishart distribution, of the sum of nu outer products of normal vectors with the covariance matrix V.

    Its parameters are ``nu``, the degrees of freedom, more than n - 1, and ``V``, (..., n, n), symmetric and positive definite.
    The mean is nu V.

    Notes
    -----
    Muirhead (1982), Aspects of multivariate statistical theory, ch. 3. Draws are Bartlett's.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x, V = np.array([[3.0, 1.0], [1.0, 2.0]]), np.eye(2)
    >>> round(float(gs.wishart.logpdf(x, 4.0, V)), 6)
    -4.919452
    >>> value, gradient = gs.wishart.loglik_and_grad(x, 4.0, V, wrt="V")
    >>> gradient["V"]
    array([[-0.5,  0.5],
           [ 0.5, -1. ]])
    >>> gs.wishart.rvs(4.0, V, size=1000, rng=1).shape
    (1000, 2, 2)
    """

    name, parameters, matrices = "wishart", ("nu", "V"), {"x": True, "V": True}

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        nu, V = parameters
        scale, given, n = Factored(V), Factored(x), x.shape[-1]
        trace = (scale.whitened(given.factor) ** 2).sum((-2, -1))
        value = (
            0.5 * (nu - n - 1) * given.logdet - 0.5 * trace
            - 0.5 * nu * (n * math.log(2) + scale.logdet) - log_multivariate_gamma(0.5 * nu, n)
        )  # fmt: skip
        return np.where(scale.valid & (nu > n - 1), np.where(given.valid, value, -np.inf), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        nu, V = parameters
        scale, given, n = Factored(V), Factored(x), x.shape[-1]
        of_nu = 0.5 * (given.logdet - n * math.log(2) - scale.logdet - multivariate_digamma(0.5 * nu, n))
        around = np.asarray(matmul(matmul(scale.inverse, x), scale.inverse))
        return {
            "x": 0.5 * (column(nu - n - 1) * given.inverse - scale.inverse),
            "nu": of_nu,
            "V": 0.5 * (around - column(nu) * scale.inverse),
        }

    def _faults(self, *parameters: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
        nu, V = parameters
        definite = ("V", "symmetric and positive definite", Factored(V).valid)
        return [definite, ("nu", "more than n - 1", nu > V.shape[-1] - 1)]

    def _draw(self, streams: Streams, shape: tuple[int, ...], *parameters: np.ndarray) -> np.ndarray:
        nu, V = parameters
        root = np.asarray(matmul(Factored(V).factor, bartlett(streams, nu, V.shape[-1])))
        return np.asarray(matmul(root, transposed(root)))

    def mean(self, nu: Any, V: Any) -> Any:
        """The mean, nu V."""
        nu, V = self._parameters([nu, V])
        return np.where(column((nu > V.shape[-1] - 1) & Factored(V).valid), column(nu) * V, np.nan)

    def mode(self, nu: Any, V: Any) -> Any:
        """The matrix at which the density is largest, (nu - n - 1) V; nan where nu < n + 1."""
        nu, V = self._parameters([nu, V])
        return np.where(column((nu >= V.shape[-1] + 1) & Factored(V).valid), column(nu - V.shape[-1] - 1) * V, np.nan)


class InverseWishart(MatrixDistribution):
    """The distribution of the inverse of a Wishart matrix whose scale is the inverse of V.

    Its parameters are ``nu``, the degrees of freedom, more than n - 1, and ``V``, (..., n, n), symmetric and positive definite.
    The mean is V / (nu - n - 1), where nu > n + 1.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> round(float(gs.inverse_wishart.logpdf(np.eye(2), 4.0, np.eye(2))), 6)
    -4.224171
    """

    name, parameters, matrices = "inverse_wishart", ("nu", "V"), {"x": True, "V": True}

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        nu, V = parameters
        scale, given, n = Factored(V), Factored(x), x.shape[-1]
        trace = (given.whitened(scale.factor) ** 2).sum((-2, -1))
        value = (
            0.5 * nu * (scale.logdet - n * math.log(2)) - log_multivariate_gamma(0.5 * nu, n)
            - 0.5 * (nu + n + 1) * given.logdet - 0.5 * trace
        )  # fmt: skip
        return np.where(scale.valid & (nu > n - 1), np.where(given.valid, value, -np.inf), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        nu, V = parameters
        scale, given, n = Factored(V), Factored(x), x.shape[-1]
        of_nu = 0.5 * (scale.logdet - n * math.log(2) - given.logdet - multivariate_digamma(0.5 * nu, n))
        around = np.asarray(matmul(matmul(given.inverse, V), given.inverse))
        return {
            "x": 0.5 * (around - column(nu + n + 1) * given.inverse),
            "nu": of_nu,
            "V": 0.5 * (column(nu) * scale.inverse - given.inverse),
        }

    def _faults(self, *parameters: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
        return wishart._faults(*parameters)

    def _draw(self, streams: Streams, shape: tuple[int, ...], *parameters: np.ndarray) -> np.ndarray:
        nu, V = parameters
        n = V.shape[-1]
        # Turned round, Bartlett's factor is upper triangular, B B' is Wishart of scale I, and L B'^-1 the root of a draw.
        turned = bartlett(streams, nu, n)[..., ::-1, ::-1]
        inverse = transposed(np.asarray(inv_triangular(np.ascontiguousarray(turned), lower=False)))
        root = np.asarray(matmul(Factored(V).factor, inverse))
        return np.asarray(matmul(root, transposed(root)))

    def mean(self, nu: Any, V: Any) -> Any:
        """The mean, V / (nu - n - 1); nan where nu <= n + 1."""
        nu, V = self._parameters([nu, V])
        room = nu - V.shape[-1] - 1
        with np.errstate(divide="ignore"):
            return np.where(column((room > 0) & Factored(V).valid), V / column(room), np.nan)

    def mode(self, nu: Any, V: Any) -> Any:
        """The matrix at which the density is largest, V / (nu + n + 1)."""
        nu, V = self._parameters([nu, V])
        return np.where(column((nu > V.shape[-1] - 1) & Factored(V).valid), V / column(nu + V.shape[-1] + 1), np.nan)


wishart, inverse_wishart = Wishart(), InverseWishart()
