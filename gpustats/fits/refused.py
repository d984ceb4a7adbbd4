"""Fits that do not exist: likelihoods without a maximum, or with many, in words about the parameters that are to blame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import NoMaximumError
from ..runtime.types import Doubles
from .bordered import Bordered, Factor
from .climb import MOST_NAMED, most_moved
from .fitted import Fitted
from .objective import Objective

#: Smallest eigenvalue of a matrix of information, scaled to a diagonal of 1, that is told from 0.
LEAST_EIGENVALUE = 1e-11
#: Reciprocal of the inverse's norm, as LAPACK estimates it, above which a matrix is not looked at more closely.
FAR_FROM_SINGULAR = 1e-7
VANISHED = 1e-8  # share of the start that is next to nothing


def refuse_endless(fitted: Fitted, start: Doubles) -> None:
    """NoMaximumError where the likelihood has no maximum, ValueError where it has many, for a search from a `start`."""
    climbed, objective = fitted.climbed, fitted.objective
    if not climbed.converged and (vanished := _vanished(objective, start, climbed.point)):
        raise NoMaximumError(
            f"the log-likelihood of {objective.problem.name} has no maximum: it grows for ever as {', '.join(vanished)} nears "
            "0, as where the observations are fitted without residuals. Look at them, fix it, or give it a prior",
            vanished,
        )
    if (runaway := climbed.runaway) is not None:
        moved = most_moved(runaway)
        raise NoMaximumError(
            f"the log-likelihood of {objective.problem.name} has no maximum: it grows for ever in the direction of "
            f"{_listed(fitted, moved)}, as where columns separate the outcomes, or all observations of a group are alike. A "
            f"prior gives a maximum, {_prior_of(fitted, moved)}, a ridge penalty; or leave it out",
            _parameters(fitted, moved),
        )
    if not np.isfinite(climbed.found.value) or climbed.n_iterations == 0 and not climbed.converged:
        return
    information = fitted.information
    diagonal = information.diagonal()
    if (bad := np.flatnonzero(np.abs(diagonal) <= 1e-300)).size:
        bad = bad[:MOST_NAMED]
        raise ValueError(
            f"the log-likelihood of {objective.problem.name} does not bend in {_listed(fitted, bad)}: it does not depend on "
            f"it, or has a kink. Leave it out, fix it, or give it a prior, {_prior_of(fitted, bad)}; Density.fit takes kinks"
        )
    if not (diagonal > 0).all():
        return
    unit = 1 / np.sqrt(diagonal)
    scaled = information.scaled(unit)
    assert isinstance(scaled, Bordered)
    if scaled.block_places.size:
        if (of_blocks := np.linalg.eigvalsh(scaled.blocks)[:, 0]).min() < LEAST_EIGENVALUE:
            at = scaled.block_places[int(of_blocks.argmin())]
            _refuse_singular(fitted, at)
        matrix, places = scaled.plus_diagonal(np.full(scaled.size, 1e-15)).factor(), scaled.places
        if matrix is None:
            return
        assert isinstance(matrix, Factor)
        complement = matrix.complement
    else:
        complement, places = scaled.border, scaled.places
    if not complement.size or _is_definite(complement):
        return
    values, vectors = np.linalg.eigh(complement)
    if values[0] < LEAST_EIGENVALUE * max(1.0, len(values) / 10) and values[0] > -1e-7:
        direction = np.zeros(information.size)
        direction[places] = vectors[:, 0]
        _refuse_singular(fitted, most_moved(direction))


def _vanished(objective: Objective, start: Doubles, point: Doubles) -> list[str]:
    """Names of positive parameters that are next to nothing of what they were at the start."""
    coordinates, found = objective.coordinates, list[str]()
    for name, at in coordinates.points.items():
        if "positive" in objective.problem.domains[name]:
            before, behind = (coordinates.charts[name].back(vector[at]) for vector in (start, point))
            found += [name] if (behind <= VANISHED * before).any() else []
    return found


def _is_definite(matrix: Doubles) -> bool:
    """True if a matrix is far from a singular one, by LAPACK's estimate, which takes less than eigenvalues do."""
    from scipy.linalg import lapack

    factor, info = lapack.dpotrf(matrix)
    if info:
        return False
    norm = float(np.abs(matrix).sum(0).max())
    reciprocal, _ = lapack.dpocon(factor, norm)
    return bool(reciprocal * norm > FAR_FROM_SINGULAR)


def _refuse_singular(fitted: Fitted, places: Sequence[int] | np.ndarray) -> None:
    raise ValueError(
        f"nothing tells {_listed(fitted, places)} apart: the log-likelihood of {fitted.objective.problem.name} is level along "
        "a line through them, as with collinear columns, or an intercept beside a column of ones. Leave one of them out, fix "
        f"it, as with {_known(fitted, places)}, or give a prior, {_prior_of(fitted, places)}"
    )


def _listed(fitted: Fitted, places: Sequence[int] | np.ndarray) -> str:
    """Words for coordinates; for the parameters where elements have none of their own."""
    own, problem = fitted.objective.coordinates, fitted.objective.problem
    if not own.elementwise:
        return ", ".join(_parameters(fitted, places))
    labels = own.labels()
    return ", ".join(problem.described(labels[i]) for i in places)


def _parameters(fitted: Fitted, places: Sequence[int] | np.ndarray) -> list[str]:
    """Names of the parameters that coordinates are of."""
    points = fitted.objective.coordinates.points
    return list(dict.fromkeys(n for i in places for n, s in points.items() if s.start <= i < s.stop))


def _prior_of(fitted: Fitted, places: Sequence[int] | np.ndarray) -> str:
    """Example of a prior of one of some parameters, of one that is not positive rather than of another."""
    domains = fitted.objective.problem.domains
    name = min(_parameters(fitted, places), key=lambda n: "positive" in domains[n])
    return f"priors={{{name!r}: {'gs.gamma(2.0, 1.0)' if 'positive' in domains[name] else 'gs.normal(0.0, 10.0)'}}}"


def _known(fitted: Fitted, places: Sequence[int] | np.ndarray) -> str:
    """Example of a known element of some parameters."""
    own = fitted.objective.coordinates
    domains, last = fitted.objective.problem.domains, places[-1]
    names = _parameters(fitted, [last])
    label = own.labels()[last] if own.elementwise else names[0]
    return f"fixed={{{label!r}: {1.0 if 'positive' in domains[names[0]] else 0.0}}}"
