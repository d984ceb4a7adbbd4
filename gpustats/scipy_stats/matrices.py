"""Distributions of matrices as in SciPy: of covariances, of tables, and of rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .. import matrices
from ..draws.generator import Rng
from ..runtime.types import Array, Doubles, Size, Values
from .multivariate import Location, Multivariate, WithDensity, WithMass, checked_counts, squeezed


def _square(name: str, value: ArrayLike | None, dim: int | None = None) -> Doubles:
    """Square matrix, from a matrix, a multiple of the unit one, or a diagonal.

    ValueError where it is not square, or of another size.
    """
    value = 1.0 if value is None else value
    matrix = np.asarray(value, float)
    if matrix.ndim < 2:
        matrix = matrix * np.eye(matrix.size if matrix.ndim and matrix.size > 1 else dim or 1)
    if matrix.ndim > 2 or matrix.shape[0] != matrix.shape[1] or dim not in (None, matrix.shape[0]):
        raise ValueError(f"{name} has shape {np.shape(value)}: it must be {(dim or 'n', dim or 'n')}")
    return matrix


class _OfMatrices(Multivariate):
    """Distribution of matrices, by one of gpustats'."""

    @property
    def density(self) -> Any:
        return getattr(matrices, self.of)


class _OfCovariances(_OfMatrices, WithDensity):
    parameters = ("df", "scale")

    def _processed(self, df: float | None = None, scale: ArrayLike | None = None) -> tuple[float, Doubles]:
        scale = _square("scale", scale)
        df = len(scale) if df is None else df
        if np.ndim(df) or not df > len(scale) - 1:
            raise ValueError(f"df must be a number greater than {len(scale) - 1}, not {df}")
        return float(df), scale

    def _observations(self, x: ArrayLike, df: float, scale: Doubles) -> Doubles:
        """Matrices along the first axes; SciPy has several of them along a third axis."""
        x, dim = np.asarray(x, float), len(scale)
        if x.ndim < 2:
            x = x * np.eye(dim) if dim > 1 or not x.ndim else x.reshape(1, 1, -1)
        if x.ndim > 3 or x.shape[:2] != (dim, dim):
            raise ValueError(f"x has shape {x.shape}: it must be {(dim, dim)} or {(dim, dim, 'N')}")
        return x if x.ndim == 2 else np.ascontiguousarray(np.moveaxis(x, -1, 0))

    def logpdf(self, x: ArrayLike, df: float, scale: ArrayLike) -> Array:  # type: ignore[override]
        """Logarithm of the density at matrices along the first two axes of x."""
        return squeezed(self._at("logpdf", x, (df, scale), {}))

    def mean(self, df: float, scale: ArrayLike) -> Array:
        """Mean of the matrices; None where there is none."""
        mean = self.density.mean(*self._processed(df, scale))
        return None if np.isnan(mean).all() else squeezed(mean)

    def mode(self, df: float, scale: ArrayLike) -> Array:
        """Mode of the matrices; None where there is none."""
        mode = self.density.mode(*self._processed(df, scale))
        return None if np.isnan(mode).all() else squeezed(mode)

    def _entropy(self, df: float, scale: Doubles, sign: int) -> np.float64:
        """Entropy of a Wishart distribution, or, where `sign` is -1, of the inverse one."""
        p, half, step = len(scale), 0.5 * df, 0.5 * (len(scale) + 1)
        log_det = np.linalg.slogdet(scale)[1] + sign * p * np.log(2)
        slopes = special.digamma(half - 0.5 * np.arange(p)).sum()
        return np.float64(step * log_det + special.multigammaln(half, p) - (half - sign * step) * slopes + p * half)

    def rvs(self, df: float, scale: ArrayLike, size: Size = 1, random_state: Rng = None) -> Array:
        """Draws, without axes of length 1."""
        return squeezed(self._draws(self._processed(df, scale), size, random_state))


class Wishart(_OfCovariances):
    name, of = "wishart", "wishart"

    def var(self, df: float, scale: ArrayLike) -> Array:
        """Variances of the elements."""
        df, scale = self._processed(df, scale)
        return squeezed(df * (scale**2 + np.outer(np.diag(scale), np.diag(scale))))

    def entropy(self, df: float, scale: ArrayLike) -> Array:
        """Entropy in nats."""
        return self._entropy(*self._processed(df, scale), sign=1)


class InverseWishart(_OfCovariances):
    name, of = "invwishart", "inverse_wishart"

    def var(self, df: float, scale: ArrayLike) -> Array:
        """Variances of the elements; None where there are none."""
        df, scale = self._processed(df, scale)
        n = df - len(scale)
        if not n > 3:
            return None
        products = np.outer(np.diag(scale), np.diag(scale))
        return squeezed(((n + 1) * scale**2 + (n - 1) * products) / (n * (n - 1) ** 2 * (n - 3)))

    def entropy(self, df: float, scale: ArrayLike) -> Array:
        """Entropy in nats."""
        return self._entropy(*self._processed(df, scale), sign=-1)


