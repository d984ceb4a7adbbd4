"""A Gaussian process at known hyperparameters, given observations that may come one by one."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..display.html import Shown, shape_of
from ..draws.generator import Rng
from ..evaluation.placement import moved
from ..processes.covariance import Covariance
from ..processes.marginal import MarginalLikelihood, settings_of
from ..processes.observations import Observations, as_points
from ..processes.parameters import MEAN, SIGMA, Given, by_row, deviation
from ..processes.posterior import Posterior
from ..processes.prediction import Prediction
from ..processes.process import new_points, one_set
from ..runtime import arrays
from ..runtime.base import Device
from ..runtime.types import Array


class Conditioned(Shown):
    """Gaussian process given observations, with a factor to which rows are added: an `Emulator` without its criteria."""

    def __init__(
        self, likelihood: MarginalLikelihood, *, sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike
    ) -> None:
        self._likelihood, self.data, self.prior_mean = likelihood, likelihood.data, likelihood.prior_mean
        self._parameters = parameters = one_set(likelihood, sigma, mean, hyperparameters)
        self._factor = likelihood.solver.factor(parameters)
        if not math.isfinite(self._factor.loglik()):
            raise self._factor.not_positive_definite(parameters)

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(type(self), self.likelihood, **self.values), ()

    def __repr__(self) -> str:
        name, shape, where = type(self).__name__, (self.n, self.columns), self.device.id
        return f"<{name} of {self.cov.name} for x {shape} {self.data.dtype} on {where}: {self._parameters}>"

    def _facts(self) -> Mapping[str, object]:
        return {
            "covariance": self.cov.name, "x": f"({self.n}, {self.columns}) {self.data.dtype}",
            **{n: shape_of(v) if np.ndim(v) > 1 else np.array2string(np.asarray(v), precision=4, threshold=8)
               for n, v in self.values.items()},
            "data": str(self.device),
        }  # fmt: skip

    @property
    def n(self) -> int:
        return self.data.n

    @property
    def columns(self) -> int:
        return self.data.columns

    @property
    def cov(self) -> Covariance:
        """The covariance function."""
        return self._likelihood.cov

    @property
    def device(self) -> Device:
        """Device of the data."""
        return self.data.runtime.device

    @property
    def x(self) -> np.ndarray:
        """Points observed, (n, p)."""
        return self.data.host_x

    @property
    def y(self) -> np.ndarray:
        """Responses observed, (n,)."""
        return self.data.y

    @property
    def values(self) -> dict[str, float | np.ndarray]:
        parameters = self._parameters
        return {n: v for n, v in parameters.by_name.items() if n in parameters.given}

    @property
    def loglik(self) -> float:
        """The log marginal likelihood."""
        return self._factor.loglik()

    @property
    def likelihood(self) -> MarginalLikelihood:
        """Marginal likelihood of all observations so far, as to fit hyperparameters anew: see `refit`."""
        if self._likelihood.n != self.n:
            x, y = self.data.given
            self._likelihood = MarginalLikelihood(x=x, y=y, **settings_of(self._likelihood))
        return self._likelihood

    def refit(self, **options: Any) -> Self:
        """Emulator of all observations so far at hyperparameters of largest likelihood, searched for from the present ones.

        Parameters
        ----------
        **options
            As for `MarginalLikelihood.fit`, such as ``fixed`` and ``priors``.
        """
        return type(self)(self.likelihood, **self.likelihood.fit(self.values, **{"errors": False, **options}).values)

    def predict(
        self, xs: ArrayLike, *, noise: ArrayLike = False, cov: bool = False, mean_xs: Given = None
    ) -> Prediction:
        """The distribution of the process at new points, given the data.

        Parameters
        ----------
        xs, noise, cov, mean_xs
            As for `MarginalLikelihood.predict`.
        """
        return self._posterior(xs, noise, mean_xs).prediction(cov, arrays.is_device_array(xs))

    def draw(
        self, xs: ArrayLike, size: int | None = None, rng: Rng = None, *, noise: ArrayLike = False,
        mean_xs: Given = None,
    ) -> Array:  # fmt: skip
        """Joint draws of the process at new points, given the data: as `MarginalLikelihood.draw`."""
        return self._posterior(xs, noise, mean_xs).drawn(size, rng, arrays.is_device_array(xs))

    def update(self, x: ArrayLike, y: ArrayLike, *, sigma: Given = None, mean: Given = None) -> None:
        """Add observations, as further rows of the Cholesky factor.

        k observations after n take O(k n²) operations, where a new factor takes O(n³). Hyperparameters stay as they are.

        Parameters
        ----------
        x : (k, p) or (k,) array_like
            Points.
        y : (k,) array_like
            Observations.
        sigma, mean : float or (k,) array_like, optional
            Values for the new observations, where sigma and the prior mean have one for each observation. A prior mean that is
            a function is known there.

        Raises
        ------
        ValueError
            Where shapes do not go together, or there are nan or infinite numbers.
        numpy.linalg.LinAlgError
            Where the matrix is not positive definite any more, as with points that are known already and no noise. Then the
            emulator is as it was before.
        """
        data, old = self.data, self._parameters
        points, responses = as_points(x, "x"), arrays.as_array(y, "y")
        host = [a if isinstance(a, np.ndarray) else data.runtime.to_host(a) for a in (points, responses)]
        k = len(host[0])
        if host[0].shape[1] != self.columns:
            raise ValueError(f"x has {host[0].shape[1]} columns, and the points so far {self.columns}")
        if host[1].shape != (k,):
            raise ValueError(f"y has shape {host[1].shape}, and x {k} points: it must be ({k},)")
        if not k:
            return
        spread = self._of_new(SIGMA, old.sigma, sigma, k)
        if mean is None and MEAN not in old.given and callable(self.prior_mean):
            mean = self.prior_mean(np.asarray(host[0], data.dtype))
        level = self._of_new(MEAN, old.mean, mean, k)
        native = [arrays.is_device_array(a) for a in data.given]
        whole = [np.concatenate([a, np.asarray(b, data.dtype)]) for a, b in zip((self.x, self.y), host, strict=True)]
        x, y = (moved(data.runtime, a) if on else a for a, on in zip(whole, native, strict=True))
        grown = Observations(x, y, data.runtime)
        self._factor.extend(grown.x, grown.y[-k:] - level, np.square(spread))
        self.data = grown
        self._parameters = old._replace(sigma=_grown(old.sigma, spread, k), mean=_grown(old.mean, level, k))

    def _of_new(self, name: str, old: float | np.ndarray, given: Given, k: int) -> float | np.ndarray:
        """Standard deviation or mean of k new observations."""
        if given is None:
            if isinstance(old, np.ndarray):
                raise ValueError(f"{name} has a value for each observation: give that of the new ones, ({k},)")
            return old
        found = deviation(name, given, k) if name == SIGMA else by_row(name, given, k)
        if isinstance(old, float) and np.any(np.asarray(found) != old):
            raise ValueError(f"{name} is {old} for all observations: leave it out")
        return old if isinstance(old, float) else np.broadcast_to(np.asarray(found, float), k)

    # -- the pieces of a call

    def _posterior(self, xs: ArrayLike, noise: ArrayLike, mean_xs: Given, name: str = "xs") -> Posterior:
        new = new_points(self.data, self.prior_mean, self._parameters, xs, noise, mean_xs, name)
        return Posterior(self._factor, new)


def _grown(old: float | np.ndarray, new: float | np.ndarray, k: int) -> float | np.ndarray:
    return old if isinstance(old, float) else np.concatenate([old, np.broadcast_to(new, k)])
