"""Distributions of matrices as in SciPy: of covariances, of tables, and of rotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from .. import matrices
from .multivariate import Multivariate, squeezed
from .random_states import generator_of


def _square(name: str, value: Any, dim: int | None = None) -> np.ndarray:
    """Square matrix, from a matrix, a multiple of the unit one, or a diagonal.

    ValueError where it is not square, or of another size.
    """
    matrix = np.asarray(1.0 if value is None else value, float)
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

    #: The parameters of gpustats' distribution, of those of SciPy's.
    _processed: Callable[..., tuple[Any, ...]]

    def _rvs(self, given: dict[str, Any], size: Any, random_state: Any) -> Any:
        state = self.random_state if random_state is None else random_state
        return squeezed(self.density.rvs(*self._processed(**given), size=size, rng=generator_of(state)))


class _OfCovariances(_OfMatrices):
    parameters = ("df", "scale")

    def _processed(self, df: Any = None, scale: Any = None) -> tuple[float, np.ndarray]:
        scale = _square("scale", scale)
        df = len(scale) if df is None else df
        if np.ndim(df) or not df > len(scale) - 1:
            raise ValueError(f"df must be a number greater than {len(scale) - 1}, not {df}")
        return float(df), scale

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("df", "scale"), self._processed(**given), strict=True))

    def _quantiles(self, x: Any, dim: int) -> np.ndarray:
        """Matrices along the first axes; SciPy has several of them along a third axis."""
        x = np.asarray(x, float)
        if x.ndim < 2:
            x = x * np.eye(dim) if dim > 1 or not x.ndim else x.reshape(1, 1, -1)
        if x.ndim > 3 or x.shape[:2] != (dim, dim):
            raise ValueError(f"x has shape {x.shape}: it must be {(dim, dim)} or {(dim, dim, 'N')}")
        return x if x.ndim == 2 else np.ascontiguousarray(np.moveaxis(x, -1, 0))

    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """Logarithm of the density at matrices along the first two axes of x."""
        df, scale = self._processed(df, scale)
        return squeezed(self.density.logpdf(self._quantiles(x, len(scale)), df, scale))

    def pdf(self, x: Any, df: Any, scale: Any) -> Any:
        """Density at matrices along the first two axes of x."""
        return np.exp(self.logpdf(x, df, scale))

    def mean(self, df: Any, scale: Any) -> Any:
        """Mean of the matrices; None where there is none."""
        mean = self.density.mean(*self._processed(df, scale))
        return None if np.isnan(mean).all() else squeezed(mean)

    def mode(self, df: Any, scale: Any) -> Any:
        """Mode of the matrices; None where there is none."""
        mode = self.density.mode(*self._processed(df, scale))
        return None if np.isnan(mode).all() else squeezed(mode)

    def _products(self, scale: np.ndarray) -> np.ndarray:
        """Products of the diagonal's elements of each row and column."""
        products: np.ndarray = np.outer(np.diag(scale), np.diag(scale))
        return products

    def _entropy(self, df: float, scale: np.ndarray, sign: int) -> np.float64:
        """Entropy of a Wishart distribution, or, where `sign` is -1, of the inverse one."""
        p, half, step = len(scale), 0.5 * df, 0.5 * (len(scale) + 1)
        log_det = np.linalg.slogdet(scale)[1] + sign * p * np.log(2)
        slopes = special.digamma(half - 0.5 * np.arange(p)).sum()
        return np.float64(step * log_det + special.multigammaln(half, p) - (half - sign * step) * slopes + p * half)

    def rvs(self, df: Any, scale: Any, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, without axes of length 1."""
        return self._rvs({"df": df, "scale": scale}, size, random_state)


class Wishart(_OfCovariances):
    __doc__ = Multivariate.__doc__
    name, of = "wishart", "wishart"

    def var(self, df: Any, scale: Any) -> Any:
        """Variances of the elements."""
        df, scale = self._processed(df, scale)
        return squeezed(df * (scale**2 + self._products(scale)))

    def entropy(self, df: Any, scale: Any) -> Any:
        """Entropy in nats."""
        return self._entropy(*self._processed(df, scale), sign=1)


class InverseWishart(_OfCovariances):
    __doc__ = Multivariate.__doc__
    name, of = "invwishart", "inverse_wishart"

    def var(self, df: Any, scale: Any) -> Any:
        """Variances of the elements; None where there are none."""
        df, scale = self._processed(df, scale)
        n = df - len(scale)
        if not n > 3:
            return None
        return squeezed(((n + 1) * scale**2 + (n - 1) * self._products(scale)) / (n * (n - 1) ** 2 * (n - 3)))

    def entropy(self, df: Any, scale: Any) -> Any:
        """Entropy in nats."""
        return self._entropy(*self._processed(df, scale), sign=-1)


class _OfTables(_OfMatrices):
    """Tables (n, p) with a mean and a matrix for the rows and one for the columns."""

    matrix_names: tuple[str, str]

    def _table(self, mean: Any, rows: Any, columns: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        of_rows, of_columns = self.matrix_names
        if mean is not None:
            mean = np.asarray(mean, float)
            if mean.ndim != 2:
                raise ValueError(f"mean has shape {mean.shape}: it must be (n, p)")
            return mean, _square(of_rows, rows, mean.shape[0]), _square(of_columns, columns, mean.shape[1])
        rows, columns = _square(of_rows, rows), _square(of_columns, columns)
        return np.zeros((len(rows), len(columns))), rows, columns

    def _rvs(self, given: dict[str, Any], size: Any, random_state: Any) -> Any:
        state = self.random_state if random_state is None else random_state
        return self.density.rvs(*self._processed(**given), size=() if size == 1 else size, rng=generator_of(state))


class MatrixNormal(_OfTables):
    __doc__ = Multivariate.__doc__
    name, of, parameters, matrix_names = "matrix_normal", "matrix_normal", ("mean", "rowcov", "colcov"), ("rowcov", "colcov")

    def _processed(self, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> tuple[Any, ...]:
        return self._table(mean, rowcov, colcov)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(self.parameters, self._processed(**given), strict=True))

    def logpdf(self, X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """Logarithm of the density at tables along the last two axes of X."""
        return self.density.logpdf(X, *self._processed(mean, rowcov, colcov))

    def pdf(self, X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """Density at tables along the last two axes of X."""
        return np.exp(self.logpdf(X, mean, rowcov, colcov))

    def rvs(self, mean: Any = None, rowcov: Any = 1, colcov: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, (*size, n, p); a single draw has no leading axis."""
        return self._rvs({"mean": mean, "rowcov": rowcov, "colcov": colcov}, size, random_state)

    def entropy(self, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """Entropy in nats."""
        _, rows, columns = self._processed(None, rowcov, colcov)
        n, p = len(rows), len(columns)
        of_both = p * np.linalg.slogdet(rows)[1] + n * np.linalg.slogdet(columns)[1]
        return np.float64(0.5 * (n * p * (1 + np.log(2 * np.pi)) + of_both))


class MatrixT(_OfTables):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "matrix_t", "matrix_t", ("mean", "row_spread", "col_spread", "df")
    matrix_names = ("row_spread", "col_spread")

    def _processed(self, mean: Any = None, row_spread: Any = 1, col_spread: Any = 1, df: Any = 1) -> tuple[Any, ...]:
        if np.ndim(df) or not df > 0:
            raise ValueError(f"df must be a positive number, not {df}")
        return float(df), *self._table(mean, row_spread, col_spread)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("df", "mean", "row_spread", "col_spread"), self._processed(**given), strict=True))

    def logpdf(self, X: Any, mean: Any = None, row_spread: Any = 1, col_spread: Any = 1, df: Any = 1) -> Any:
        """Logarithm of the density at tables along the last two axes of X."""
        return self.density.logpdf(X, *self._processed(mean, row_spread, col_spread, df))

    def pdf(self, X: Any, mean: Any = None, row_spread: Any = 1, col_spread: Any = 1, df: Any = 1) -> Any:
        """Density at tables along the last two axes of X."""
        return np.exp(self.logpdf(X, mean, row_spread, col_spread, df))

    def rvs(
        self, mean: Any = None, row_spread: Any = 1, col_spread: Any = 1, df: Any = 1, size: Any = 1, random_state: Any = None
    ) -> Any:
        """Draws, (*size, n, p); a single draw has no leading axis."""
        given = {"mean": mean, "row_spread": row_spread, "col_spread": col_spread, "df": df}
        return self._rvs(given, size, random_state)


