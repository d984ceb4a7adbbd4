"""SciPy's elliptical distributions: the normal one and Student's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..density import Density, densities
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from .multivariate import Multivariate, squeezed
from .random_states import generator_of


def _vector_and_matrix(
    names: tuple[str, str], vector: Any, matrix: Any, allow_singular: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """A location and a scale matrix, either of which may be left out; ValueError where they do not go together.

    There are no singular matrices: where they are allowed, NotImplementedError for one that is, to rounding.
    """
    matrix = getattr(matrix, "covariance", matrix)  # a scipy.stats.Covariance
    matrix = np.asarray(1.0 if matrix is None else matrix, float)
    if vector is None:
        vector = np.zeros(matrix.shape[-1] if matrix.ndim else 1)
    vector = np.atleast_1d(np.asarray(vector, float))
    if vector.ndim != 1:
        raise ValueError(f"{names[0]} must be a vector, not of shape {vector.shape}")
    if matrix.ndim < 2:
        matrix = matrix * np.eye(len(vector))
    if matrix.shape != (len(vector),) * 2:
        raise ValueError(f"{names[1]} has shape {matrix.shape}, where {names[0]} has {vector.shape}")
    singular = allow_singular and np.linalg.matrix_rank(matrix) < len(matrix)
    try:
        if not singular:
            np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite") from None
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
        raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite")
    if singular:
        raise NotImplementedError(f"gpustats has no singular matrices, as {names[1]} is")
    return vector, matrix


def _observations(x: Any, dim: int) -> Any:
    """Vectors of a length along the last axis; of length 1, numbers are vectors, too."""
    if is_device_array(x):
        return x
    x = np.asarray(x, float)
    return x[..., None] if x.ndim == 0 or (dim == 1 and x.ndim == 1) else x


def _log_det(matrix: np.ndarray) -> float:
    return float(np.linalg.slogdet(matrix)[1])


class MultivariateNormal(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multivariate_normal", "mvnormal", ("mean", "cov", "allow_singular")

    def _processed(
        self, mean: Any = None, cov: Any = 1, allow_singular: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        return _vector_and_matrix(("mean", "cov"), mean, cov, allow_singular)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("mean", "cov"), self._processed(**given), strict=True))

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """The logarithm of the density at vectors along the last axis of x."""
        mean, cov = self._processed(mean, cov, allow_singular)
        return self.density.logpdf(_observations(x, len(mean)), mean, cov)

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """The density."""
        mean, cov = self._processed(mean, cov, allow_singular)
        return self.density.pdf(_observations(x, len(mean)), mean, cov)

    def rvs(self, mean: Any = None, cov: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, without axes of length 1."""
        return squeezed(self._draws(self._processed(mean, cov), size, random_state))

    def entropy(self, mean: Any = None, cov: Any = 1) -> Any:
        """The entropy in nats."""
        mean, cov = self._processed(mean, cov)
        return np.float64(0.5 * (len(mean) * (1 + np.log(2 * np.pi)) + _log_det(cov)))

    def fit(self, x: Any, fix_mean: Any = None, fix_cov: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the covariance matrix by maximum likelihood, of observations (N, d)."""
        x = np.asarray(to_host(x), float)
        if x.ndim != 2:
            raise ValueError(f"x has shape {x.shape}: it must be (N, d)")
        mean = x.mean(0) if fix_mean is None else np.atleast_1d(np.asarray(fix_mean, float))
        if mean.shape != x.shape[1:]:
            raise ValueError(f"fix_mean has shape {mean.shape}, where x has {x.shape}")
        if fix_cov is not None:
            return mean, _vector_and_matrix(("fix_mean", "fix_cov"), mean, fix_cov)[1]
        centred = x - mean
        return mean, centred.T @ centred / len(x)


class MultivariateT(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multivariate_t", "mv_student_t", ("loc", "shape", "df", "allow_singular")

    def _processed(
        self, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False
    ) -> tuple[float, np.ndarray, np.ndarray]:
        df = 1 if df is None else df
        if not df > 0:
            raise ValueError(f"df must be positive, not {df}")
        return float(df), *_vector_and_matrix(("loc", "shape"), loc, shape, allow_singular)

    def attributes(self, **given: Any) -> dict[str, Any]:
        return dict(zip(("df", "loc", "shape"), self._processed(**given), strict=True))

    def _of_parameters(self, df: float, loc: np.ndarray, shape: np.ndarray) -> tuple[Density, tuple[Any, ...]]:
        """The density and its parameters; with infinitely many degrees of freedom the normal one."""
        return (self.density, (df, loc, shape)) if np.isfinite(df) else (densities["mvnormal"], (loc, shape))

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The logarithm of the density at vectors along the last axis of x."""
        density, given = self._of_parameters(*self._processed(loc, shape, df))
        return density.logpdf(_observations(x, len(given[-1])), *given)

    def pdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False) -> Any:
        """The density."""
        density, given = self._of_parameters(*self._processed(loc, shape, df, allow_singular))
        return density.pdf(_observations(x, len(given[-1])), *given)

    def rvs(self, loc: Any = None, shape: Any = 1, df: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, without axes of length 1."""
        density, given = self._of_parameters(*self._processed(loc, shape, df))
        state = self.random_state if random_state is None else random_state
        return squeezed(density.rvs(*given, size=size, rng=generator_of(state)))

    def entropy(self, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The entropy in nats."""
        df, loc, shape = self._processed(loc, shape, df)
        d, a = len(loc), 0.5 * df
        if np.isinf(df):
            return np.float64(0.5 * (d * (1 + np.log(2 * np.pi)) + _log_det(shape)))
        # Kotz & Nadarajah (2004), ch. 1. Where a is large, nothing may cancel in digamma(a + d / 2) - digamma(a), nor in
        # log Gamma(a + d / 2) - log Gamma(a) - d / 2 log(a).
        odd, r = d % 2, 1 / a
        if a < 40:
            slope, growth = special.digamma(a + 0.5) - special.digamma(a), np.log(special.poch(a, 0.5) / np.sqrt(a))
        else:
            slope = r / 2 + r**2 / 8 - r**4 / 64 + r**6 / 128 - 17 * r**8 / 2048
            growth = -r / 8 + r**3 / 192 - r**5 / 640 + 17 * r**7 / 14336
        steps = 0.5 * odd + np.arange(d // 2)
        slope, growth = odd * slope + np.sum(1 / (a + steps)), odd * growth + np.sum(np.log1p(steps * r))
        return np.float64(0.5 * (d * np.log(2 * np.pi) + _log_det(shape)) - growth + (a + 0.5 * d) * slope)
