"""Confidence intervals by the profile of the log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..runtime.types import Doubles
from .fitted import Fitted
from .hypotheses import width_of

MOST_TRIES, FARTHEST = 40, 1e3  # evaluations of a profile for one end, and the largest distance in standard errors
TOLERANCE = 1e-9  # of the signed root of the likelihood ratio


def profile_intervals(fitted: Fitted, level: float, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Intervals of parameters, (..., 2) each, or of single elements by their labels."""
    coordinates, quantile = fitted.objective.coordinates, width_of(level)
    labels, found = coordinates.labels(), {}
    owners = [n for n, at in coordinates.elements.items() for _ in range(at.stop - at.start)]
    for name in names:
        owner = name if name in coordinates.elements else owners[labels.index(name)]
        chart, elements, points = coordinates.charts[owner], coordinates.elements[owner], coordinates.points[owner]
        if not chart.elementwise:
            raise NotImplementedError(f"the elements of {owner} depend on one another, and have no profiles")
        places = range(elements.stop - elements.start) if name == owner else [labels.index(name) - elements.start]
        free = fitted.free[elements]
        ends = np.array([_ends(fitted, points.start + k, quantile) if free[k] else (np.nan, np.nan) for k in places])
        point = fitted.climbed.point[points]
        for side in range(2):
            whole = point.copy()
            whole[list(places)] = ends[:, side]
            ends[:, side] = chart.back(whole).ravel()[list(places)]
        found[name] = ends.reshape(*coordinates.shapes[owner], 2) if name == owner else ends[0]
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