class _Group(_OfMatrices):
    parameters = ("dim",)

    def _processed(self, dim: Any) -> tuple[int]:
        if dim is None or np.ndim(dim) or dim < 1 or int(dim) != dim:
            raise ValueError(f"dim must be a positive whole number, not {dim}")
        return (int(dim),)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return {"dim": self._processed(**given)[0]}

    def rvs(self, dim: Any, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, (*size, dim, dim); a single draw has no leading axis."""
        state = self.random_state if random_state is None else random_state
        return self.density.rvs(*self._processed(dim), size=None if size in (1, None) else size, rng=generator_of(state))


class OrthoGroup(_Group):
    __doc__ = Multivariate.__doc__
    name = of = "ortho_group"


class SpecialOrthoGroup(_Group):
    __doc__ = Multivariate.__doc__
    name = of = "special_ortho_group"


class UnitaryGroup(_Group):
    __doc__ = Multivariate.__doc__
    name = of = "unitary_group"


class RandomCorrelation(_OfMatrices):
    __doc__ = Multivariate.__doc__
    name = of = "random_correlation"
    parameters = ("eigs", "tol", "diag_tol")

    def _processed(self, eigs: Any, tol: float = 1e-13, diag_tol: float = 1e-7) -> tuple[np.ndarray]:
        eigs = np.asarray(eigs, float)
        if eigs.ndim != 1 or len(eigs) < 2:
            raise ValueError(f"eigs has shape {eigs.shape}: it must be a vector of at least two eigenvalues")
        if not abs(eigs.sum() - len(eigs)) <= tol or not (eigs >= -tol).all():
            raise ValueError(f"eigs must be numbers that are not negative, whose sum is {len(eigs)} within {tol}, not {eigs}")
        return (np.maximum(eigs, 0),)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return {"eigs": self._processed(**given)[0]}

    def rvs(
        self, eigs: Any, random_state: Any = None, tol: float = 1e-13, diag_tol: float = 1e-7, size: Any = None
    ) -> np.ndarray:
        """Correlation matrix of these eigenvalues, or several, (*size, n, n); its diagonal is 1 exactly."""
        state = self.random_state if random_state is None else random_state
        draws: np.ndarray = self.density.rvs(*self._processed(eigs, tol, diag_tol), size=size, rng=generator_of(state))
        return draws


class RandomTable(_OfMatrices):
    __doc__ = Multivariate.__doc__
    name = of = "random_table"
    parameters = ("row", "col")

    def _processed(self, row: Any, col: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(row), np.asarray(col)

    def attributes(self, **given: Any) -> dict[str, Any]:
        row, col = self._processed(**given)
        self.density.mean(row, col)  # raises where there are no tables of these sums
        return {"row": row, "col": col}

    def logpmf(self, x: Any, row: Any, col: Any) -> Any:
        """Logarithm of the probability of tables along the last two axes of x."""
        x = np.asarray(x, float)
        if not np.all((x >= 0) & (x == np.floor(x))):
            raise ValueError("x must be whole numbers that are not negative")
        return self.density.logpmf(x, *self._processed(row, col))

    def pmf(self, x: Any, row: Any, col: Any) -> Any:
        """Probability of tables along the last two axes of x."""
        return np.exp(self.logpmf(x, row, col))

    def mean(self, row: Any, col: Any) -> Any:
        """Mean of the tables."""
        return self.density.mean(*self._processed(row, col))

    def rvs(self, row: Any, col: Any, *, size: Any = None, method: Any = None, random_state: Any = None) -> Any:
        """Draws, (*size, r, c). All values of `method` draw in one way."""
        if method not in (None, "boyett", "patefield"):
            raise ValueError(f"method must be None, 'boyett' or 'patefield', not {method!r}")
        state = self.random_state if random_state is None else random_state
        return self.density.rvs(*self._processed(row, col), size=size, rng=generator_of(state))
