"""Matrices of normal numbers, whose rows are correlated and whose columns are, and their counterpart with heavy tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..linalg import matmul, solve_triangular
from .distribution import MatrixDistribution, listed
from .stacks import Factored, log_multivariate_gamma, multivariate_digamma, transposed
from .streams import Streams
from .wishart import bartlett, column


class _RowsAndColumns(MatrixDistribution):
    """A distribution with a mean, a matrix of the covariances of rows and one of those of columns."""

    matrices = {"x": False, "mu": False, "U": True, "V": True}

    def _check_shapes(self, given: Sequence[np.ndarray]) -> None:
        shapes = {n: a.shape[-2:] for n, a in zip(("x", *self.parameters), given, strict=True) if n in self.matrices}
        m, n = shapes["x"]
        if shapes["mu"] != (m, n) or shapes["U"] != (m, m) or shapes["V"] != (n, n):
            wanted = f"mu must be {(m, n)}, U {(m, m)} and V {(n, n)}"
            raise ValueError(f"{self.name}: {listed(shapes)}; for this x {wanted}")

    def _faults(self, *parameters: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
        mu, U, V = (p for p in parameters if p.ndim > 1)
        if mu.shape[-2:] != (U.shape[-1], V.shape[-1]):
            given = f"mu has {mu.shape[-2:]}, U {U.shape[-2:]}, V {V.shape[-2:]}"
            raise ValueError(f"{self.name}: {given}: they must be (m, n), (m, m), (n, n)")
        definite = [(n, "symmetric and positive definite", Factored(a).valid) for n, a in (("U", U), ("V", V))]
        return [("mu", "finite", np.isfinite(mu)), *definite]


class MatrixNormal(_RowsAndColumns):
    """The matrix normal distribution: vec(x) is normal with the mean vec(mu) and the covariance matrix V ⊗ U.

    Its parameters are ``mu``, (..., m, n), ``U``, (..., m, m), the covariance matrix of rows, and ``V``, (..., n, n), that of
    columns.

    Notes
    -----
    Dawid (1981), Some matrix-variate distribution theory.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x, mu = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]), np.zeros((2, 3))
    >>> round(float(gs.matrix_normal.logpdf(x, mu, np.eye(2), 2 * np.eye(3))), 6)
    -11.343073
    """

    name, parameters = "matrix_normal", ("mu", "U", "V")

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        mu, U, V = parameters
        rows, columns = Factored(U), Factored(V)
        m, n = x.shape[-2:]
        white = columns.whitened(transposed(rows.whitened(x - mu)))
        value = -0.5 * ((white**2).sum((-2, -1)) + m * n * math.log(2 * math.pi) + n * rows.logdet + m * columns.logdet)
        valid = rows.valid & columns.valid & np.isfinite(mu).all((-2, -1))
        return np.where(valid, np.where(np.isinf(x).any((-2, -1)), -np.inf, value), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        mu, U, V = parameters
        rows, columns, apart = Factored(U), Factored(V), x - mu
        m, n = x.shape[-2:]
        left = np.asarray(matmul(rows.inverse, apart))
        both = np.asarray(matmul(left, columns.inverse))
        return {
            "x": -both,
            "mu": both,
            "U": 0.5 * (np.asarray(matmul(both, transposed(left))) - n * rows.inverse),
            "V": 0.5 * (np.asarray(matmul(transposed(both), matmul(apart, columns.inverse))) - m * columns.inverse),
        }

    def _draw(self, streams: Streams, shape: tuple[int, ...], *parameters: np.ndarray) -> np.ndarray:
        mu, U, V = parameters
        z = streams.rvs("normal", 0.0, 1.0, each=mu.shape[-2:])
        return mu + np.asarray(matmul(matmul(Factored(U).factor, z), transposed(Factored(V).factor)))

    def mean(self, mu: Any, U: Any, V: Any) -> Any:
        """The mean, mu."""
        given = self._parameters([mu, U, V])
        return np.broadcast_to(given[0], (*self._common(self.parameters, given), *given[0].shape[-2:]))


class MatrixT(_RowsAndColumns):
    """The matrix t distribution: a matrix normal one whose covariance matrix of rows has an inverse Wishart distribution.

    Its parameters are ``nu``, the degrees of freedom, positive, ``mu``, (..., m, n), ``U``, (..., m, m), the spread of rows,
    and ``V``, (..., n, n), that of columns.

    Notes
    -----
    Gupta & Nagar (2000), Matrix variate distributions, ch. 4.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> round(float(gs.matrix_t.logpdf(x, 3.0, np.zeros((2, 2)), np.eye(2), np.eye(2))), 6)
    -7.429172
    """

    name, parameters = "matrix_t", ("nu", "mu", "U", "V")

    def _parts(
        self, x: np.ndarray, mu: np.ndarray, U: np.ndarray, V: np.ndarray
    ) -> tuple[Factored, Factored, Factored, np.ndarray]:
        """Both spreads, U + (x - mu) V⁻¹ (x - mu)', and x - mu."""
        rows, columns, apart = Factored(U), Factored(V), x - mu
        finite = np.where(np.isfinite(apart), apart, 0.0)
        white = transposed(columns.whitened(transposed(finite)))
        return rows, columns, Factored(U + np.asarray(matmul(white, transposed(white)))), finite

    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        nu, mu, U, V = parameters
        rows, columns, inner, _ = self._parts(x, mu, U, V)
        m, n = x.shape[-2:]
        half = 0.5 * (nu + m + n - 1)
        value = (
            log_multivariate_gamma(half, m) - log_multivariate_gamma(half - 0.5 * n, m) - 0.5 * m * n * math.log(math.pi)
            - 0.5 * n * rows.logdet - 0.5 * m * columns.logdet - half * (inner.logdet - rows.logdet)
        )  # fmt: skip
        valid = rows.valid & columns.valid & (nu > 0) & np.isfinite(mu).all((-2, -1))
        return np.where(valid, np.where(np.isinf(x).any((-2, -1)), -np.inf, value), np.nan)

    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        nu, mu, U, V = parameters
        rows, columns, inner, apart = self._parts(x, mu, U, V)
        m, n = x.shape[-2:]
        half = 0.5 * (nu + m + n - 1)
        right = np.asarray(matmul(apart, columns.inverse))
        both = np.asarray(matmul(inner.inverse, right))
        of_nu = multivariate_digamma(half, m) - multivariate_digamma(half - 0.5 * n, m) - (inner.logdet - rows.logdet)
        twice = column(2 * half)
        return {
            "x": -twice * both,
            "mu": twice * both,
            "nu": 0.5 * of_nu,
            "U": column(half - 0.5 * n) * rows.inverse - column(half) * inner.inverse,
            "V": column(half) * np.asarray(matmul(transposed(right), both)) - 0.5 * m * columns.inverse,
        }

    def _faults(self, *parameters: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
        return [("nu", "positive", parameters[0] > 0), *super()._faults(*parameters[1:])]

    def _draw(self, streams: Streams, shape: tuple[int, ...], *parameters: np.ndarray) -> np.ndarray:
        nu, mu, U, V = parameters
        m = mu.shape[-2]
        turned = bartlett(streams, nu + m - 1, m)[..., ::-1, ::-1]
        z = streams.rvs("normal", 0.0, 1.0, each=mu.shape[-2:])
        # The covariance matrix of rows is the inverse of B B': its root is the inverse of B'.
        white = np.asarray(solve_triangular(np.ascontiguousarray(transposed(turned)), z))
        return mu + np.asarray(matmul(matmul(Factored(U).factor, white), transposed(Factored(V).factor)))


matrix_normal, matrix_t = MatrixNormal(), MatrixT()
