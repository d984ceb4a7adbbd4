"""SciPy's distributions of directions: vectors of length 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from ..draws.generator import Rng
from ..runtime.types import Array, Doubles, Size
from .matrices import WithDimension
from .multivariate import WithDensity


class UniformDirection(WithDimension):
    name = of = "uniform_direction"

    def _processed(self, dim: int | None = None) -> tuple[int]:
        return super()._processed(dim)

    def rvs(self, dim: int, size: Size = None, random_state: Rng = None) -> Array:
        """Draws, directions along the last axis."""
        return self._draws(self._processed(dim), size, random_state)


class VonMisesFisher(WithDensity):
    name, of, parameters = "vonmises_fisher", "von_mises_fisher", ("mu", "kappa")

    def _processed(self, mu: ArrayLike | None = None, kappa: float = 1) -> tuple[Doubles, float]:
        mu = np.asarray(mu, float)
        if mu.ndim != 1 or len(mu) < 2 or not np.isclose(np.linalg.norm(mu), 1):
            raise ValueError(f"mu must be a vector of length 1 in two dimensions or more, not {mu}")
        if np.ndim(kappa) or not kappa > 0:
            raise ValueError(f"kappa must be a positive number, not {kappa}: with 0 it is uniform_direction")
        return mu, float(kappa)

    def attributes(self, **given: ArrayLike) -> dict[str, Array]:
        own = super().attributes(**given)
        return {"dim": len(own["mu"]), **own}

    def _observations(self, x: ArrayLike, mu: Doubles | None = None, kappa: float = 1) -> Doubles:
        """Directions along the last axis, of the dimension of `mu` where there is one."""
        x = np.asarray(x, float)
        dim = None if mu is None else len(mu)
        if not x.ndim or dim not in (None, x.shape[-1]):
            raise ValueError(f"x has shape {x.shape}: it must be (..., {dim})")
        if not np.allclose(np.linalg.norm(x, axis=-1), 1):
            raise ValueError("x must be vectors of length 1 along the last axis")
        return x

    def entropy(self, mu: ArrayLike | None = None, kappa: float = 1) -> Array:
        """Entropy in nats."""
        mu, kappa = self._processed(mu, kappa)
        return np.float64(kappa * (1 - _length_of_mean(len(mu), kappa)) - self.density.logpdf(mu, mu, kappa))

    def rvs(self, mu: ArrayLike | None = None, kappa: float = 1, size: Size = 1, random_state: Rng = None) -> Array:
        """Draws, directions along the last axis."""
        return self._draws(self._processed(mu, kappa), size, random_state)

    def fit(self, x: ArrayLike) -> tuple[Doubles, float]:
        """Mean direction and concentration by maximum likelihood, of directions (N, dim)."""
        x = self._observations(x)
        if x.ndim != 2:
            raise ValueError(f"x has shape {x.shape}: it must be (N, dim)")
        mean = x.mean(0)
        length = float(np.linalg.norm(mean))
        kappa = optimize.brentq(lambda kappa: _length_of_mean(len(mean), kappa) - length, 1e-8, 1e9)
        return mean / length, kappa


def _length_of_mean(dim: int, kappa: float) -> float:
    """Length of the mean of all directions, a ratio of Bessel functions."""
    return float(special.ive(0.5 * dim, kappa) / special.ive(0.5 * dim - 1, kappa))
