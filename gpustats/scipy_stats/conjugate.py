"""SciPy's joint distribution of a normal distribution's mean and variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .multivariate import Multivariate


class NormalInverseGamma(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "normal_inverse_gamma", "normal_inverse_gamma", ("mu", "lmbda", "a", "b")

    def attributes(  # type: ignore[override]
        self, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1
    ) -> dict[str, Any]:
        values = (np.asarray(v, float) for v in (mu, lmbda, a, b))
        return dict(zip(self.parameters, values, strict=True))

    def logpdf(self, x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
        """Logarithm of the density at means x and variances s2."""
        pairs = np.stack(np.broadcast_arrays(np.asarray(x, float), np.asarray(s2, float)), axis=-1)
        return self.density.logpdf(pairs, *self.attributes(mu, lmbda, a, b).values())

    def pdf(self, x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
        """Density at means x and variances s2."""
        return np.exp(self.logpdf(x, s2, mu, lmbda, a, b))

    def _valid(self, mu: Any, lmbda: Any, a: Any, b: Any) -> tuple[np.ndarray, ...]:
        """Parameters, of the same shape; nan where one lies outside of its domain."""
        mu, lmbda, a, b = np.broadcast_arrays(*self.attributes(mu, lmbda, a, b).values())
        fine = (lmbda > 0) & (a > 0) & (b > 0)
        return tuple(np.where(fine, v, np.nan) for v in (mu, lmbda, a, b))

    def mean(self, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> tuple[Any, Any]:
        """Means of the mean and of the variance; nan where a <= 1."""
        mu, lmbda, a, b = self._valid(mu, lmbda, a, b)
        rest = np.where(a > 1, a - 1, np.nan)
        return (mu + 0 * rest)[()], (b / rest)[()]

    def var(self, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> tuple[Any, Any]:
        """Variances of the mean and of the variance; nan where a <= 1, and a <= 2."""
        mu, lmbda, a, b = self._valid(mu, lmbda, a, b)
        rest = np.where(a > 1, a - 1, np.nan)
        return (b / (rest * lmbda))[()], (b**2 / (rest**2 * np.where(a > 2, a - 2, np.nan)))[()]

    def rvs(
        self, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1, size: Any = None, random_state: Any = None
    ) -> tuple[Any, Any]:
        """Draws of the mean and of the variance."""
        given = tuple(self.attributes(mu, lmbda, a, b).values())
        shape = np.broadcast_shapes(*map(np.shape, given)) if size is None else tuple(np.atleast_1d(size).astype(int))
        pairs = self._draws(given, shape, random_state, out=np.empty((*shape, 2)))
        return pairs[..., 0][()], pairs[..., 1][()]
