"""Covariance of estimates from the scores of single observations.

Sources: White (1980), Econometrica 48, 817; Liang & Zeger (1986), Biometrika 73, 13.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..frames.columns import labels_of_rows
from ..runtime.types import Doubles
from .fitted import Fitted


def sandwich(fitted: Fitted, clusters: ArrayLike | None = None, correction: bool = False) -> Doubles:
    """Covariance A⁻¹ B A⁻¹ of all elements, (P, P), of which rows of those that stay are 0.

    B is the sum of the products of the scores of observations, or of clusters of them.
    """
    problem, n_rows = fitted.objective.problem, getattr(fitted.objective.problem, "n_rows", None)
    values, wrt = fitted.objective.values(fitted.climbed.point), fitted.objective.wrt
    if clusters is None:
        products, times = problem.score_sums(values, wrt, None, 0), 1.0
    else:
        places, g = _numbered(clusters, n_rows)
        sums, n, p = problem.score_sums(values, wrt, places, g), problem.n_observations, int((~fitted.pinned).sum())
        if correction and n <= p:
            raise ValueError(f"there are {n:g} observations and {p} parameters: leave out the correction, correction=False")
        products, times = sums.T @ sums, g / (g - 1) * (n - 1) / (n - p) if correction else 1.0
    bread = _bread(fitted)
    return times * bread @ products @ bread


def _numbered(clusters: ArrayLike, n_rows: int | None) -> tuple[np.ndarray, int]:
    """Number of each observation's cluster, and the number of clusters."""
    found = labels_of_rows(clusters, "clusters", n_rows)
    n = len(found.labels)
    if n < 2:
        raise ValueError(f"clusters has {n} label{'s' * (n != 1)}: errors by clusters need two at least")
    return found.codes, n


def _bread(fitted: Fitted) -> Doubles:
    """Inverse of the information in the elements."""
    coordinates, stay = fitted.objective.coordinates, fitted.pinned | fitted.climbed.at_bound
    factor = fitted.information.factor()
    if factor is None:
        return np.full((coordinates.n_elements, coordinates.n_elements), np.nan)
    inverse = factor.inverse()
    inverse[stay], inverse[:, stay] = 0, 0
    jacobian = coordinates.jacobian(fitted.climbed.point).toarray()
    found: Doubles = jacobian @ inverse @ jacobian.T
    return found
