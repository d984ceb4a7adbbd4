"""End of a search: the covariance of what it has found, and further searches from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime.types import Doubles
from .bordered import MOST_DENSE
from .climb import Climbed, climb
from .objective import Objective
from .symmetric import Symmetric


@dataclass(frozen=True)
class Fitted:
    """End of a search, and what it searched: for further questions about the estimates."""

    objective: Objective
    climbed: Climbed
    pinned: np.ndarray  # mask of the coordinates that are fixed
    free: np.ndarray  # mask of the elements that are not fixed
    low: Doubles
    high: Doubles

    @property
    def information(self) -> Symmetric:
        """Second derivatives of the objective in the coordinates with their sign changed; those that stay have the unit's."""
        return (-self.climbed.found.hessian).pinned(self.pinned | self.climbed.at_bound)

    def again(self, start: Doubles, pinned: np.ndarray, limit: int = 100) -> Climbed:
        """Search from another start with other coordinates fixed."""
        objective = self.objective
        return climb(
            objective, start, pinned=pinned, low=self.low, high=self.high, longest=objective.coordinates.longest, limit=limit,
            single=objective.problem.single,
        )  # fmt: skip


def by_name(objective: Objective, numbers: Doubles) -> dict[str, Any]:
    """Numbers of the elements, (P, …), by the parameters' names and in their shapes."""
    coordinates, found = objective.coordinates, dict[str, Any]()
    for name, at in coordinates.elements.items():
        own = numbers[at].reshape((*coordinates.shapes[name], *numbers.shape[1:]))
        found[name] = own if own.ndim else own.item()
    return found


def covariance_of(fitted: Fitted) -> tuple[np.ndarray | None, Doubles]:
    """Covariance of the elements that are not fixed, None where there are too many, and their variances."""
    coordinates, point, stay = fitted.objective.coordinates, fitted.climbed.point, fitted.pinned | fitted.climbed.at_bound
    factor = fitted.information.factor()
    free = fitted.free
    if factor is None:
        n = int(free.sum())
        return (np.full((n, n), np.nan) if n <= MOST_DENSE else None), np.full(n, np.nan)
    if coordinates.elementwise:
        slopes = np.where(stay, np.nan, coordinates.slopes(point))
        if coordinates.size > MOST_DENSE:
            return None, (factor.inverse_diagonal() * slopes**2)[free]
        covariance = (factor.inverse() * np.outer(slopes, slopes))[np.ix_(free, free)]
    else:
        inverse = factor.inverse()
        inverse[stay], inverse[:, stay] = 0, 0
        jacobian = coordinates.jacobian(point).toarray()
        covariance = (jacobian @ inverse @ jacobian.T)[np.ix_(free, free)]
    return covariance, np.diagonal(covariance)
