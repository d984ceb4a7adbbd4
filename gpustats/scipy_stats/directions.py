"""SciPy's distributions of directions: vectors of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, special

from .. import matrices
from .multivariate import Multivariate
from .random_states import generator_of


class UniformDirection(Multivariate):
    __doc__ = Multivariate.__doc__
    name = of = "uniform_direction"
    parameters = ("dim",)

    @property
    def density(self) -> Any:
        return matrices.uniform_direction

    def attributes(self, **given: Any) -> dict[str, Any]:
        return {"dim": _dimension(**given)}

    def rvs(self, dim: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, directions along the last axis."""
        state = self.random_state if random_state is None else random_state
        return self.density.rvs(_dimension(dim), size=size, rng=generator_of(state))


def _dimension(dim: Any = None) -> int:
    if dim is None or np.ndim(dim) or dim < 1 or int(dim) != dim:
        raise ValueError(f"dim must be a positive whole number, not {dim}")
    return int(dim)


class VonMisesFisher(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "vonmises_fisher", "von_mises_fisher", ("mu", "kappa")

    def _processed(self, mu: Any = None, kappa: Any = 1) -> tuple[np.ndarray, float]:
        mu = np.asarray(mu, float)
        if mu.ndim != 1 or len(mu) < 2 or not np.isclose(np.linalg.norm(mu), 1):
            raise ValueError(f"mu must be a vector of length 1 in two dimensions or more, not {mu}")
        if np.ndim(kappa) or not kappa > 0:
            raise ValueError(f"kappa must be a positive number, not {kappa}: with 0 it is uniform_direction")
        return mu, float(kappa)

    def attributes(self, **given: Any) -> dict[str, Any]:
        mu, kappa = self._processed(**given)
        return {"dim": len(mu), "mu": mu, "kappa": kappa}

    @staticmethod
    def _directions(x: Any, dim: int | None = None) -> np.ndarray:
        x = np.asarray(x, float)
        if not x.ndim or dim not in (None, x.shape[-1]):
            raise ValueError(f"x has shape {x.shape}: it must be (..., {dim})")
        if not np.allclose(np.linalg.norm(x, axis=-1), 1):
            raise ValueError("x must be vectors of length 1 along the last axis")
        return x

    def logpdf(self, x: Any, mu: Any = None, kappa: Any = 1) -> Any:
        """Logarithm of the density at directions along the last axis of x."""
        mu, kappa = self._processed(mu, kappa)
        return self.density.logpdf(self._directions(x, len(mu)), mu, kappa)

    def pdf(self, x: Any, mu: Any = None, kappa: Any = 1) -> Any:
        """Density at directions along the last axis of x."""
        return np.exp(self.logpdf(x, mu, kappa))

    def entropy(self, mu: Any = None, kappa: Any = 1) -> Any:
        """Entropy in nats."""
        mu, kappa = self._processed(mu, kappa)
        return np.float64(kappa * (1 - _length_of_mean(len(mu), kappa)) - self.density.logpdf(mu, mu, kappa))

    def rvs(self, mu: Any = None, kappa: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, directions along the last axis."""
        return self._draws(self._processed(mu, kappa), size, random_state)

    def fit(self, x: Any) -> tuple[np.ndarray, float]:
        """Mean direction and concentration by maximum likelihood, of directions (N, dim)."""
        x = self._directions(x)
        if x.ndim != 2:
            raise ValueError(f"x has shape {x.shape}: it must be (N, dim)")
        mean = x.mean(0)
        length = float(np.linalg.norm(mean))
        kappa = optimize.brentq(lambda kappa: _length_of_mean(len(mean), kappa) - length, 1e-8, 1e9)
        return mean / length, kappa


def _length_of_mean(dim: int, kappa: float) -> float:
    """Length of the mean of all directions, a ratio of Bessel functions."""
    return float(special.ive(0.5 * dim, kappa) / special.ive(0.5 * dim - 1, kappa))
