"""Confidence intervals of estimates: by standard errors, and by the profile of the log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.types import Doubles

if TYPE_CHECKING:
    from .estimates import Estimates
    from .maximum import Fitted

MOST_TRIES, FARTHEST = 40, 1e3  # evaluations of a profile for one end, and the largest distance in standard errors
TOLERANCE = 1e-9  # of the signed root of the likelihood ratio


def wald_intervals(estimates: Estimates, level: float, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Estimates ± quantiles of their standard errors."""
    from scipy.special import ndtri

    width = ndtri((1 + level) / 2)
    found = {}
    for name in names:
        if name in estimates.standard_errors:
            value, error = np.asarray(estimates.parameters[name]), np.asarray(estimates.standard_errors[name])
        else:
            at = place_of(estimates, name)
            value, error = estimates.estimates[at], estimates.errors[at]
        found[name] = np.stack([value - width * error, value + width * error], -1)
    return found


def place_of(estimates: Estimates, label: str) -> int:
    """Place of a label among all; ValueError where there is none."""
    if label not in estimates.labels:
        some = ", ".join([*estimates.free, *estimates.labels][:12])
        raise ValueError(f"no {label!r} was estimated; there are {some}{', …' if len(estimates.labels) > 12 else ''}")
    return estimates.labels.index(label)


def profile_intervals(estimates: Estimates, level: float, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Intervals of the profile of the log-likelihood."""
    from scipy.special import ndtri

    fitted: Fitted | None = estimates.fitted
    if fitted is None:
        raise NotImplementedError("profile intervals are of fits of models; of a density, gpustats.Likelihood(density, x).fit()")
    coordinates = fitted.objective.coordinates
    labels = coordinates.labels()
    quantile = float(ndtri((1 + level) / 2))
    found = {}
    for name in names:
        at = coordinates.elements[name] if name in coordinates.elements else labels.index(name) if name in labels else None
        if at is None:
            place_of(estimates, name)
        owner = name if isinstance(at, slice) else next(n for n, s in coordinates.elements.items() if s.start <= at < s.stop)
        if not coordinates.charts[owner].elementwise:
            raise NotImplementedError(f"the elements of {owner} depend on one another, and have no profiles")
        first = coordinates.points[owner].start - coordinates.elements[owner].start
        places = range(*at.indices(coordinates.n_elements)) if isinstance(at, slice) else [at]
        ends = np.array([_ends(fitted, p + first, quantile) if fitted.free[p] else (np.nan, np.nan) for p in places])
        values = np.empty_like(ends)
        chart = coordinates.charts[owner]
        for side in range(2):
            whole = fitted.climbed.point[coordinates.points[owner]].copy()
            for p, end in zip(places, ends[:, side], strict=True):
                whole[p - coordinates.elements[owner].start] = end
            back = chart.back(whole).ravel()
            values[:, side] = [back[p - coordinates.elements[owner].start] for p in places]
        found[name] = values.reshape(*coordinates.shapes[owner], 2) if isinstance(at, slice) else values[0]
    return found


def _ends(fitted: Fitted, j: int, quantile: float) -> tuple[float, float]:
    """Coordinates at which the signed root of the likelihood ratio of coordinate `j` is minus and plus a quantile."""
    factor = fitted.information.factor()
    if factor is None:
        return np.nan, np.nan
    unit = np.zeros(fitted.objective.coordinates.size)
    unit[j] = 1.0
    along = factor.solve(unit)  # how the others move with this one, where the log-likelihood is quadratic
    spread = float(np.sqrt(along[j]))
    return _end(fitted, j, -quantile, along / along[j], spread), _end(fitted, j, quantile, along / along[j], spread)


def _end(fitted: Fitted, j: int, quantile: float, along: Doubles, spread: float) -> float:
    """Place where the profile's signed root is `quantile`: secants in the root, which is nearly a line, between bounds."""
    best, top, pinned = fitted.climbed.point, fitted.climbed.found.value, fitted.pinned.copy()
    pinned[j] = True
    side, start = np.sign(quantile), best
    inner, outer = 0.0, np.inf  # distances from the estimate between which the end lies
    distance, known = abs(quantile) * spread, [(0.0, 0.0)]
    limit = (fitted.high[j] if side > 0 else fitted.low[j]) - best[j]
    for _ in range(MOST_TRIES):
        if distance >= abs(limit):
            distance = abs(limit)
        moved = start + (best[j] + side * distance - start[j]) * along
        moved = np.clip(moved, fitted.low, fitted.high)
        moved[j] = best[j] + side * distance
        climbed = fitted.again(np.where(fitted.pinned, best, moved), pinned)
        root = np.sqrt(max(2 * (top - climbed.found.value), 0.0)) if np.isfinite(climbed.found.value) else np.inf
        if abs(root - abs(quantile)) <= TOLERANCE * (1 + abs(quantile)) or outer - inner <= 1e-12 * abs(distance):
            return float(best[j] + side * distance)
        if root < abs(quantile):
            if distance >= abs(limit):
                return float(best[j] + limit)
            if distance > FARTHEST * spread:
                return float(side * np.inf)
            inner, start = distance, climbed.point
        else:
            outer = distance
        known = [*known[-1:], (distance, float(root))]
        (a, at_a), (b, at_b) = known
        guess = b + (abs(quantile) - at_b) * (b - a) / (at_b - at_a) if np.isfinite(at_b) and at_b != at_a else np.nan
        if not inner < guess < outer:
            guess = 2 * inner if np.isinf(outer) else (inner + outer) / 2
        distance = min(guess, max(4 * inner, 4 * spread)) if np.isinf(outer) else guess
    return float(best[j] + side * distance)
