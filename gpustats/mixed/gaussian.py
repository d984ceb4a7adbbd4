"""Gaussian mixed models as a fit maximises them: linear models with random effects, by maximum likelihood or REML."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..display.bars import bar
from ..fits.bordered import Bordered
from ..fits.estimates import Estimates
from ..fits.problem import Expanded, Named, Problem
from ..runtime.types import Doubles
from .marginal import Marginal
from .search import best_theta
from .terms import Term

SIGMA = "sigma"
#: Residual standard deviation, relative to that of the observations, that is told from 0.
LEAST_RESIDUAL = 1e-7


@dataclass(frozen=True)
class FixedEffects:
    """Places of the fixed effects among the coefficients φ of a `Marginal`, whose columns are shifted.

    Attributes
    ----------
    places : dict
        Name -> places of the elements of a parameter, of its shape, in the order in which users see them.
    shifts : (f,) ndarray
        Subtracted from each column.
    shift : float
        Subtracted from the observations.
    intercept : int
        Place of the intercept, which takes the shifts up; -1 where there are none.
    """

    places: Mapping[str, np.ndarray]
    shifts: Doubles
    shift: float
    intercept: int

    @property
    def size(self) -> int:
        """Number of fixed effects."""
        return len(self.shifts)

    def shifted(self, effects: Doubles) -> Doubles:
        """Coefficients of the shifted columns, of those that users see."""
        return self._moved(effects, 1)

    def back(self, effects: Doubles) -> Doubles:
        """Coefficients that users see, of those of the shifted columns."""
        return self._moved(effects, -1)

    def _moved(self, effects: Doubles, sign: int) -> Doubles:
        found = effects.copy()
        if self.intercept >= 0:
            found[self.intercept] += sign * (self.shifts @ effects - self.shift)
        return found

    def slopes(self) -> Doubles:
        """Derivatives of the coefficients of the shifted columns in those that users see, (f, f)."""
        found = np.eye(self.size)
        if self.intercept >= 0:
            found[self.intercept] += self.shifts
        return found

    def vector(self, values: Mapping[str, Any]) -> Doubles:
        """Values by name as one vector, as users see them."""
        found = np.empty(self.size)
        for name, places in self.places.items():
            found[places] = values[name]
        return found

    def by_name(self, vector: Doubles) -> dict[str, np.ndarray]:
        """Values of a vector by name."""
        return {n: vector[places] for n, places in self.places.items()}


class GaussianProblem(Problem):
    """Gaussian mixed model. Its parameters are the fixed effects, but by REML, ``sigma``, and the factor of each random term.

    Parameters
    ----------
    name : str
    marginal : Marginal
    effects : FixedEffects
    fixed : mapping
        Known values by name, nan for elements that are free.
    reml : bool
    bounded : collection of str
        Parameters with bounds, which the maximum may lie outside of.
    limit : int
        Steps of a search at most.
    progress : bool
        Whether a bar shows them.

    Attributes
    ----------
    levels : mapping
        Name of a term -> labels of its groups, where they have some.
    """

    levels: Mapping[str, np.ndarray] = {}

    def __init__(
        self, name: str, marginal: Marginal, effects: FixedEffects, fixed: Mapping[str, np.ndarray], reml: bool,
        bounded: Collection[str] = (), limit: int = 200, progress: bool = False,
    ):  # fmt: skip
        self.name, self.effects, self.n_observations = name, effects, marginal.n
        self.factors, self._bounded, self._limit, self._progress = marginal.factors, set(bounded), limit, progress
        self.fixed = dict(fixed)
        free = {n: np.full(places.shape, np.nan) for n, places in effects.places.items()}
        known = effects.vector({n: np.broadcast_to(fixed.get(n, v), v.shape) for n, v in free.items()})
        self._known, self._whole = known, marginal
        self._set(reml)

    def _set(self, reml: bool) -> None:
        self.reml = reml
        #: the likelihood in which fixed effects that are known are known; that at whose maximum a search begins; and that in
        #: which it moves
        self.profile = self.first = self._whole.given(reml, self._known)
        self.marginal = self.profile if reml else self._whole
        words: dict[str, Collection[str]] = {} if reml else dict.fromkeys(self.effects.places, frozenset())
        self.domains = words | {SIGMA: frozenset({"positive"})} | dict.fromkeys(self.factors.slices, frozenset())

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.factors.terms

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return True

    # -- start

    def begin_without_columns(self) -> None:
        """Let searches begin where the fixed effects but the intercept are 0: where the others have no best values."""
        known = np.nan_to_num(self._known)
        if self.effects.intercept >= 0:
            known[self.effects.intercept] = np.nan
        self.first = self._whole.given(self.reml, known)

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The maximum, where nothing is in the way of its search: then only the priors of a fit move it."""
        factors, scales = self.factors, self.marginal.scales
        known, begin = (factors.vector({t.parameter: _shaped(t, values) for t in self.terms}) for values in (self.fixed, given))
        begin = np.where(np.isnan(known), begin, known)
        sigma = float(given[SIGMA]) if SIGMA in given else None
        if sigma is not None and not sigma > 0:
            raise ValueError(f"{SIGMA} of {self.name} must be positive, and {sigma:g} is not")
        theta = self.marginal.turn(np.isnan(known)) @ factors.diagonal
        if (told := ~np.isnan(begin)).any():
            scale = sigma or self.first.profiled(theta).sigma
            theta[told] = begin[told] * scales[told] / scale
        free, only = np.isnan(known), sigma if SIGMA in self.fixed else None
        inside = self._bounded.isdisjoint((SIGMA, *factors.slices))
        searched = inside and free.any() and (only is not None or not known[~free].any())
        if searched:
            with bar(self._limit, self._progress, "steps, at most") as advance:
                theta = best_theta(self.first, theta, free, only, self._limit, advance)
        found = self.first.profiled(theta, only if searched else sigma)
        if found.sigma < LEAST_RESIDUAL * self.first.deviation and sigma is None:
            raise ValueError("the effects of groups fit the observations without residuals: look at y, or fix sigma")
        values = {} if self.reml else self.effects.by_name(self.effects.back(found.fixed))
        values |= {SIGMA: np.asarray(found.sigma)} | factors.by_name(found.sigma * theta / scales)
        kept = [n for n in given if not searched or n in self._bounded or n in self.fixed]
        return values | {n: np.asarray(given[n], float) for n in kept}

    def fixed_covariance(self, estimates: Estimates) -> Doubles:
        """Covariance of all fixed effects as users see them, (f, f); 0 for those that are known or at a bound."""
        assert estimates.covariance is not None
        places, found = self.effects.places, np.zeros((self.effects.size, self.effects.size))
        order = np.concatenate([np.zeros(0, int), *(places[n].ravel() for n in estimates.free if n in places)])
        order = order[np.isin(order, self.profile.free)]
        found[np.ix_(order, order)] = np.nan_to_num(estimates.covariance[: len(order), : len(order)])
        return found

    def by_likelihood(self) -> GaussianProblem:
        """The same model by maximum likelihood."""
        made = copy.copy(self)
        made._set(False)
        return made

    # -- likelihood

    def theta(self, values: Named) -> Doubles:
        """Relative factors of values of the parameters."""
        found: Doubles = self.factors.vector(values) * self.marginal.scales / values[SIGMA]
        return found

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        f, sigma, theta = self.effects.size, float(values[SIGMA]), self.theta(values)
        effects = np.zeros(f) if self.reml else self.effects.shifted(self.effects.vector(values))
        value, slopes, bends = self.marginal.at(effects, sigma, theta, second)
        jacobian = np.zeros((f + 1 + len(theta), f + 1 + len(theta)))
        jacobian[:f, :f], jacobian[f, f] = self.effects.slopes(), 1.0
        behind, each = slice(f + 1, None), self.marginal.scales / sigma
        jacobian[behind, behind], jacobian[behind, f] = np.diag(each), -theta / sigma
        order = self._order(wrt)
        gradient = np.append(slopes @ jacobian, 0.0)[order]
        if bends is None:
            return Expanded(value, gradient)
        made = jacobian.T @ bends @ jacobian
        made[f, f] += 2 * slopes[behind] @ theta / sigma**2
        made[f, behind] -= slopes[behind] * each / sigma
        made[behind, f] = made[f, behind]
        return Expanded(value, gradient, Bordered.dense(np.pad(made, (0, 1))[np.ix_(order, order)]))

    def _order(self, wrt: Sequence[str]) -> np.ndarray:
        """Places, in (φ, σ, elements of factors, 0), of the elements of parameters."""
        f, found = self.effects.size, list[np.ndarray]()
        for name in wrt:
            if name in self.effects.places:
                found.append(self.effects.places[name].ravel())
            elif name == SIGMA:
                found.append(np.array([f]))
            else:
                at = self.factors.slices[name]
                size = next(t.size for t in self.terms if t.parameter == name)
                own = np.full((size, size), f + 1 + self.factors.size)
                own[np.tril_indices(size)] = f + 1 + np.arange(at.start, at.stop)
                found.append(own.ravel())
        return np.concatenate(found)


def _shaped(term: Term, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Value of a term's factor, nan where there is none."""
    value = values.get(term.parameter, np.full(term.shape, np.nan))
    if np.shape(value) not in (term.shape, ()):
        raise ValueError(f"{term.parameter} has shape {np.shape(value)}, and must have {term.shape}")
    return np.broadcast_to(value, term.shape)
