"""Hyperparameters of a Gaussian process that a search has found, as estimates with standard errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..fits.bordered import Bordered
from ..fits.climb import CONVERGED, MORE_STEPS, NO_STEP, Climbed
from ..fits.estimates import NO_ERRORS, Estimates
from ..fits.fitted import Fitted
from ..fits.maximum import estimates_of
from ..fits.objective import Found, Objective
from ..fits.problem import Expanded, Named, Problem
from .fitting import Bounds, LogPrior, Maximum

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from ..distribution.frozen import Frozen

#: Function that gives second derivatives at values by name, if there are any.
Hessian: TypeAlias = "Callable[[Mapping[str, Any]], np.ndarray] | None"


@dataclass(frozen=True, repr=False, eq=False)
class Fit(Estimates):
    """Hyperparameters that a search has found: estimates, with SciPy's result.

    Attributes
    ----------
    result : scipy.optimize.OptimizeResult
        Result of the best search, in the numbers that it searched for: logarithms of positive values.
    """

    result: OptimizeResult = field(default=None, kw_only=True)

    @property
    def values(self) -> dict[str, Any]:
        """The parameters, those that were fixed, too: ``ml.predict(xs, **fit.values)``."""
        return self.parameters

    @property
    def loglik(self) -> float:
        """The log marginal likelihood there, without a prior."""
        return float(self.log_likelihood)


class ProcessProblem(Problem):
    """Gaussian process as a fit maximises its likelihood.

    Parameters
    ----------
    process : GaussianProcess
    domains : mapping
        Name -> domain of each parameter, in words.
    log_prior : callable, optional
        The user's own: see `GaussianProcess.fit`.
    """

    def __init__(self, process: Any, domains: Mapping[str, str], log_prior: LogPrior | None):
        self._process, self._hessian = process, dict[tuple[str, ...], Hessian]()  # by the parameters that it is in
        self._log_prior = log_prior
        self.name = type(process).__name__
        self.domains = {n: set(words.split()) for n, words in domains.items()}
        self.n_observations = float(process.n)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_hessian": {}}  # made again where it is asked for

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return self._log_prior is None and self._hessian_in(tuple(wrt)) is not None

    def _hessian_in(self, wrt: tuple[str, ...]) -> Hessian:
        if wrt not in self._hessian:
            self._hessian[wrt] = self._process._hessian_in(wrt)
        return self._hessian[wrt]

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return dict(given)

    def predict(self, estimates: Any, *args: Any, **kwargs: Any) -> Any:
        return self._process.predict(*args, **{**estimates.parameters, **kwargs})

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        try:
            value, slopes = self._process.value_and_grad(**values, wrt=tuple(wrt))
        except ValueError:  # beyond what the covariance function takes
            return Expanded(-np.inf, np.zeros(sum(np.size(values[n]) for n in wrt)))
        gradient = np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt])
        if self._log_prior is not None:
            more, own = self._log_prior(dict(values))
            value = value + more
            gradient += np.concatenate([np.ravel(np.broadcast_to(own.get(n, 0.0), np.shape(values[n]))) for n in wrt])
        hessian = self._hessian_in(tuple(wrt)) if second else None
        return Expanded(float(value), gradient, None if hessian is None else Bordered.dense(hessian(values)))


def estimated(
    problem: ProcessProblem, found: Maximum, fixed: Collection[str], bounds: Mapping[str, Bounds],
    priors: Mapping[str, Frozen], errors: bool,
) -> Fit:  # fmt: skip
    """Estimates at the end of a search; without `errors` these are nan."""
    values = {n: np.asarray(v, float) for n, v in found.values.items()}
    wrt = [n for n in problem.domains if n in values and n not in fixed]
    objective = Objective(problem, values, wrt, dict(priors))
    coordinates = objective.coordinates
    point = coordinates.to(values)
    p = coordinates.size
    unknown = Found(found.loglik, np.full(p, np.nan), Bordered.dense(np.full((p, p), np.nan)), found.loglik)
    there = objective(point) if errors and np.isfinite(point).all() else unknown
    there = there if there.finite else unknown  # the search's last point may lie beside those where there is no likelihood
    low, high = np.full(p, -np.inf), np.full(p, np.inf)
    for name, (least, most) in bounds.items():
        lowest = 0.0 if {"positive", "nonnegative"} & set(problem.domains[name]) else -np.inf
        ends = (coordinates.charts[name].to(np.full(values[name].shape, max(e, lowest))) for e in (least, most))
        low[coordinates.points[name]], high[coordinates.points[name]] = ends
    at_bound = np.isclose(point, low, rtol=1e-9) | np.isclose(point, high, rtol=1e-9)
    result, there = found.result, replace(there, loglik=found.loglik)
    climbed = Climbed(point, there, bool(result.success), _in_words(result), int(result.get("nit", 0)), at_bound)
    fitted = Fitted(objective, climbed, np.zeros(p, bool), np.ones(coordinates.n_elements, bool), low, high)
    estimates = estimates_of(fitted)
    parameters = {n: found.values[n] for n in estimates.parameters}
    given = {f.name: getattr(estimates, f.name) for f in fields(Estimates)} | {"parameters": parameters}
    if (lacking := _why_there_are_none(errors, there, estimates.covariance)) is not None:
        given["errors_by"] = NO_ERRORS + lacking
    return Fit(**given, result=result)


def _in_words(result: OptimizeResult) -> str:
    """End of a search by SciPy, whose methods have a message each for a limit of iterations or evaluations."""
    if result.success:
        return CONVERGED
    limited = re.search("iteration|evaluation", str(result.message), re.IGNORECASE)
    return f"{MORE_STEPS}options={{'maxiter': …}}" if limited else NO_STEP


def _why_there_are_none(errors: bool, there: Found, covariance: np.ndarray | None) -> str | None:
    """Reason why all standard errors are nan; None where some are there, or all parameters are at bounds."""
    if not errors:
        return "errors=False"
    if not np.isfinite(there.hessian.diagonal()).all():
        return "the second derivatives of the log-likelihood at the end of the search are not finite"
    if covariance is not None and not np.isfinite(np.diagonal(covariance)).any():
        return "the information matrix at the end of the search is not positive definite"
    return None
