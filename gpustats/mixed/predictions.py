"""Predictions of linear mixed models for new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..fits.estimates import Estimates
from ..frames.labelled import ALLOWS_NEW
from ..runtime.types import Doubles
from .gaussian import SIGMA, GaussianProblem
from .terms import Term


class NewRows(NamedTuple):
    """Groups of new rows and columns of a random grouping."""

    groups: np.ndarray  # (M,), -1 for a group that is new
    columns: Doubles  # (M, m)


def new_rows(terms: Sequence[Term], groups: Mapping[str, Any], n: int, new_groups: bool) -> list[NewRows]:
    """Rows of each random grouping; ValueError for groups that are new unless `new_groups`, and what does not fit the fit."""
    found = dict[int, NewRows]()
    for term in sorted(terms, key=lambda t: (t.grouping, t.first)):
        index, columns = rows_of(term, groups[term.name], n, new_groups, ALLOWS_NEW)
        before = found.get(term.grouping)
        if before is not None and not np.array_equal(before.groups, index):
            raise ValueError(f"groups of {term.name} differ from those of another term, whose groups they shared in the fit")
        found[term.grouping] = NewRows(index, columns if before is None else np.hstack([before.columns, columns]))
    return [found[g] for g in sorted(found)]


def rows_of(term: Term, given: Any, n: int, new_groups: bool = False, hint: str = "") -> NewRows:
    """Rows of one term; ValueError, with a hint at its end, for groups that are new unless `new_groups`."""
    index, Z = given if isinstance(given, tuple) and term.columns is not None else (given, None)
    index = np.asarray(index)
    if index.shape != (n,) or index.dtype.kind not in "iu":
        raise ValueError(f"groups of {term.name} must be ({n},) whole numbers, not {index.dtype} of shape {index.shape}")
    unseen = (index < 0) | (index >= term.levels)
    if unseen.any() and not new_groups:
        raise ValueError(
            f"groups of {term.name} has {index[unseen][0]}, which the fit has not seen: its groups are 0 to "
            f"{term.levels - 1}{hint}"
        )
    columns = np.ones((n, 1)) if term.columns is None else np.asarray(Z, float)
    if columns.shape != (n, term.size):
        raise ValueError(f"columns of groups of {term.name} have shape {columns.shape}, and must have ({n}, {term.size})")
    return NewRows(np.where(unseen, -1, index), columns)


def predicted(
    problem: GaussianProblem, estimates: Estimates, design: Doubles, groups: Sequence[NewRows]
) -> tuple[Doubles, Doubles]:
    """Means of new rows without the shift of the observations, and their standard errors.

    Those of groups that the fit has seen are with their effects, of which new ones are 0 with their variance.

    Parameters
    ----------
    problem : GaussianProblem
    estimates : Estimates
    design : (M, f) ndarray
        Shifted columns of the fixed effects.
    groups : sequence of NewRows
        Of each random grouping; none for the fixed effects alone.
    """
    marginal, values, slopes = problem.marginal, estimates.parameters, problem.effects.slopes()
    theta, sigma = problem.theta(values), float(values[SIGMA])
    found = marginal.eliminated(theta)
    effects = problem.effects.shifted(problem.effects.vector(values))
    inverse = slopes @ problem.fixed_covariance(estimates) @ slopes.T / sigma**2
    mean = design @ effects
    if not groups:
        return mean, sigma * np.sqrt(np.einsum("ni,ij,nj->n", design, inverse, design).clip(0))
    factors, modes = marginal.factors.matrices(theta), found.effects(np.append(-effects, 1.0))
    columns = [own.columns / scale for own, scale in zip(groups, marginal.column_scales, strict=True)]
    variance = found.variances(design, [(own.groups, z) for own, z in zip(groups, columns, strict=True)], inverse)
    for own, z, factor, b in zip(groups, columns, factors, modes, strict=True):
        new = own.groups < 0
        mean += np.where(new, 0.0, (z * b[own.groups]).sum(1))
        variance += np.where(new, ((z @ factor) ** 2).sum(1), 0.0)
    return mean, sigma * np.sqrt(variance.clip(0))
