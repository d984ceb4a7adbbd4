"""Results of the searches, collected for users."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..evaluation.arguments import elements_inside
from ..language.device_function import Argument
from ..runtime.types import Values
from .climb import MORE_STEPS
from .estimates import Estimates, Numbers
from .model import Model
from .newton import AT_EDGE, AT_KINK, CONVERGED, RUNNING, WITHOUT_START
from .observations import UPPER, Rectangle

ENDLESS = WITHOUT_START + 1  # end of a search whose parameters go to the end of their domain

MESSAGES = {
    RUNNING: f"{MORE_STEPS}max_iterations",
    CONVERGED: "converged",
    AT_KINK: "converged at a kink of the likelihood",
    AT_EDGE: "not converged: the likelihood grows up to where it is not finite, as where an observation leaves the support, "
    "or where all of them are equal",
    WITHOUT_START: "no starting values: the likelihood is nowhere finite",
    ENDLESS: "not converged: the likelihood grows towards the end of a parameter's domain",
}


class Collected:
    """Results of all data sets, collected rectangle by rectangle."""

    def __init__(
        self, model: Model, free: Mapping[str, frozenset[str]], ends: Mapping[str, int], known: Mapping[str, Values],
        shape: tuple[int, ...],
    ):  # fmt: skip
        self._model, self._free, self._ends, self._known, self._shape = model, tuple(free), ends, known, shape
        n = int(np.prod(shape))
        self._values = np.full((n, len(free)), np.nan)
        self._covariance = np.full((n, len(free), len(free)), np.nan)
        self._loglik, self._numbers = np.full(n, np.nan), np.zeros(n)
        self._status, self._steps = np.zeros(n, int), np.zeros(n, int)
        self._outside = ""

    def add(
        self, rectangle: Rectangle, loglik: np.ndarray, values: np.ndarray, covariance: np.ndarray, status: np.ndarray,
        steps: np.ndarray,
    ) -> None:  # fmt: skip
        """Add the results of a rectangle, for the parameters that are no ends of the support."""
        which = rectangle.which
        places = np.flatnonzero([n not in self._ends for n in self._free])
        self._values[np.ix_(which, places)] = values
        self._covariance[np.ix_(which, places, places)] = covariance
        for name in self._ends:
            self._values[which, self._free.index(name)] = np.ravel(rectangle.columns[name])
        self._loglik[which], self._numbers[which] = loglik, rectangle.numbers()
        self._status[which], self._steps[which] = status, steps
        if (status == WITHOUT_START).any() and not self._outside:
            self._outside = _complaint(self._model, rectangle)

    def estimates(self, labels: np.ndarray | None) -> Estimates:
        """Estimates of all data sets."""
        if (self._status == WITHOUT_START).all():
            raise ValueError(f"no values of {', '.join(self._free)} were found at which x has a likelihood{self._outside}")
        shape, covariance = self._shape, self._covariance
        errors = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))

        def each(numbers: np.ndarray) -> Numbers:
            return numbers.reshape(shape)[()] if shape else numbers[0].item()

        estimates = {n: each(self._values[:, i]) for i, n in enumerate(self._free)}
        whole, numbers = self._numbers.astype(int), self._numbers
        return Estimates(
            density=self._model.name,
            parameters={a.name: estimates.get(a.name, self._known.get(a.name)) for a in self._model.log_density.arguments[1:]},
            free=self._free,
            standard_errors={n: each(errors[:, i]) for i, n in enumerate(self._free)},
            covariance=covariance.reshape(*shape, *covariance.shape[1:]),
            log_likelihood=each(self._loglik),
            n_observations=each(whole if (whole == numbers).all() else numbers),
            converged=each((self._status == CONVERGED) | (self._status == AT_KINK)),
            n_iterations=each(self._steps),
            message=each(np.array([MESSAGES[s] for s in range(len(MESSAGES))], object)[self._status]) if shape
            else MESSAGES[int(self._status[0])],
            groups=labels,
        )  # fmt: skip


def _complaint(model: Model, rectangle: Rectangle) -> str:
    """Reason why observations have no likelihood, where it is known."""
    x, argument = rectangle.on_host().x, model.log_density.arguments[0]
    if np.isnan(x).any():
        return ": there is a nan in x"
    fine = np.ones(x.shape, bool) & elements_inside(argument, x)
    if UPPER in rectangle.columns:
        return _complaint_of_intervals(x, np.broadcast_to(rectangle.columns[UPPER], x.shape), argument)
    if not fine.all():
        return f": it must be {argument.domain}, and {x[~fine][0]:g} is not"
    if np.isinf(x).any():
        return ": there is an infinite number in x"
    return ": give start= values, or fix a parameter"


def _complaint_of_intervals(lower: np.ndarray, upper: np.ndarray, argument: Argument) -> str:
    """Reason why intervals have no likelihood, where it is known."""
    below, above = (np.zeros(lower.shape, bool) for _ in range(2))
    if argument.words & {"positive", "nonnegative", "unit"}:
        below = upper < 0
    if "unit" in argument.words:
        above = lower > 1
    if (outside := below | above).any():
        return f": it must be {argument.domain}, and nothing between {lower[outside][0]:g} and {upper[outside][0]:g} is"
    if (np.isneginf(lower) & np.isposinf(upper)).all():
        return ": no interval has a finite end"
    return ": give start= values, or fix a parameter"
