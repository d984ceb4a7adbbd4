"""Likelihood of field data, given a computer model's prediction of them: with a discrepancy, or with noise alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..density import densities
from ..processes.covariance import Covariance
from ..processes.marginal import MarginalLikelihood
from ..processes.observations import Observations
from ..processes.parameters import SIGMA
from ..processes.prediction import Prediction
from ..runtime.types import Array


class Field(Protocol):
    """Likelihood of observations whose prior mean and noise come with each call, also for several sets."""

    def value_and_grad(
        self, *, sigma: np.ndarray, mean: np.ndarray, wrt: Collection[str] | None, **hyperparameters: ArrayLike
    ) -> tuple[Array, dict[str, Array]]: ...

    def __call__(self, *, sigma: np.ndarray, mean: np.ndarray, **hyperparameters: ArrayLike) -> Array: ...

    def predict(
        self, xs: np.ndarray, *, noise: float, mean_xs: np.ndarray, sigma: np.ndarray, mean: np.ndarray, **hyperparameters: Any
    ) -> Prediction: ...


def field_of(discrepancy: Covariance | None, x: np.ndarray, y: np.ndarray, student_t: bool, jitter: float) -> Field:
    """Likelihood of field data with a discrepancy of this covariance, or without one."""
    if discrepancy is not None:
        return MarginalLikelihood(discrepancy, x, y, student_t=student_t, jitter=jitter)
    if student_t:
        raise ValueError("student_t = True: without a discrepancy there is no scale to integrate out; sigma is one")
    return Independent(x, y)


class Independent:
    """Likelihood of observations with normal noise alone; see `Field`.

    Parameters
    ----------
    x : (n, p) ndarray
    y : (n,) ndarray
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._data = Observations(x, y)

    def __call__(self, *, sigma: np.ndarray, mean: np.ndarray, **hyperparameters: ArrayLike) -> Array:
        """Log-likelihood, or (S,) of several sets."""
        return self.value_and_grad(sigma=sigma, mean=mean, wrt=())[0]

    def value_and_grad(
        self, *, sigma: np.ndarray, mean: np.ndarray, wrt: Collection[str] | None = None, **hyperparameters: ArrayLike
    ) -> tuple[Array, dict[str, Array]]:
        """Log-likelihood and its derivative in sigma, as from `MarginalLikelihood`."""
        y = self._data.y.astype(np.float64)
        shape = np.broadcast_shapes(np.shape(sigma), np.shape(mean), y.shape)
        spread, level = (np.broadcast_to(np.asarray(a, np.float64), shape) for a in (sigma, mean))
        value, slopes = densities["normal"].loglik_and_grad(y, np.array(level), np.array(spread), wrt="sigma")
        found = np.asarray(slopes["sigma"])
        if np.shape(sigma) != shape:
            found = found.sum(-1, keepdims=True) if np.ndim(sigma) else found.sum(-1)
        return value, {SIGMA: found} if wrt is None or SIGMA in wrt else {}

    def predict(
        self, xs: np.ndarray, *, noise: float, mean_xs: np.ndarray, sigma: np.ndarray, mean: np.ndarray, **hyperparameters: Any
    ) -> Prediction:
        """Prior mean, with the noise."""
        level = np.array(mean_xs, np.float64)
        return Prediction(level, np.full(level.shape, noise, np.float64), noise=noise > 0)
