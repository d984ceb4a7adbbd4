"""Gaussian processes: what exact and approximate ones have in common, and what users of a process need to know of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..display.html import Shown, shape_of
from ..distribution.frozen import Frozen
from ..evaluation.arguments import check_wrt_among
from ..evaluation.compiled import Replayable
from ..evaluation.placement import as_read, device_of, moved
from ..names.keywords import advising
from ..runtime import arrays
from ..runtime.base import Device, Runtime
from ..runtime.types import Array
from .covariance import Covariance
from .estimated import Fit, ProcessProblem, estimated
from .fitting import Bounds, LogPrior, Seed, maximise
from .hyperparameters import refuse_names
from .observations import Observations, as_points
from .parameters import MEAN, RESERVED, SIGMA, Given, Parameters, ParameterSets, Y, by_row, deviation, on_host
from .prediction import LocationScale
from .starts import require_told, starts

#: The prior mean of a process: a number, or a function of points (m, p) that returns (m,).
PriorMean: TypeAlias = float | Callable[[np.ndarray], ArrayLike]


class Predictor(Protocol):
    """Process that predicts, whichever way: exactly, by nearest neighbours, by local designs, or at known hyperparameters."""

    @property
    def columns(self) -> int:
        """Number of columns of the points."""

    def predict(self, xs: np.ndarray, /, *, noise: bool) -> LocationScale:
        """Distributions at new points (m, columns), each by itself; `noise`: of observations rather than the process."""


@dataclass(frozen=True)
class NewPoints:
    """New points of a prediction, with their prior mean and noise."""

    xs: Array  # (m, p), as kernels read it
    mean: np.ndarray  # (m,), the prior mean there
    noise: Array  # (m,), the variances of noise there, as kernels read them
    is_noisy: bool  # whether predictions are of observations

    @property
    def m(self) -> int:
        """Number of points."""
        return len(self.mean)


def new_points(
    data: Observations, prior: PriorMean, parameters: Parameters, xs: ArrayLike, noise: ArrayLike,
    mean_xs: Given, name: str = "xs",
) -> NewPoints:  # fmt: skip
    """New points, after a check of the arguments of `predict`; `prior`: the prior mean of the process."""
    native, points = arrays.is_device_array(xs), as_points(xs, name)
    m, columns = points.shape
    if columns != data.columns:
        raise ValueError(f"{name} has {columns} columns, and x {data.columns}: they must have the same")
    if native and device_of([points], [name]) is not data.runtime:
        raise ValueError(f"{name} lies on another device than the data, {data.runtime.device.id}: move it with gs.to_host")
    if mean_xs is None:
        if MEAN not in parameters.given and callable(prior):
            mean_xs = prior(np.asarray(on_host(points)))
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
    placed = moved(data.runtime, as_read(data.runtime, points, data.dtype))
    return NewPoints(placed, mean, moved(data.runtime, variances), noise is True or bool(np.any(spread)))


class GaussianProcess(ABC, Replayable, Shown):
    """Gaussian process: a covariance function, observations on a device, and a prior mean.

    A subclass says how the likelihood is evaluated, exactly or by an approximation, and how new points are predicted.
    """

    #: The data in which the likelihood has derivatives.
    _differentiable: tuple[str, ...] = (Y,)

    def __init__(
        self, cov: Covariance, x: ArrayLike, y: ArrayLike, mean: PriorMean, jitter: float, default: Runtime | None = None
    ) -> None:
        if not isinstance(cov, Covariance):
            raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
        refuse_names(cov, RESERVED)
        if not (math.isfinite(jitter) and jitter >= 0):
            raise ValueError(f"jitter is {jitter}: it must be nonnegative, and finite")
        self.cov, self.jitter, self.prior_mean = cov, float(jitter), mean
        self.data = Observations(x, y, default)
        self.n, self.columns = self.data.n, self.data.columns

    def _facts(self) -> Mapping[str, object]:
        mean = "a function" if callable(self.prior_mean) else shape_of(self.prior_mean)
        return {
            "covariance": f"{self.cov.name}({', '.join(self.cov.parameters)})",
            "x": f"({self.n}, {self.columns}) {self.data.dtype}",
            "prior mean": mean, **self._settings(), "parameters": ", ".join(self.parameters), "data": str(self.device),
        }  # fmt: skip

    def _settings(self) -> Mapping[str, object]:
        """Facts of a kind of process."""
        return {}

    @property
    def device(self) -> Device:
        """Device of the data."""
        return self.data.runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the methods take."""
        return (*self.cov.parameters, SIGMA, MEAN)

    @property
    def defaults(self) -> Mapping[str, float]:
        """Values of the parameters that a call may leave out."""
        return {SIGMA: 0.0, MEAN: 0.0}

    def __call__(self, *, sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike) -> Array:
        """Log-likelihood of the observations, exact or approximated.

        Parameters
        ----------
        sigma, mean : float or (n,) array_like, optional
            Standard deviation of the noise, 0 if not given, and prior mean; as the hyperparameters also several sets, see
            `MarginalLikelihood`.
        **hyperparameters : float, or (p,) array_like for a lengthscale

        Returns
        -------
        float, or (S,) ndarray
        """
        return self._evaluate(one_or_several(self, sigma, mean, hyperparameters), ())[0]

    def value_and_grad(
        self, *, sigma: Given = None, mean: Given = None, wrt: str | Collection[str] | None = None,
        **hyperparameters: ArrayLike,
    ) -> tuple[Array, dict[str, Array]]:  # fmt: skip
        """Log-likelihood and its derivatives, which are exact, those of an approximation, too.

        Parameters
        ----------
        sigma, mean, **hyperparameters
            As for a call.
        wrt : str or collection of str, optional
            Names of hyperparameters, ``"sigma"``, ``"mean"``, ``"y"``, and of a `MarginalLikelihood` ``"x"``. By default all
            hyperparameters, and sigma and mean where they are given.

        Returns
        -------
        value : float, or (S,) ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument: floats, and arrays in float64 but for those
            in x and y, which are like x and y.
        """
        parameters = one_or_several(self, sigma, mean, hyperparameters)
        allowed = (*self.parameters, *self._differentiable)
        return self._evaluate(parameters, parameters.given if wrt is None else check_wrt_among(wrt, allowed))

    # -- for samplers: many sets at once, and evaluation by compiled code

    @abstractmethod
    def sums_of_sets(
        self, arguments: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str], *, several: bool = True
    ) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        """Log-likelihoods at sets of parameters and of observations, and their derivatives, at once.

        Parameters
        ----------
        arguments : mapping
            Name of each parameter, and of the observations, ``"y"`` -> array with a row for each set, or one for all.
        n_sets : int
        wrt : sequence of str
            Names of arguments, which may be ``"y"``.
        several : bool
            Whether the call is for several sets, however many these are.

        Returns
        -------
        values : (n_sets,) ndarray
            nan where parameters are invalid.
        gradient : dict
            Name -> derivatives with a row for each set. Instead of both, None where each set takes a call of its own.
        """

    @abstractmethod
    def _evaluate(self, parameters: Parameters | ParameterSets, wrt: tuple[str, ...]) -> tuple[Array, dict[str, Array]]:
        """Log-likelihood and its derivatives, as `value_and_grad` returns them."""

    def _hessian_in(self, wrt: Sequence[str]) -> Callable[[Mapping[str, Any]], np.ndarray] | None:
        """Function of all values by name that gives the exact second derivatives in parameters, (P, P); None: there is none."""
        return None

    def start(self) -> dict[str, float | np.ndarray]:
        """Values of the hyperparameters and of sigma that the data suggest: where `fit` begins if it is given none.

        Returns
        -------
        dict
            Name -> value. Of several columns, a lengthscale is a vector with a value for each; where the covariance function is
            of some of them, a number.

        Notes
        -----
        A hyperparameter by which the distance of points is divided, as a lengthscale or a period, is the root mean square of
        the distances in x, or 1/2, 1/4, 1/8 or 1/16 of it, and sigma 1/10 or 1/2 of the standard deviation of y about the prior
        mean: the pair of the largest likelihood. Amplitudes are all alike, so that the variance of the process is the mean
        square of y about the prior mean. All else is 1, or what lies well inside its domain.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> process = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(6 * x))
        >>> {name: round(float(v), 2) for name, v in process.start().items()}
        {'amplitude': 0.71, 'lengthscale': 0.21, 'sigma': 0.07}
        >>> fit = process.fit(process.start() | {"sigma": 0.01}, fixed=["sigma"])
        """
        return starts(self.cov, self.data.host_x, self.data.y - completed(self)[0][MEAN], self)

    @advising
    def fit(
        self, start: Mapping[str, ArrayLike] | None = None, *, fixed: Collection[str] = (),
        bounds: Mapping[str, Bounds] | None = None, priors: Mapping[str, Frozen] | None = None,
        log_prior: LogPrior | None = None, method: str = "L-BFGS-B", log: bool = True, restarts: int = 0, rng: Seed = None,
        options: Mapping[str, object] | None = None, errors: bool = True, progress: bool = False,
    ) -> Fit:  # fmt: skip
        """Find the hyperparameters of largest marginal likelihood, or posterior density.

        Parameters
        ----------
        start : mapping, optional
            Name -> value of all hyperparameters and, if not 0, of sigma and mean; vectors have a number for each element. By
            default what the method `start` makes of the data: it has sigma, and the mean stays that of the process.
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
        errors : bool, optional
            Whether standard errors are wanted, from second derivatives. These are exact for a `MarginalLikelihood` of up to 512
            observations without a `log_prior`. Else they are differences of four derivatives for each number that is searched
            for, a call each: for more observations, the device takes less time for these than the host for exact ones.
        progress : bool, optional
            Whether a bar counts the evaluations, with the largest log-likelihood so far.

        Returns
        -------
        Fit
            The best of all searches, with standard errors, `summary`, `interval` and tests.

        Raises
        ------
        ValueError
            Where `start` lacks a hyperparameter; without it, where one is fixed, or is a period, as the likelihood has many
            maxima in periods.
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
        if unknown := [n for n in (*(start or ()), *fixed, *(bounds or ())) if n not in domains]:
            raise ValueError(f"there is no {unknown[0]!r} to fit; there are {', '.join(self.parameters)}")
        if start is None:
            require_told(self.cov, list(fixed))
            start = self.start()
        if start and (lacking := [n for n in self.cov.parameters if n not in start]):
            raise ValueError(f"{self.cov.name} needs {', '.join(lacking)}: process.start() | start has what the data suggest")
        found = maximise(
            self.value_and_grad, start, domains, fixed=fixed, bounds=bounds or {}, priors=priors or {}, log_prior=log_prior,
            method=method, log=log, restarts=restarts, rng=rng, options=options, progress=progress,
        )  # fmt: skip
        problem = ProcessProblem(self, domains, log_prior)
        return estimated(problem, found, fixed, bounds or {}, priors or {}, errors)


def one_or_several(
    process: GaussianProcess, sigma: Given, mean: Given, hyperparameters: Mapping[str, ArrayLike]
) -> Parameters | ParameterSets:
    """Parameters of a call, or several sets of them; the prior mean is that of the process if not given."""
    values, given = completed(process, sigma, mean, **hyperparameters)
    kind = ParameterSets if any(np.ndim(v) > 1 for v in values.values()) else Parameters
    return kind.of(process.cov, process.columns, process.n, values, given)


def one_set(
    process: GaussianProcess, sigma: Given, mean: Given, hyperparameters: Mapping[str, ArrayLike]
) -> Parameters:
    """Parameters of a call that takes one set of them."""
    return Parameters.of(process.cov, process.columns, process.n, *completed(process, sigma, mean, **hyperparameters))


def completed(
    process: GaussianProcess, sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike
) -> tuple[dict[str, ArrayLike], tuple[str, ...]]:
    """Values of all parameters, and the names of those that the caller gave."""
    given = tuple(n for n, v in ((SIGMA, sigma), (MEAN, mean)) if v is not None)
    if mean is None:
        prior = process.prior_mean
        mean = prior(process.data.host_x) if callable(prior) else prior
    values = {SIGMA: 0.0 if sigma is None else sigma, MEAN: mean, **hyperparameters}
    return values, (*process.cov.parameters, *given)