class _OfTables(_OfMatrices, WithDensity):
    """Tables (n, p) with a mean and a matrix for the rows and one for the columns."""

    matrix_names: tuple[str, str]

    def _table(self, mean: Location, rows: ArrayLike, columns: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
        of_rows, of_columns = self.matrix_names
        if mean is not None:
            mean = np.asarray(mean, float)
            if mean.ndim != 2:
                raise ValueError(f"mean has shape {mean.shape}: it must be (n, p)")
            return mean, _square(of_rows, rows, mean.shape[0]), _square(of_columns, columns, mean.shape[1])
        rows, columns = _square(of_rows, rows), _square(of_columns, columns)
        return np.zeros((len(rows), len(columns))), rows, columns

    def logpdf(self, X: Values, *args: Values, **kwds: Values) -> Array:  # type: ignore[override]
        """Logarithm of the density at tables along the last two axes of X."""
        return self.density.logpdf(X, *self._given(args, kwds))

    def pdf(self, X: Values, *args: Values, **kwds: Values) -> Array:  # type: ignore[override]
        """Density at tables along the last two axes of X."""
        return np.exp(self.logpdf(X, *args, **kwds))


class MatrixNormal(_OfTables):
    name, of, parameters, matrix_names = "matrix_normal", "matrix_normal", ("mean", "rowcov", "colcov"), ("rowcov", "colcov")

    def _processed(
        self, mean: Location = None, rowcov: ArrayLike = 1, colcov: ArrayLike = 1
    ) -> tuple[Doubles, Doubles, Doubles]:
        return self._table(mean, rowcov, colcov)

    def rvs(
        self, mean: Location = None, rowcov: ArrayLike = 1, colcov: ArrayLike = 1, size: Size = 1, random_state: Rng = None
    ) -> Array:
        """Draws, (*size, n, p); a single draw has no leading axis."""
        return self._draws(self._processed(mean, rowcov, colcov), () if size == 1 else size, random_state)

    def entropy(self, rowcov: ArrayLike = 1, colcov: ArrayLike = 1) -> Array:
        """Entropy in nats."""
        _, rows, columns = self._processed(None, rowcov, colcov)
        n, p = len(rows), len(columns)
        of_both = p * np.linalg.slogdet(rows)[1] + n * np.linalg.slogdet(columns)[1]
        return np.float64(0.5 * (n * p * (1 + np.log(2 * np.pi)) + of_both))


class MatrixT(_OfTables):
    name, of, parameters = "matrix_t", "matrix_t", ("mean", "row_spread", "col_spread", "df")
    _order, matrix_names = ("df", "mean", "row_spread", "col_spread"), ("row_spread", "col_spread")

    def _processed(
        self, mean: Location = None, row_spread: ArrayLike = 1, col_spread: ArrayLike = 1, df: float = 1
    ) -> tuple[float, Doubles, Doubles, Doubles]:
        if np.ndim(df) or not df > 0:
            raise ValueError(f"df must be a positive number, not {df}")
        return float(df), *self._table(mean, row_spread, col_spread)

    def rvs(
        self, mean: Location = None, row_spread: ArrayLike = 1, col_spread: ArrayLike = 1, df: float = 1,
        size: Size = 1, random_state: Rng = None,
    ) -> Array:  # fmt: skip
        """Draws, (*size, n, p); a single draw has no leading axis."""
        return self._draws(self._processed(mean, row_spread, col_spread, df), () if size == 1 else size, random_state)


class WithDimension(_OfMatrices):
    """Distribution whose parameter is a dimension."""

    parameters = ("dim",)

    def _processed(self, dim: int | None) -> tuple[int]:
        if dim is None or np.ndim(dim) or dim < 1 or int(dim) != dim:
            raise ValueError(f"dim must be a positive whole number, not {dim}")
        return (int(dim),)

    def rvs(self, dim: int, size: Size = 1, random_state: Rng = None) -> Array:
        """Draws, (*size, dim, dim); a single draw has no leading axis."""
        return self._draws(self._processed(dim), None if size in (1, None) else size, random_state)


class OrthoGroup(WithDimension):
    name = of = "ortho_group"


class SpecialOrthoGroup(WithDimension):
    name = of = "special_ortho_group"


class UnitaryGroup(WithDimension):
    name = of = "unitary_group"


class RandomCorrelation(_OfMatrices):
    name = of = "random_correlation"
    parameters = ("eigs", "tol", "diag_tol")

    def _processed(self, eigs: ArrayLike, tol: float = 1e-13, diag_tol: float = 1e-7) -> tuple[Doubles]:
        eigs = np.asarray(eigs, float)
        if eigs.ndim != 1 or len(eigs) < 2:
            raise ValueError(f"eigs has shape {eigs.shape}: it must be a vector of at least two eigenvalues")
        if not abs(eigs.sum() - len(eigs)) <= tol or not (eigs >= -tol).all():
            raise ValueError(f"eigs must be numbers that are not negative, whose sum is {len(eigs)} within {tol}, not {eigs}")
        return (np.maximum(eigs, 0),)

    def rvs(
        self, eigs: ArrayLike, random_state: Rng = None, tol: float = 1e-13, diag_tol: float = 1e-7, size: Size = None
    ) -> Array:
        """Correlation matrix of these eigenvalues, or several, (*size, n, n); its diagonal is 1 exactly."""
        return self._draws(self._processed(eigs, tol, diag_tol), size, random_state)


class RandomTable(_OfMatrices, WithMass):
    name = of = "random_table"
    parameters = ("row", "col")

    def _processed(self, row: ArrayLike, col: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(row), np.asarray(col)

    def attributes(self, **given: ArrayLike) -> dict[str, Array]:
        self.density.mean(*self._processed(**given))  # raises where there are no tables of these sums
        return super().attributes(**given)

    def _observations(self, x: Values, *given: Array) -> Array:
        return checked_counts(super()._observations(x))

    def mean(self, row: ArrayLike, col: ArrayLike) -> Array:
        """Mean of the tables."""
        return self.density.mean(*self._processed(row, col))

    def rvs(
        self, row: ArrayLike, col: ArrayLike, *, size: Size = None, method: str | None = None, random_state: Rng = None
    ) -> Array:
        """Draws, (*size, r, c). All values of `method` draw in one way."""
        if method not in (None, "boyett", "patefield"):
            raise ValueError(f"method must be None, 'boyett' or 'patefield', not {method!r}")
        return self._draws(self._processed(row, col), size, random_state)
