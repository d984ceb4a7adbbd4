"""Distributions of matrices as in PyMC, of one and of many at once: Wishart's, its inverse, and normal tables.

The factor of one small matrix takes PyTensor's functions a few microseconds, in code that PyTensor compiles: a call of the
device takes more, and so do calls from compiled code. Of stacks of matrices they make a call each; these, and large
matrices, are factorised by `linalg`, all in one call, on the device where that takes less time. Numbers are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import multivariate
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Continuous
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import _default_transform
from pytensor.tensor.random.op import RandomVariable

from .. import matrices
from ..compiler.graph.types import Parameter, TensorLike, TensorVariable
from ..draws.generator import as_generator
from ..runtime import thresholds
from . import linalg
from .matrix_transforms import PositiveDefinite, length_of
from .parameters import as_parameter

#: Rows from which one matrix is factorised by `linalg`.
ROWS_OF_LARGE_MATRIX = thresholds.PYMC_ROWS_OF_LARGE_MATRIX.value


def cholesky(a: TensorVariable) -> TensorVariable:
    """Cholesky factors of symmetric matrices, of which the lower triangles are read; nan where there is none."""
    if _is_small(a):
        return pt.linalg.cholesky(a, lower=True, on_error="nan")
    return linalg.cholesky(pt.tril(a) + pt.tril(a, -1).mT)


def exists(factor: TensorVariable) -> TensorVariable:
    """True if a matrix has the Cholesky factor that `cholesky` found."""
    return pt.abs(linalg.cho_logdet(factor)) < np.inf


def solve(factor: TensorVariable, b: TensorVariable) -> TensorVariable:
    """Solution factor^-1 b, for matrices (..., n, m).

    Where all matrices share one factor, they are solved as one matrix of many columns.
    """
    if factor.type.ndim == 2 < b.type.ndim:
        columns = pt.moveaxis(b, -2, 0)
        x = solve(factor, columns.reshape((columns.shape[0], -1)))
        return pt.moveaxis(x.reshape(columns.shape), 0, -2)
    if _is_small(factor):
        return pt.linalg.solve_triangular(factor, b, lower=True, b_ndim=2)
    return linalg.solve_triangular(factor, b, b_ndim=2)


def _is_small(a: TensorVariable) -> bool:
    return a.type.ndim == 2 and (a.type.shape[-1] or 0) < ROWS_OF_LARGE_MATRIX


def _square_sum(a: TensorVariable) -> TensorVariable:
    return pt.square(a).sum(axis=(-2, -1))


def _log_multigamma(a: TensorVariable, n: TensorVariable) -> TensorVariable:
    """Logarithm of the multivariate gamma function."""
    return pt.gammaln(a[..., None] - 0.5 * pt.arange(n)).sum(axis=-1) + 0.25 * n * (n - 1) * np.log(np.pi)


def _asymmetry(x: TensorVariable) -> TensorVariable:
    """Largest difference from a symmetric matrix, in units of the diagonal's largest."""
    return pt.abs(x - x.mT).max(axis=(-2, -1)) / pt.diagonal(x, axis1=-2, axis2=-1).max(axis=-1)


# -- covariance matrices


class _CovarianceRV(RandomVariable):
    """Random variable of covariance matrices, drawn by one of gpustats' distributions."""

    signature = "(),(n,n)->(n,n)"
    dtype = "floatX"
    of: Any

    def rng_fn(self, rng: np.random.Generator, *args: Any) -> np.ndarray:
        *parameters, size = args
        draws = self.of.rvs(*(np.asarray(p, float) for p in parameters), size=size, rng=as_generator(rng))
        return np.asarray(draws, self.dtype)


@_default_transform.register(_CovarianceRV)
def _of_covariances(op: _CovarianceRV, rv: TensorVariable) -> PositiveDefinite | None:
    n = length_of(rv)
    return None if n is None else PositiveDefinite(n)


def _checked(
    value: TensorVariable, x: TensorVariable, factor_of_x: TensorVariable, nu: TensorVariable, factor: TensorVariable,
    name: str,
) -> TensorVariable:
    """Log-densities at x, -inf where it lies outside of the support."""
    inside = exists(factor_of_x) & (_asymmetry(x) < 1e-8)
    return check_parameters(
        pt.switch(inside, value, -np.inf),
        nu > x.shape[-1] - 1,
        exists(factor),
        msg=f"nu > n - 1, {name} symmetric and positive definite",
    )


def _in_size(point: TensorVariable, size: TensorVariable) -> TensorVariable:
    return point if rv_size_is_none(size) else pt.broadcast_to(point, (*size, *point.shape[-2:]))


class WishartRV(_CovarianceRV):
    """Random variable of a matrix with a Wishart distribution."""

    name = "wishart"
    _print_name = ("Wishart", r"\operatorname{Wishart}")
    of = matrices.wishart


