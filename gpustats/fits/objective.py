"""What a fit maximises, in the coordinates of its search: the log-likelihood and the log-densities of priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..evaluation.second_order import second_order
from ..runtime import choose
from ..runtime.types import Doubles
from .bordered import Bordered
from .climb import Point
from .coordinates import Coordinates
from .problem import Expanded, Named, Problem

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise

#: Step of differences where nothing is known of a coordinate's scale, and in units of its standard error.
FIRST_STEP, STEP_IN_ERRORS = 1e-3, 0.05
#: Places of four differences of gradients, in steps, and their weights.
DIFFERENCES = (-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)


class Prior(Protocol):
    """Density with its parameters: see `gpustats.Density`."""

    @property
    def density(self) -> Any: ...
    @property
    def args(self) -> Sequence[Any]: ...
    @property
    def kwargs(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Found(Point):
    """Objective at a point: the sum of `loglik` and the log-densities of priors, and its derivatives in the coordinates."""

    loglik: float


class Objective:
    """Objective of a fit.

    Parameters
    ----------
    problem : Problem
    values : mapping
        Name -> value of all parameters, of which those not in `wrt` are known.
    wrt : sequence of str
        The parameters of the search.
    priors : mapping
        Name -> density of each element.
    """

    def __init__(self, problem: Problem, values: Mapping[str, np.ndarray], wrt: Sequence[str], priors: Mapping[str, Prior]):
        self.problem, self.wrt, self._priors = problem, tuple(wrt), priors
        self.known = {n: v for n, v in values.items() if n not in wrt}
        self.coordinates = Coordinates({n: values[n] for n in wrt}, problem.domains, problem.labels)
        self.exact = problem.exact_in(self.wrt)
        self._scale: Doubles | None = None  # standard errors of single coordinates, for differences

    def values(self, point: Doubles) -> dict[str, Any]:
        """Values of all parameters at a point: floats, and arrays."""
        found = self.coordinates.back(point) | self.known
        return {n: found[n] if np.ndim(found[n]) else float(found[n]) for n in self.problem.domains if n in found}

    def __call__(self, point: Doubles) -> Found:
        """Objective with both derivatives."""
        found = self._at(point, self.exact)
        if self.exact or not np.isfinite(found.value):
            return found
        hessian = self._differences(point)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1 / np.sqrt(-hessian.diagonal())
        self._scale = np.where(np.isfinite(scale), scale, np.inf)
        return replace(found, hessian=hessian)

    def slope(self, point: Doubles) -> tuple[float, Doubles]:
        """Objective with its first derivatives."""
        found = self._at(point, False)
        return found.value, found.gradient

    def loglik(self, point: Doubles) -> float:
        """Log-likelihood without the priors."""
        return self._at(point, False).loglik

    def _at(self, point: Doubles, second: bool) -> Found:
        coordinates, values = self.coordinates, self.values(point)
        nothing = Bordered.dense(np.zeros((0, 0)))
        if not all(np.isfinite(v).all() for v in values.values()):
            return Found(-np.inf, np.zeros(coordinates.size), nothing, -np.inf)
        try:
            expanded = self.problem.expand(values, self.wrt, second)
        except np.linalg.LinAlgError:
            expanded = Expanded(-np.inf, np.zeros(coordinates.n_elements))
        value, slopes, hessian = expanded.value, expanded.gradient, expanded.hessian
        if self._priors:
            more, own, bends = self._of_priors(values)
            value, slopes = value + more, slopes + own
            hessian = None if hessian is None else hessian.plus_diagonal(bends)
        made = nothing if hessian is None or not second else coordinates.hessian(point, slopes, hessian)
        return Found(value, coordinates.gradient(point, slopes), made, expanded.value)

    def _of_priors(self, values: Named) -> tuple[float, Doubles, Doubles]:
        """Log-density of the priors, and its first and second derivatives in the elements."""
        total, slopes, bends = 0.0, np.zeros(self.coordinates.n_elements), np.zeros(self.coordinates.n_elements)
        for name, prior in self._priors.items():
            at, shape = self.coordinates.elements[name], self.coordinates.shapes[name]
            function: Pointwise = prior.density.log_density
            given = function.bind(prior.args, prior.kwargs, missing=1)
            own = list[Any]()
            for argument, value in zip(function.argument_names[1:], given, strict=True):
                try:
                    whole = value if isinstance(value, float) else np.broadcast_to(value, shape or (1,)).ravel()
                except ValueError:
                    told = f"{argument} has shape {np.shape(value)}, and {name} has {shape}"
                    raise ValueError(f"the prior of {name}: {told}") from None
                own.append(whole if isinstance(whole, float) else whole.astype(float))
            x = function.argument_names[0]
            found = second_order(function, [np.ravel(values[name]).astype(float), *own], (x,), (x,), choose.get())
            total += found.value
            slopes[at], bends[at] = found.first[x], found.second[x, x]
        return total, slopes, bends

    def _differences(self, point: Doubles) -> Bordered:
        """Second derivatives as differences of four first ones for each coordinate."""
        p = len(point)
        steps = FIRST_STEP * np.maximum(np.abs(point), 0.1)
        if self._scale is not None:
            steps = np.where(np.isfinite(self._scale), np.minimum(STEP_IN_ERRORS * self._scale, 100 * steps), steps)
        found = np.zeros((p, p))
        for j, step in enumerate(steps):
            for place, weight in DIFFERENCES:
                moved = point.copy()
                moved[j] += place * step
                found[j] += weight * self.slope(moved)[1] / step
        return Bordered.dense((found + found.T) / 2)
