"""Distributions of tables with correlated rows and correlated columns: matrix normal and matrix t."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import linalg
from .distribution import Argument, MatrixDistribution, Normals, Terms
from .factors import Array, Factor, as_matrix, gram, log_multigamma, multidigamma, square_sum, transposed

TABLE, ROWS, COLUMNS = ("n", "p"), ("n", "n"), ("p", "p")


class _Table(MatrixDistribution):
    """Function of z = row^-1 (x - mu) column^-T, (..., n, p), row and column being the factors of the two covariances."""

    def _standardised(self, x: Array, mu: Array, rows: Factor, columns: Factor) -> Array:
        return np.ascontiguousarray(transposed(columns.solve(np.ascontiguousarray(transposed(rows.solve(x - mu))))))

    def _gradient(self, slope: Array, z: Array, rows: Factor, columns: Factor) -> dict[str, Array]:
        """The derivatives in x, in mu and in both covariances, from the derivative -slope in z.

        slope z' and slope' z are symmetric.
        """
        (n, p), names = z.shape[-2:], [a.name for a in self.arguments[-2:]]
        left = rows.solve_transposed(slope)
        of_mu = transposed(columns.solve_transposed(np.ascontiguousarray(transposed(left))))
        inner, other = linalg.matmul(slope, transposed(z)), linalg.matmul(transposed(slope), z)
        of_rows = 0.5 * _congruent(rows, inner) - 0.5 * p * rows.inverse
        of_columns = 0.5 * _congruent(columns, other) - 0.5 * n * columns.inverse
        return {"x": -of_mu, "mu": of_mu, names[0]: of_rows, names[1]: of_columns}


def _congruent(factor: Factor, inner: Array) -> Array:
    """Product l^-T inner l^-1."""
    return factor.solve_transposed(np.ascontiguousarray(transposed(factor.solve_transposed(inner))))


class MatrixNormal(_Table):
    """Normal tables: the covariance of x_ij and x_kl is rowcov_ik colcov_jl.

    logpdf(x, mu, rowcov, colcov): x and mu are (..., n, p), rowcov (..., n, n), colcov (..., p, p).

    Notes
    -----
    Source: Dawid (1981), Some matrix-variate distribution theory.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.matrix_normal.rvs(np.zeros((2, 3)), np.eye(2), np.eye(3), size=5, rng=1).shape
    (5, 2, 3)
    """

    name = "matrix_normal"
    arguments = (Argument("x", TABLE), Argument("mu", TABLE), Argument("rowcov", ROWS), Argument("colcov", COLUMNS))
    requirements = "rowcov and colcov must be symmetric and positive definite"

    def _valid(self, mu: Array, rowcov: Array, colcov: Array) -> Array:
        return np.isfinite(mu).all((-2, -1)) & Factor(rowcov).sound & Factor(colcov).sound

    def _terms(self, wrt: tuple[str, ...], x: Array, mu: Array, rowcov: Array, colcov: Array) -> Terms:
        (n, p), rows, columns = x.shape[-2:], Factor(rowcov), Factor(colcov)
        z = self._standardised(x, mu, rows, columns)
        value = -0.5 * (n * p * np.log(2 * np.pi) + p * rows.logdet + n * columns.logdet + square_sum(z))
        gradient = self._gradient(z, z, rows, columns) if wrt else {}
        valid = ~np.isnan(mu).any((-2, -1)) & rows.sound & columns.sound
        return Terms(value, valid, np.isfinite(value), gradient)

    def _draw(self, normals: Normals, shape: tuple[int, ...], mu: Array, rowcov: Array, colcov: Array) -> Array:
        z = normals.normal(*shape, *mu.shape[-2:]).astype(mu.dtype)
        right = np.ascontiguousarray(transposed(Factor(colcov).lower))
        return mu + linalg.matmul(linalg.matmul(Factor(rowcov).lower, z), right)

    def mean(self, mu: ArrayLike, rowcov: ArrayLike, colcov: ArrayLike) -> Array:
        """Mean mu."""
        return np.array(mu, float)

    mode = mean


class MatrixT(_Table):
    """Tables with heavy tails: matrix normal tables whose row covariance has an inverse Wishart distribution.

    logpdf(x, nu, mu, row_scale, col_scale): x and mu are (..., n, p), row_scale (..., n, n), col_scale (..., p, p); nu > 0.

    Notes
    -----
    Source: Gupta & Nagar (1999), Matrix Variate Distributions, ch. 4.
    """

    name = "matrix_t"
    arguments = (
        Argument("x", TABLE), Argument("nu"), Argument("mu", TABLE), Argument("row_scale", ROWS), Argument("col_scale", COLUMNS)
    )  # fmt: skip
    requirements = "row_scale and col_scale must be symmetric and positive definite, and nu > 0"

    def _valid(self, nu: Array, mu: Array, row_scale: Array, col_scale: Array) -> Array:
        sound = Factor(row_scale).sound & Factor(col_scale).sound
        return (nu > 0) & np.isfinite(nu) & np.isfinite(mu).all((-2, -1)) & sound

    def _terms(self, wrt: tuple[str, ...], x: Array, nu: Array, mu: Array, row_scale: Array, col_scale: Array) -> Terms:
        (n, p), rows, columns, nu = x.shape[-2:], Factor(row_scale), Factor(col_scale), nu.astype(float)
        z = self._standardised(x, mu, rows, columns)
        total = nu + n + p - 1
        around = Factor(gram(z) + np.eye(n, dtype=z.dtype))
        value = (
            log_multigamma(0.5 * total, n) - log_multigamma(0.5 * (total - p), n) - 0.5 * n * p * np.log(np.pi)
            - 0.5 * (p * rows.logdet + n * columns.logdet + total * around.logdet)
        )  # fmt: skip
        gradient = {}
        if wrt:
            slope = as_matrix(total).astype(z.dtype) * linalg.cho_solve(around.lower, z)
            of_nu = 0.5 * (multidigamma(0.5 * total, n) - multidigamma(0.5 * (total - p), n) - around.logdet)
            gradient = {**self._gradient(slope, z, rows, columns), "nu": of_nu}
        valid = (nu > 0) & np.isfinite(nu) & ~np.isnan(mu).any((-2, -1)) & rows.sound & columns.sound
        return Terms(value, valid, around.sound, gradient)

    def _draw(
        self, normals: Normals, shape: tuple[int, ...], nu: Array, mu: Array, row_scale: Array, col_scale: Array
    ) -> Array:
        """Random tables mu + l b^-T z r', b b' being a Wishart matrix of the unit matrix, of nu + n - 1 degrees of freedom."""
        n = mu.shape[-2]
        b = normals.bartlett(shape, nu + n - 1, n).astype(mu.dtype)
        z = normals.normal(*shape, *mu.shape[-2:]).astype(mu.dtype)
        right = np.ascontiguousarray(transposed(Factor(col_scale).lower))
        return mu + linalg.matmul(linalg.matmul(Factor(row_scale).lower, linalg.solve_triangular(b, z, trans=1)), right)

    def mean(self, nu: ArrayLike, mu: ArrayLike, row_scale: ArrayLike, col_scale: ArrayLike) -> Array:
        """Mean mu; nan where nu <= 1."""
        return np.where(as_matrix(nu) > 1, np.asarray(mu), np.nan)

    def mode(self, nu: ArrayLike, mu: ArrayLike, row_scale: ArrayLike, col_scale: ArrayLike) -> Array:
        """Mode mu."""
        return np.array(mu, float)


matrix_normal, matrix_t = MatrixNormal(), MatrixT()
