"""Standard errors from the scores of single observations.

Sources: White (1980), Econometrica 48, 817; Liang & Zeger (1986), Biometrika 73, 13.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .estimates import Estimates

if TYPE_CHECKING:
    from .maximum import Fitted


def robust(estimates: Estimates) -> Estimates:
    """Estimates with the covariance A⁻¹ B A⁻¹, B the sum of the products of the scores."""
    return _with_scores(estimates, None, 0, 1.0, "HC0")


def clustered(estimates: Estimates, clusters: ArrayLike, correction: bool) -> Estimates:
    """Estimates with the covariance A⁻¹ B A⁻¹, B the sum of the products of the clusters' scores."""
    labels = np.asarray(clusters)
    if labels.ndim != 1:
        raise ValueError(f"clusters has shape {labels.shape}: it must have a label for each observation, (N,)")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"clusters has nan at row {int(np.isnan(labels).argmax())}: each observation needs a label")
    found, places = np.unique(labels, return_inverse=True)
    g, n, p = len(found), len(labels), estimates.n_parameters
    if g < 2:
        raise ValueError(f"clusters has {g} label{'s' * (g != 1)}: errors by clusters need two at least")
    if correction and n <= p:
        raise ValueError(f"there are {n} observations and {p} parameters: leave out the correction, correction=False")
    factor = g / (g - 1) * (n - 1) / (n - p) if correction else 1.0
    return _with_scores(estimates, places.astype(np.int32), g, factor, "clusters")


def _with_scores(estimates: Estimates, clusters: np.ndarray | None, n_clusters: int, times: float, kind: str) -> Estimates:
    from .maximum import by_name

    fitted: Fitted | None = estimates.fitted
    if fitted is None:
        raise NotImplementedError("robust errors are of fits of models; of a density, gpustats.Likelihood(density, x).fit()")
    if estimates.covariance is None:
        raise NotImplementedError(f"robust errors of {len(estimates.labels)} parameters: they are for 5,000 at most")
    objective = fitted.objective
    problem, n_rows = objective.problem, getattr(objective.problem, "n_rows", None)
    if clusters is not None and n_rows is not None and len(clusters) != n_rows:
        raise ValueError(f"clusters has {len(clusters)} labels, and there are {n_rows} observations: it must have one for each")
    values = objective.values(fitted.climbed.point)
    sums = problem.score_sums(values, objective.wrt, clusters, n_clusters)
    products = sums if clusters is None else sums.T @ sums
    bread = _bread(fitted)
    whole = times * bread @ products @ bread
    covariance = whole[np.ix_(fitted.free, fitted.free)]
    numbers = np.sqrt(np.where(fitted.free, np.diagonal(whole), np.nan))
    return replace(estimates, covariance=covariance, standard_errors=by_name(objective, numbers), errors_by=kind)


def _bread(fitted: Fitted) -> np.ndarray:
    """Inverse of the information in the elements; rows of what stays are 0."""
    coordinates, stay = fitted.objective.coordinates, fitted.pinned | fitted.climbed.at_bound
    factor = fitted.information.factor()
    if factor is None:
        return np.full((coordinates.n_elements, coordinates.n_elements), np.nan)
    inverse = factor.inverse()
    inverse[stay], inverse[:, stay] = 0, 0
    jacobian = coordinates.jacobian(fitted.climbed.point).toarray()
    found: np.ndarray = jacobian @ inverse @ jacobian.T
    return found
