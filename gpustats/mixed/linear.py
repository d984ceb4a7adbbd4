"""Fits of linear mixed models: from a likelihood to estimates."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..fits.estimates import Estimates
from ..fits.maximum import maximise
from ..linalg.threads import as_many_as_free
from ..runtime.types import Doubles
from .elimination import Elimination
from .estimates import MixedEstimates, of_components
from .gaussian import SIGMA, GaussianProblem
from .marginal import collinear
from .terms import Term

MULTIPLICATIONS = 1 << 30  # of a search, about
NEARLY = 1e-5  # smallest eigenvalue of the scaled products of columns that are far from depending on one another


def fit_linear(
    problem: GaussianProblem, start: Mapping[str, Any], bounds: Mapping[str, Any], priors: Mapping[str, Any],
    max_iterations: int, progress: bool,
) -> MixedEstimates:  # fmt: skip
    """Estimates of a linear mixed model, whose known parameters are those of the problem."""
    again = functools.partial(fit_linear, problem.by_likelihood(), {}, bounds, priors, max_iterations, False)
    fixed, places = dict(problem.fixed), problem.effects.places
    if problem.reml:
        for what, names in (("bounds", bounds), ("priors", priors)):
            if own := [n for n in names if n in places]:
                raise ValueError(f"{what}: {own[0]} is integrated out by REML: take reml=False")
        fixed, start = ({n: v for n, v in given.items() if n not in places} for given in (fixed, start))
    fixed, bounds = triangular(problem.terms, fixed, bounds)
    with as_many_as_free(MULTIPLICATIONS):
        try:
            climbed = maximise(problem, start, fixed, bounds, priors, max_iterations, progress)
        except ValueError as error:
            raise ValueError(f"{error}{_far_from_0(problem)}") from None
        if not climbed.converged:
            climbed = replace(climbed, message=climbed.message + _far_from_0(problem))
        found = _estimates(problem, climbed)
    return replace(found, by_likelihood=again if problem.reml else None)


def _far_from_0(problem: GaussianProblem) -> str:
    """Words about columns of random terms that nearly depend on one another, for the end of a message."""
    for term in problem.terms:
        if len(collinear(problem.marginal.products[term.grouping][term.places, term.places], NEARLY)):
            return f"; columns of {term.name} nearly depend on one another: where they are far from 0, subtract their means"
    return ""


def triangular(
    terms: Sequence[Term], fixed: Mapping[str, Any], bounds: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Known parameters and bounds with those of the terms' factors: 0 above the diagonal, on it not less than 0."""
    known, limits = dict(fixed), dict(bounds)
    for term in terms:
        name, size, shape = term.parameter, term.size, term.shape
        above = np.triu(np.ones((size, size), bool), 1).reshape(shape)
        known[name] = np.where(above, 0.0, np.broadcast_to(known.get(name, np.nan), shape))
        if (wrong := np.diagonal(np.reshape(known[name], (size, size))) < 0).any():
            raise ValueError(f"fixed: {name} has {np.diagonal(np.reshape(known[name], (size, size)))[wrong][0]:g} on its "
                             "diagonal, on which no number is negative")
        if np.isnan(known[name]).any():
            lowest = np.where(np.eye(size, dtype=bool), 0.0, -np.inf).reshape(shape)
            low, high = limits.get(name, (None, None))
            limits[name] = np.maximum(lowest, -np.inf if low is None else low), high
    return known, limits


