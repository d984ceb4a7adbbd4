"""Gaussian process bound to observations: the base of exact and approximate likelihoods."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import as_read, device_of, moved
from ..runtime import arrays
from .covariance import Covariance
from .fitting import Fit, LogPrior, maximise
from .hyperparameters import refuse_names
from .matrix import as_points
from .observations import Observations
from .parameters import MEAN, RESERVED, SIGMA, Parameters, ParameterSets, by_row, deviation, on_host

if TYPE_CHECKING:
    from ..distribution.frozen import Frozen
    from ..runtime.base import Device, Runtime


class NewPoints(NamedTuple):
    """New points of a prediction, with their prior mean and noise.

    Attributes
    ----------
    x : (m, p) array
        As kernels read it.
    mean : (m,) ndarray
        The prior mean there.
    noise : (m,) array
        The variances of noise there, as kernels read them.
    """

    x: Any
    mean: np.ndarray
    noise: Any


def new_points(
    data: Observations, prior: float | Callable[[np.ndarray], Any], parameters: Parameters, xs: Any, noise: Any, mean_xs: Any,
    name: str = "xs",
) -> NewPoints:  # fmt: skip
    """New points, after a check of the arguments of `predict`; `prior`: the prior mean of the process."""
    native, xs = arrays.is_device_array(xs), as_points(xs, name)
    m, columns = xs.shape
    if columns != data.columns:
        raise ValueError(f"{name} has {columns} columns, and x {data.columns}: they must have the same")
    if native and device_of([xs], [name]) is not data.runtime:
        raise ValueError(f"{name} lies on another device than the data, {data.runtime.device.id}: move it with gs.to_host")
    if mean_xs is None:
        if MEAN not in parameters.given and callable(prior):
            mean_xs = prior(on_host(xs))
        elif isinstance(parameters.mean, float):
            mean_xs = parameters.mean
        else:
            raise ValueError(
                f"mean has a value for each observation: give the prior mean at {name}, too, as mean_{name}, ({m},)"
            )
    sigma = parameters.sigma
    if noise is True and not isinstance(sigma, float):
        raise ValueError(f"sigma has a value for each observation: give that of new ones as noise, ({m},)")
    spread = deviation("noise", sigma if noise is True else float(noise) if noise is False else noise, m)
    mean, variances = (
        np.broadcast_to(v, m).astype(data.dtype) for v in (by_row(f"mean_{name}", mean_xs, m), np.square(spread))
    )
    return NewPoints(moved(data.runtime, as_read(data.runtime, xs, data.dtype)), mean, moved(data.runtime, variances))


class GaussianProcess:
    """Gaussian process: a covariance function, observations on a device, and a prior mean."""

    def __init__(
        self, cov: Covariance, x: Any, y: Any, mean: float | Callable[[np.ndarray], Any], jitter: float,
        default: Runtime | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(cov, Covariance):
            raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
        refuse_names(cov, RESERVED)
        if not (math.isfinite(jitter) and jitter >= 0):
            raise ValueError(f"jitter is {jitter}: it must be nonnegative, and finite")
        self.cov, self.jitter, self._mean = cov, float(jitter), mean
        self._data = Observations(x, y, default)
        self.n, self.columns = self._data.n, self._data.columns

    @property
    def device(self) -> Device:
        """Device of the data."""
        return self._data.runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the methods take."""
        return (*self.cov.parameters, SIGMA, MEAN)

    def value_and_grad(
        self, *, sigma: Any = None, mean: Any = None, wrt: str | Collection[str] | None = None, **hyperparameters: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Log-likelihood, and its derivatives."""
        raise NotImplementedError

    def fit(
        self, start: Mapping[str, Any], *, fixed: Collection[str] = (), bounds: Mapping[str, tuple[float, float]] | None = None,
        priors: Mapping[str, Frozen] | None = None, log_prior: LogPrior | None = None, method: str = "L-BFGS-B",
        log: bool = True, restarts: int = 0, rng: Any = None, options: Mapping[str, Any] | None = None,
    ) -> Fit:  # fmt: skip
        """Find the hyperparameters of largest marginal likelihood, or posterior density.

        Parameters
        ----------
        start : mapping
            Name -> value of all hyperparameters and, if not 0, of sigma and mean; vectors have a number for each element.
        fixed : collection of str, optional
            Names of those that stay as they are.
        bounds : mapping, optional
            Name -> (lowest, highest).
        priors : mapping, optional
            Name -> density of what is searched for, such as ``gs.gamma(2.0, 1.0)``; of a vector, that of each element. Then
            the posterior density is maximised.
        log_prior : callable, optional
            Takes a dictionary of values like `start`, and returns a log-density and a mapping of its derivatives; what this
            lacks counts as 0. It is added to the others.
        method : str, optional
            Method of `scipy.optimize.minimize`, one that uses derivatives.
        log : bool, optional
            Whether positive values are searched for by their logarithms. (The density that is maximised remains that of the
            values.) Default: True.
        restarts : int, optional
            Further searches, from random points: between the bounds where there are both, else near `start`. All of them go on
            side by side, and what they evaluate next is one call for several sets.
        rng : optional
            As for `numpy.random.default_rng`.
        options : mapping, optional
            Options of `scipy.optimize.minimize`.

        Returns
        -------
        Fit
            The best of all searches.

        Raises
        ------
        numpy.linalg.LinAlgError
            Where the matrix at the start is not positive definite. Where others on the way are not, the search turns back.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(6 * x))
        >>> fit = ml.fit(dict(amplitude=1.0, lengthscale=0.3, sigma=0.1), fixed=["sigma"])
        >>> {name: round(float(v), 2) for name, v in fit.values.items()}
        {'amplitude': 0.97, 'lengthscale': 0.3, 'sigma': 0.1}
        >>> shorter = ml.fit(fit.values, fixed=["sigma"], priors={"lengthscale": gs.gamma(20.0, 100.0)})
        >>> round(shorter.values["lengthscale"], 2)
        0.22
        """
        fixed = [fixed] if isinstance(fixed, str) else fixed
        domains = {**self.cov.domains, SIGMA: "nonnegative", MEAN: "real"}
        if unknown := [n for n in (*start, *fixed, *(bounds or ())) if n not in domains]:
            raise ValueError(f"there is no {unknown[0]!r} to fit; there are {', '.join(self.parameters)}")
        return maximise(
            self.value_and_grad, start, domains, fixed=fixed, bounds=bounds or {}, priors=priors or {}, log_prior=log_prior,
            method=method, log=log, restarts=restarts, rng=rng, options=options,
        )  # fmt: skip

    def _parameters(self, sigma: Any, mean: Any, hyperparameters: Mapping[str, Any], several: bool = False) -> Any:
        """Parameters of a call, as `Parameters`; `several`: as `ParameterSets`, if the call has such."""
        given = tuple(n for n, v in ((SIGMA, sigma), (MEAN, mean)) if v is not None)
        if mean is None:
            mean = self._mean(self._data.host_x) if callable(self._mean) else self._mean
        values = {SIGMA: 0.0 if sigma is None else sigma, MEAN: mean, **hyperparameters}
        kind = ParameterSets if several and any(np.ndim(v) > 1 for v in values.values()) else Parameters
        return kind.of(self.cov, self.columns, self.n, values, (*self.cov.parameters, *given))

    def _new_points(self, xs: Any, noise: Any, mean_xs: Any, parameters: Parameters) -> NewPoints:
        """New points, as `new_points` has them, for this process."""
        return new_points(self._data, self._mean, parameters, xs, noise, mean_xs)
