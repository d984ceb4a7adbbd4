"""Fits of Gaussian mixed models: from a likelihood to estimates."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..fits.estimates import Estimates
from ..fits.maximum import maximise
from ..runtime.types import Doubles
from .estimates import MixedEstimates, covariance_errors, covariances, is_singular
from .gaussian import SIGMA, GaussianProblem

SINGULAR = ", singular: a variance is 0 or a correlation ±1"


def fit_linear(
    problem: GaussianProblem, start: Mapping[str, Any], bounds: Mapping[str, Any], priors: Mapping[str, Any],
    max_iterations: int, progress: bool,
) -> MixedEstimates:  # fmt: skip
    """Estimates of a Gaussian mixed model, whose known parameters are those of the problem."""
    fixed = dict(problem.fixed)
    if problem.reml:
        for what, names in (("bounds", bounds), ("priors", priors)):
            if own := [n for n in names if n in problem.effects.places]:
                raise ValueError(f"{what}: {own[0]} is integrated out by REML: take reml=False")
        fixed = {n: v for n, v in fixed.items() if n not in problem.effects.places}
        start = {n: v for n, v in start.items() if n not in problem.effects.places}
    limits = dict(bounds)
    for term in problem.terms:
        name, factor = term.parameter, np.full((term.size, term.size), np.nan)
        factor[np.triu_indices(term.size, 1)] = 0.0
        given = np.broadcast_to(fixed.get(name, np.nan), term.shape)
        fixed[name] = np.where(np.isnan(factor.reshape(term.shape)), given, factor.reshape(term.shape))
        if np.isnan(fixed[name]).any():
            lowest = np.where(np.eye(term.size, dtype=bool), 0.0, -np.inf).reshape(term.shape)
            low, high = limits.get(name, (None, None))
            limits[name] = np.maximum(lowest, -np.inf if low is None else low), high
    found = maximise(problem, start, fixed, limits, priors, max_iterations, progress)
    return _Finished(problem, found).estimates()


class _Finished:
    """End of a search, and the effects there."""

    def __init__(self, problem: GaussianProblem, found: Estimates):
        self._problem, self._found = problem, found
        self._theta, self._sigma = problem.theta(found.parameters), float(found.parameters[SIGMA])
        self._eliminated = problem.marginal.eliminated(self._theta)

    @functools.cached_property
    def _fixed(self) -> tuple[Doubles, Doubles, np.ndarray]:
        """Fixed effects as users see them, their covariance given all else, and a mask of those that moved."""
        problem, effects = self._problem, self._problem.effects
        if problem.reml:
            inverse, shifted = problem.profile.best_fixed(self._eliminated)
            free, back = problem.profile.free, np.linalg.inv(effects.slopes())
            own = back[np.ix_(free, free)]
            spread = np.zeros((effects.size, effects.size))
            spread[np.ix_(free, free)] = self._sigma**2 * own @ inverse @ own.T
            moved = np.zeros(effects.size, bool)
            moved[free] = True
            return effects.back(shifted), spread, moved
        fitted = self._found.fitted
        assert fitted is not None
        coordinates, values = fitted.objective.coordinates, effects.vector(self._found.parameters)
        names = [n for n in effects.places if n in coordinates.points]
        places = np.concatenate([np.zeros(0, int), *(effects.places[n].ravel() for n in names)])
        points = np.concatenate([np.zeros(0, int), *(np.arange(s.start, s.stop) for s in map(coordinates.points.get, names) if s)])
        moving = ~(fitted.pinned | fitted.climbed.at_bound)[points]
        information = fitted.information.toarray()[np.ix_(points[moving], points[moving])]
        spread, moved = np.zeros((effects.size, effects.size)), np.zeros(effects.size, bool)
        spread[np.ix_(places[moving], places[moving])] = np.linalg.inv(information)
        moved[places[moving]] = True
        return values, spread, moved

    def estimates(self) -> MixedEstimates:
        """Estimates with the modes of the random effects."""
        problem, found = self._problem, self._found
        fitted = found.fitted
        assert fitted is not None and found.covariance is not None
        values, spread, moved = self._fixed
        parameters = {n: v[()] for n, v in problem.effects.by_name(values).items()} | {
            n: v for n, v in found.parameters.items() if n not in problem.effects.places
        }
        names = [n for n in problem.effects.places if n in found.free or (problem.reml and moved[problem.effects.places[n]].any())]
        behind = [n for n in found.free if n not in problem.effects.places]
        elements = fitted.objective.coordinates.elements
        of_behind = np.concatenate([fitted.free[elements[n]] for n in behind]) if behind else np.zeros(0, bool)
        places = np.concatenate([np.zeros(0, int), *(problem.effects.places[n].ravel() for n in names)])
        in_search = np.concatenate([np.zeros(0, bool), *(fitted.free[elements[n]] for n in names if n in elements)])
        free = moved[places] if problem.reml else in_search
        own = np.where(moved, 1.0, np.nan)[places[free]]
        n, m = len(own), int(of_behind.sum())
        covariance = np.zeros((n + m, n + m))
        covariance[:n, :n] = spread[np.ix_(places[free], places[free])] * own * own[:, None]
        covariance[n:, n:] = found.covariance[len(found.covariance) - m :, len(found.covariance) - m :]
        moving = np.concatenate([free, of_behind])
        errors = np.full(len(moving), np.nan)
        with np.errstate(invalid="ignore"):
            errors[moving] = np.sqrt(np.diagonal(covariance))
        standard_errors, at = dict[str, Any](), 0
        for name in (*names, *behind):
            shape = np.shape(parameters[name])
            standard_errors[name] = errors[at : at + int(np.prod(shape))].reshape(shape)[()]
            at += int(np.prod(shape))
        return MixedEstimates(
            **{f.name: getattr(found, f.name) for f in fields(Estimates)} | {
                "parameters": parameters, "free": (*names, *behind), "standard_errors": standard_errors,
                "covariance": covariance, "labels": _labels(parameters, (*names, *behind), moving),
                "n_parameters": found.n_parameters + (int(moved.sum()) if problem.reml else 0),
                "message": found.message.replace(" at a bound", "") + SINGULAR * self._singular(),
                "errors_by": "observed information",
            },
            **self._of_random(covariance[n:, n:], behind, of_behind), reml=problem.reml, singular=self._singular(), moving=moving,
            residual=True,
        )  # fmt: skip

    def _singular(self) -> bool:
        return any(is_singular(t, self._found.parameters[t.parameter]) for t in self._problem.terms)

    def _of_random(self, covariance: Doubles, names: list[str], moving: np.ndarray) -> dict[str, Any]:
        """Covariances of the random effects, their errors, and the modes with theirs."""
        problem, marginal = self._problem, self._problem.marginal
        whole, at = np.zeros((len(moving), len(moving))), dict[str, int]()
        whole[np.ix_(moving, moving)] = covariance
        start = 0
        for name in names:
            at[name], start = start, start + int(np.size(self._found.parameters[name]))
        components, errors = dict[str, np.ndarray](), dict[str, np.ndarray]()
        shifted = problem.effects.shifted(self._fixed[0])
        modes = self._eliminated.effects(np.append(-shifted, 1.0))
        spreads = self._eliminated.spreads()
        effects, effects_errors = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for term in problem.terms:
            factor = np.asarray(self._found.parameters[term.parameter], float)
            components[term.name] = covariances(term, factor)
            own = slice(at[term.parameter], at[term.parameter] + term.size**2) if term.parameter in at else slice(0, 0)
            known = np.full((term.size**2, term.size**2), 0.0) if own.stop == 0 else whole[own, own]
            errors[term.name] = covariance_errors(term, factor, known)
            scale = marginal.column_scales[term.grouping][term.places]
            shape = (term.levels, *[term.size] * (term.columns is not None))
            effects[term.name] = (modes[term.grouping][:, term.places] / scale).reshape(shape)
            deviations = np.sqrt(np.diagonal(spreads[term.grouping], axis1=1, axis2=2)[:, term.places].clip(0))
            effects_errors[term.name] = (self._sigma * deviations / scale).reshape(shape)
        return {"terms": problem.terms, "variance_components": components, "variance_errors": errors,
                "random_effects": effects, "random_effects_errors": effects_errors}  # fmt: skip


def _labels(parameters: Mapping[str, Any], names: tuple[str, ...], moving: np.ndarray) -> tuple[str, ...]:
    """Names of the numbers that were estimated."""
    found = list[str]()
    for name in names:
        shape = np.shape(parameters[name])
        found += [f"{name}[{', '.join(map(str, place))}]" for place in np.ndindex(*shape)] if shape else [name]
    return tuple(label for label, own in zip(found, moving, strict=True) if own)