def _estimates(problem: GaussianProblem, found: Estimates) -> MixedEstimates:
    """Estimates at the end of a search, with the modes of the random effects."""
    fitted, places, covariance = found.fitted, problem.effects.places, found.covariance
    assert fitted is not None and covariance is not None
    sigma, eliminated = float(found.parameters[SIGMA]), problem.marginal.eliminated(problem.theta(found.parameters))
    effects, spread = _fixed_effects(problem, found, eliminated)
    free = np.isin(np.arange(problem.effects.size), problem.profile.free)
    names = [n for n in places if free[places[n]].any()]
    behind = [n for n in found.free if n not in places]
    in_search = fitted.objective.coordinates.elements
    order = np.concatenate([np.zeros(0, int), *(places[n].ravel() for n in names)])
    moving = np.concatenate([free[order], *(fitted.free[in_search[n]] for n in behind)])
    n_fixed = int(free.sum())
    others = len(moving[moving]) - n_fixed
    whole = np.zeros((n_fixed + others, n_fixed + others))
    whole[:n_fixed, :n_fixed] = spread[np.ix_(order[free[order]], order[free[order]])]
    whole[n_fixed:, n_fixed:] = covariance[len(covariance) - others :, len(covariance) - others :]
    parameters = {n: v[()] for n, v in problem.effects.by_name(effects).items()}
    parameters |= {n: v for n, v in found.parameters.items() if n not in places}
    errors = np.full(len(moving), np.nan)
    errors[moving] = np.sqrt(np.diagonal(whole))
    labels, by_name, at = list[str](), dict[str, Any](), 0
    for name in (*names, *behind):
        shape, size = np.shape(parameters[name]), int(np.size(parameters[name]))
        by_name[name] = errors[at : at + size].reshape(shape)[()]
        labels += problem.labels(name, shape)
        at += size
    modes, spreads = _modes(problem, eliminated, effects, sigma)
    of_factors = factor_covariances(behind, parameters, moving, whole, n_fixed)
    components = of_components(problem.terms, parameters, of_factors, modes, spreads)
    changed = {
        "parameters": parameters, "free": (*names, *behind), "standard_errors": by_name, "covariance": whole,
        "labels": tuple(label for label, moves in zip(labels, moving, strict=True) if moves),
        "n_parameters": found.n_parameters + n_fixed * problem.reml,
        "message": found.message.replace(" at a bound", "") + components.pop("remark"),
    }  # fmt: skip
    kept = {f.name: getattr(found, f.name) for f in fields(Estimates)} | changed
    kept |= {"elements": dict(zip(labels, moving.tolist(), strict=True)), "levels": dict(problem.levels)}
    return MixedEstimates(**kept, **components, reml=problem.reml, residual=True)


def _fixed_effects(problem: GaussianProblem, found: Estimates, eliminated: Elimination) -> tuple[Doubles, Doubles]:
    """Fixed effects as users see them, and their covariance given all else; nan for those at a bound."""
    effects, fitted = problem.effects, found.fitted
    if problem.reml:
        back, sigma = np.linalg.inv(effects.slopes()), float(found.parameters[SIGMA])
        spread = sigma**2 * back @ problem.profile.covariance(eliminated) @ back.T
        return effects.back(problem.profile.best_fixed(eliminated)[1]), spread
    assert fitted is not None
    points, spread = fitted.objective.coordinates.points, np.zeros((effects.size, effects.size))
    names = [n for n in effects.places if n in points]
    if names:
        order = np.concatenate([effects.places[n].ravel() for n in names])
        own = np.concatenate([np.arange(points[n].start, points[n].stop) for n in names])
        spread[np.ix_(order, order)] = np.linalg.inv(fitted.information.toarray()[np.ix_(own, own)])
        spread[order[fitted.climbed.at_bound[own]]] = np.nan
    return effects.vector(found.parameters), spread


def _modes(
    problem: GaussianProblem, eliminated: Elimination, effects: Doubles, sigma: float
) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
    """Modes of the random effects of each term, (G, m), and their variances given the estimates."""
    scales, modes, variances = problem.marginal.column_scales, dict[str, Doubles](), dict[str, Doubles]()
    found, spreads = eliminated.effects(np.append(-problem.effects.shifted(effects), 1.0)), eliminated.spreads()
    for term in problem.terms:
        g, own = term.grouping, term.places
        modes[term.name] = (found[g] / scales[g])[:, own]
        variances[term.name] = (sigma**2 * np.diagonal(spreads[g], axis1=1, axis2=2) / scales[g] ** 2)[:, own]
    return modes, variances


def factor_covariances(
    names: Sequence[str], parameters: Mapping[str, Any], moving: np.ndarray, covariance: Doubles, first: int
) -> dict[str, Doubles]:
    """Covariance of the elements of each of the last parameters, `names`, which begin at `first`; 0 for what is known.

    `moving` is a mask of the elements that are free, of these parameters and those before.
    """
    found, sizes = dict[str, Doubles](), [int(np.size(parameters[n])) for n in names]
    at = len(moving) - sum(sizes)
    for name, size in zip(names, sizes, strict=True):
        mask, at = moving[at : at + size], at + size
        own = np.arange(first, first + int(mask.sum()))
        found[name] = np.zeros((size, size))
        found[name][np.ix_(mask, mask)] = covariance[np.ix_(own, own)]
        first += len(own)
    return found
