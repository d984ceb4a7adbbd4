"""Distributions of covariance matrices: Wishart's and its inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import linalg
from .distribution import SQUARE, Argument, MatrixDistribution, Normals, Terms
from .factors import Array, Factor, as_matrix, gram, log_multigamma, multidigamma, square_sum, transposed

_LOG_2 = np.log(2.0)


class Wishart(MatrixDistribution):
    """The distribution of the scatter matrix of normal vectors around their known mean.

    logpdf(x, nu, V): x and V are symmetric and positive definite, (..., n, n); nu > n - 1 are the degrees of freedom.
    The mean is nu V.

    Notes
    -----
    Source: Anderson (2003), An Introduction to Multivariate Statistical Analysis, ch. 7. Draws by the decomposition of
    Bartlett (1933), On the theory of statistical regression.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> value, gradient = gs.wishart.loglik_and_grad(np.eye(2), 3.0, np.eye(2))
    >>> gradient["V"]
    array([[-1.,  0.],
           [ 0., -1.]])
    """

    name = "wishart"
    arguments = (Argument("x", SQUARE), Argument("nu"), Argument("V", SQUARE))
    requirements = "V must be symmetric and positive definite, and nu > n - 1"

    def _valid(self, nu: Array, V: Array) -> Array:
        return _enough(nu, V.shape[-1]) & Factor(V).sound

    def _terms(self, wrt: tuple[str, ...], x: Array, nu: Array, V: Array) -> Terms:
        n, fx, fv, nu = x.shape[-1], Factor(x), Factor(V), nu.astype(float)
        value = (
            0.5 * ((nu - n - 1) * fx.logdet - square_sum(fv.solve(fx.lower)))
            - 0.5 * nu * (n * _LOG_2 + fv.logdet) - log_multigamma(0.5 * nu, n)
        )  # fmt: skip
        gradient = {}
        if "x" in wrt:
            gradient["x"] = 0.5 * (as_matrix(nu - n - 1) * fx.inverse - fv.inverse)
        if "nu" in wrt:
            gradient["nu"] = 0.5 * (fx.logdet - fv.logdet - n * _LOG_2 - multidigamma(0.5 * nu, n))
        if "V" in wrt:
            gradient["V"] = 0.5 * (gram(fv.solve_transposed(fv.solve(fx.lower))) - as_matrix(nu) * fv.inverse)
        return Terms(value, _enough(nu, n) & fv.sound, fx.sound, gradient)

    def _draw(self, normals: Normals, shape: tuple[int, ...], nu: Array, V: Array) -> Array:
        return gram(linalg.matmul(Factor(V).lower, normals.bartlett(shape, nu, V.shape[-1]).astype(V.dtype)))

    def mean(self, nu: ArrayLike, V: ArrayLike) -> Array:
        """Mean nu V, (..., n, n)."""
        return as_matrix(nu) * np.asarray(V)

    def mode(self, nu: ArrayLike, V: ArrayLike) -> Array:
        """Mode (nu - n - 1) V; nan where nu < n + 1."""
        factor = np.asarray(nu) - np.shape(V)[-1] - 1.0
        return as_matrix(np.where(factor >= 0, factor, np.nan)) * np.asarray(V)


class InverseWishart(MatrixDistribution):
    """The distribution of the inverse of a matrix that has a Wishart distribution.

    logpdf(x, nu, psi): x and psi are symmetric and positive definite, (..., n, n); nu > n - 1 are the degrees of freedom.
    The mean is psi / (nu - n - 1).

    Notes
    -----
    Source: Anderson (2003), An Introduction to Multivariate Statistical Analysis, ch. 7.
    """

    name = "inverse_wishart"
    arguments = (Argument("x", SQUARE), Argument("nu"), Argument("psi", SQUARE))
    requirements = "psi must be symmetric and positive definite, and nu > n - 1"

    def _valid(self, nu: Array, psi: Array) -> Array:
        return _enough(nu, psi.shape[-1]) & Factor(psi).sound

    def _terms(self, wrt: tuple[str, ...], x: Array, nu: Array, psi: Array) -> Terms:
        n, fx, fp, nu = x.shape[-1], Factor(x), Factor(psi), nu.astype(float)
        value = (
            0.5 * (nu * (fp.logdet - n * _LOG_2) - (nu + n + 1) * fx.logdet - square_sum(fx.solve(fp.lower)))
            - log_multigamma(0.5 * nu, n)
        )  # fmt: skip
        gradient = {}
        if "x" in wrt:
            gradient["x"] = 0.5 * (gram(fx.solve_transposed(fx.solve(fp.lower))) - as_matrix(nu + n + 1) * fx.inverse)
        if "nu" in wrt:
            gradient["nu"] = 0.5 * (fp.logdet - fx.logdet - n * _LOG_2 - multidigamma(0.5 * nu, n))
        if "psi" in wrt:
            gradient["psi"] = 0.5 * (as_matrix(nu) * fp.inverse - fx.inverse)
        return Terms(value, _enough(nu, n) & fp.sound, fx.sound, gradient)

    def _draw(self, normals: Normals, shape: tuple[int, ...], nu: Array, psi: Array) -> Array:
        """Random matrices l b^-T b^-1 l', where psi = l l', and b b' is a Wishart matrix of the unit matrix."""
        b = normals.bartlett(shape, nu, psi.shape[-1]).astype(psi.dtype)
        factor = linalg.solve_triangular(b, np.ascontiguousarray(transposed(Factor(psi).lower)))
        return gram(np.ascontiguousarray(transposed(factor)))

    def mean(self, nu: ArrayLike, psi: ArrayLike) -> Array:
        """Mean psi / (nu - n - 1), (..., n, n); nan where nu <= n + 1."""
        rest = np.asarray(nu) - np.shape(psi)[-1] - 1.0
        return np.asarray(psi) / as_matrix(np.where(rest > 0, rest, np.nan))

    def mode(self, nu: ArrayLike, psi: ArrayLike) -> Array:
        """Mode psi / (nu + n + 1)."""
        return np.asarray(psi) / as_matrix(np.asarray(nu) + np.shape(psi)[-1] + 1.0)


def _enough(nu: Array, n: int) -> Array:
    return (nu > n - 1) & np.isfinite(nu)


wishart, inverse_wishart = Wishart(), InverseWishart()
