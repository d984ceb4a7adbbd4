"""SciPy's joint distribution of a normal distribution's mean and variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..draws.generator import Rng
from ..runtime.types import Array, Doubles, Size
from .multivariate import WithDensity


class NormalInverseGamma(WithDensity):
    name, of, parameters = "normal_inverse_gamma", "normal_inverse_gamma", ("mu", "lmbda", "a", "b")

    def _processed(
        self, mu: ArrayLike = 0, lmbda: ArrayLike = 1, a: ArrayLike = 1, b: ArrayLike = 1
    ) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        return np.asarray(mu, float), np.asarray(lmbda, float), np.asarray(a, float), np.asarray(b, float)

    def logpdf(self, x: ArrayLike, s2: ArrayLike, *args: ArrayLike, **kwds: ArrayLike) -> Array:  # type: ignore[override]
        """Logarithm of the density at means x and variances s2."""
        pairs = np.stack(np.broadcast_arrays(np.asarray(x, float), np.asarray(s2, float)), axis=-1)
        return self._at("logpdf", pairs, args, kwds)

    def _valid(self, *args: ArrayLike, **kwds: ArrayLike) -> tuple[Doubles, ...]:
        """Parameters, of the same shape; nan where one lies outside of its domain."""
        mu, lmbda, a, b = np.broadcast_arrays(*self._given(args, kwds))
        fine = (lmbda > 0) & (a > 0) & (b > 0)
        return tuple(np.where(fine, v, np.nan) for v in (mu, lmbda, a, b))

    def mean(self, *args: ArrayLike, **kwds: ArrayLike) -> tuple[Array, Array]:
        """Means of the mean and of the variance; nan where a <= 1."""
        mu, _, a, b = self._valid(*args, **kwds)
        rest = np.where(a > 1, a - 1, np.nan)
        return (mu + 0 * rest)[()], (b / rest)[()]

    def var(self, *args: ArrayLike, **kwds: ArrayLike) -> tuple[Array, Array]:
        """Variances of the mean and of the variance; nan where a <= 1, and a <= 2."""
        _, lmbda, a, b = self._valid(*args, **kwds)
        rest = np.where(a > 1, a - 1, np.nan)
        return (b / (rest * lmbda))[()], (b**2 / (rest**2 * np.where(a > 2, a - 2, np.nan)))[()]

    def rvs(
        self, mu: ArrayLike = 0, lmbda: ArrayLike = 1, a: ArrayLike = 1, b: ArrayLike = 1, size: Size = None,
        random_state: Rng = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Draws of the mean and of the variance."""
        given = self._processed(mu, lmbda, a, b)
        shape = np.broadcast_shapes(*map(np.shape, given)) if size is None else tuple(np.atleast_1d(size).astype(int))
        pairs = self._draws(given, shape, random_state, out=np.empty((*shape, 2)))
        return pairs[..., 0][()], pairs[..., 1][()]
