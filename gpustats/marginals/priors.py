"""Priors of effects: terms made of densities whose parameters are numbers, arrays, or names of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..distribution.frozen import Frozen
from ..rows.leaves import PerRow, Scalar
from ..rows.model import Rows
from .effects import Effects
from .normal_rows import NormalRows
from .rows_term import RowsTerm, Term


def prior_term(effect: str, prior: Frozen, effects: Effects) -> Term:
    """Term of the prior of an effect: of each element, or of each row of a table."""
    if not isinstance(prior, Frozen):
        raise TypeError(f"the prior of {effect} must be a density with its parameters, gs.normal(0.0, 'tau'), not {prior!r}")
    density = prior.density
    names = density.log_density.for_arguments(prior.kwargs).argument_names[1:]
    given = {**dict(zip(names, prior.args, strict=False)), **prior.kwargs}
    for argument, name in given.items():
        if isinstance(name, str) and name in effects.shapes:
            raise ValueError(f"the prior of {effect}: {argument} is {name!r}, an effect; write this as a model of rows")
    if density.name == "mvnormal":
        return _of_rows(effect, given, effects)
    if density.discrete or any(a.rank for a in density.log_density.arguments):
        raise TypeError(f"the prior of {effect} must be a density of real numbers, or gs.mvnormal, not {density.name}")
    return _of_elements(effect, density, given, effects)


def _of_elements(effect: str, density: Any, given: Mapping[str, Any], effects: Effects) -> Term:
    shape = effects.shapes[effect]
    observed, *others = density.log_density.arguments
    leaves: dict[str, Any] = {observed.name: PerRow(effect, 0)}
    constants: dict[str, float] = {}
    domains = {effect: observed.words}
    for argument in others:
        value = given[argument.name]
        if isinstance(value, str):
            leaves[argument.name] = Scalar(value)
            domains[value] = domains.get(value, frozenset()) | argument.words
        elif np.ndim(value):
            try:
                leaves[argument.name] = np.broadcast_to(np.asarray(value, float), shape).ravel()
            except ValueError:
                raise ValueError(
                    f"the prior of {effect}: {argument.name} has shape {np.shape(value)}, and {effect} has {shape}"
                ) from None
        else:
            name = f"{argument.name}'"  # no name of a user's, since it is no name in C
            leaves[argument.name], constants[name] = Scalar(name), float(value)
    return RowsTerm(Rows(density, **leaves), effects, domains, constants, flat=True)


def _of_rows(effect: str, given: Mapping[str, Any], effects: Effects) -> Term:
    shape, mean, covariance = effects.shapes[effect], given["mu"], given.get("cov")
    if not shape:
        raise ValueError(f"the prior of {effect} is of vectors, and {effect} is a number")
    if covariance is None or isinstance(mean, str):
        raise TypeError(f"the prior of {effect}: write gs.mvnormal(mean, 'name'), with numbers for the mean and a covariance")
    m = shape[-1]
    try:
        mean = np.broadcast_to(np.asarray(mean, float), (m,))
    except ValueError:
        raise ValueError(f"the prior of {effect}: mu has shape {np.shape(mean)}, and must have {(m,)}") from None
    if not isinstance(covariance, str):
        covariance = np.asarray(covariance, float)
        if covariance.shape != (m, m):
            raise ValueError(f"the prior of {effect}: cov has shape {covariance.shape}, and must have {(m, m)}")
    return NormalRows(effect, effects, mean, covariance)