class Wishart(pm.Wishart):
    """Distribution of the scatter matrix of normal vectors around their known mean.

    Takes what PyMC's takes, and more: nu may be any number greater than n - 1, nu and V may have leading axes, and NUTS
    samples it, by the Cholesky factor with logarithms on its diagonal. In PyMC 6 it is PyMC's own.

    Parameters
    ----------
    nu : tensor_like, (...)
        Degrees of freedom, > n - 1.
    V : tensor_like, (..., n, n)
        Symmetric and positive definite; the mean is nu V.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> round(float(pm.logp(gpm.Wishart.dist(3.0, np.eye(2)), np.eye(2)).eval()), 4)
    -3.531
    """

    rv_op = WishartRV()

    @classmethod
    def dist(cls, nu: TensorLike, V: TensorLike, *args: object, **kwargs: object) -> TensorVariable:
        return super(pm.Wishart, cls).dist([as_parameter(nu), as_parameter(V)], *args, **kwargs)

    def support_point(
        rv: TensorVariable, size: TensorVariable, nu: TensorVariable, V: TensorVariable
    ) -> TensorVariable:
        return _in_size(nu[..., None, None] * V, size)

    def logp(x: TensorVariable, nu: TensorVariable, V: TensorVariable) -> TensorVariable:
        n, of_x, of_v = x.shape[-1], cholesky(x), cholesky(V)
        value = (
            0.5 * ((nu - n - 1) * linalg.cho_logdet(of_x) - _square_sum(solve(of_v, of_x)))
            - 0.5 * nu * (n * np.log(2) + linalg.cho_logdet(of_v)) - _log_multigamma(0.5 * nu, n)
        )  # fmt: skip
        return _checked(value, x, of_x, nu, of_v, "V")


class InverseWishartRV(_CovarianceRV):
    """Random variable of a matrix whose inverse has a Wishart distribution."""

    name = "inverse_wishart"
    _print_name = ("InverseWishart", r"\operatorname{InverseWishart}")
    of = matrices.inverse_wishart


class InverseWishart(Continuous):
    """Distribution of the inverse of a matrix that has a Wishart distribution, which PyMC does not have.

    Parameters
    ----------
    nu : tensor_like, (...)
        Degrees of freedom, > n - 1.
    psi : tensor_like, (..., n, n)
        Symmetric and positive definite; the mean is psi / (nu - n - 1).

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> with pm.Model() as model:
    ...     cov = gpm.InverseWishart("cov", 4.0, np.eye(2))
    >>> model.initial_point()["cov_cholesky__"].round(4)
    array([-0.973,  0.   , -0.973])
    """

    rv_op = InverseWishartRV()

    @classmethod
    def dist(cls, nu: TensorLike, psi: TensorLike, **kwargs: object) -> TensorVariable:
        return super().dist([as_parameter(nu), as_parameter(psi)], **kwargs)

    def support_point(
        rv: TensorVariable, size: TensorVariable, nu: TensorVariable, psi: TensorVariable
    ) -> TensorVariable:
        """Mode of the distribution, which there always is."""
        return _in_size(psi / (nu[..., None, None] + psi.shape[-1] + 1), size)

    def logp(x: TensorVariable, nu: TensorVariable, psi: TensorVariable) -> TensorVariable:
        n, of_x, of_psi = x.shape[-1], cholesky(x), cholesky(psi)
        value = (
            0.5 * (nu * (linalg.cho_logdet(of_psi) - n * np.log(2)) - (nu + n + 1) * linalg.cho_logdet(of_x))
            - 0.5 * _square_sum(solve(of_x, of_psi)) - _log_multigamma(0.5 * nu, n)
        )  # fmt: skip
        return _checked(value, x, of_x, nu, of_psi, "psi")


# -- tables


class MatrixNormalRV(multivariate.MatrixNormalRV):
    """Random variable of a normal table, or of many."""


class MatrixNormal(pm.MatrixNormal):
    rv_op = MatrixNormalRV()

    @classmethod
    def dist(
        cls, mu: TensorLike, rowcov: Parameter = None, rowchol: Parameter = None, colcov: Parameter = None,
        colchol: Parameter = None, *args: object, **kwargs: object,
    ) -> TensorVariable:  # fmt: skip
        """Random variable of normal tables; observations, mu and the matrices may have leading axes, which PyMC's have not."""
        rows, columns = _factor("row", rowcov, rowchol), _factor("col", colcov, colchol)
        mu = as_parameter(mu)
        mu = pt.broadcast_to(mu, (*mu.shape[: max(mu.type.ndim - 2, 0)], rows.shape[-1], columns.shape[-1]))
        return super(pm.MatrixNormal, cls).dist([mu, rows, columns], **kwargs)

    def logp(x: TensorVariable, mu: TensorVariable, rows: TensorVariable, columns: TensorVariable) -> TensorVariable:
        if x.type.ndim < 2:
            raise ValueError(f"Value must be two dimensional, or have leading axes; it has {x.type.ndim} dimensions")
        n, p = x.shape[-2:]
        z = solve(columns, solve(rows, x - mu).mT)
        logdet = p * linalg.cho_logdet(rows) + n * linalg.cho_logdet(columns)
        return check_parameters(
            -0.5 * (n * p * np.log(2 * np.pi) + logdet + _square_sum(z)),
            exists(rows),
            exists(columns),
            msg="rowcov and colcov symmetric and positive definite",
        )


def _factor(side: str, cov: Parameter, chol: Parameter) -> TensorVariable:
    """Cholesky factor of the covariance of rows or columns."""
    name, given = (f"{side}chol", chol) if cov is None else (f"{side}cov", cov)
    if given is None or (cov is not None and chol is not None):
        raise ValueError(f"Incompatible parameterization. Specify exactly one of {side}cov, or {side}chol.")
    matrix = as_parameter(given)
    if matrix.type.ndim < 2:
        raise ValueError(f"{name} must be two dimensional, or have leading axes; it has {matrix.type.ndim} dimensions")
    return matrix if cov is None else cholesky(matrix)
