"""Search for the covariance factors of a linear mixed model at which its likelihood is largest, σ and φ being the best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..runtime.types import Doubles
from .marginal import Marginal

#: Gain in log-likelihood of a step at which a search ends; Newton's method comes behind it.
ENOUGH = 1e-6
#: Relative factor below which a variance is tried as 0, the gain that tells whether it is not, and where a search leaves 0.
SMALL, NOISE, AWAY = 0.1, 1e-10, 1e-3
MOST_ROUNDS = 5


def best_theta(
    marginal: Marginal, start: Doubles, free: np.ndarray, sigma: float | None, limit: int, advance: Callable[[int], None]
) -> Doubles:
    """Factors θ at which the profiled likelihood is largest.

    Parameters
    ----------
    start : (p,) ndarray
    free : (p,) ndarray of bool
        Elements that move.
    sigma : float or None
        The residual standard deviation, where it is known.
    limit : int
        Steps of a search at most.
    advance : callable
        Called with 1 after each step.
    """
    from scipy.optimize import minimize

    first, turn = marginal.profiled(start, sigma), marginal.turn(free)
    options = {"maxcor": 20, "ftol": ENOUGH / (1 + abs(first.value)), "gtol": 0.0, "maxiter": limit}
    diagonal = marginal.factors.diagonal
    point, reached = np.linalg.solve(turn, start), np.inf
    bounds = [(0.0 if d else None, None) for d in diagonal[free]]

    def negative(moving: Doubles) -> tuple[float, Doubles]:
        point[free] = moving
        try:
            found = marginal.profiled(turn @ point, sigma)
        except np.linalg.LinAlgError:  # a step that was far too long
            return 2 * abs(first.value) + 1, np.zeros(len(moving))
        return -found.value, -(found.gradient @ turn)[free]

    for _ in range(MOST_ROUNDS):
        found = minimize(
            negative, point[free].copy(), jac=True, method="L-BFGS-B", bounds=bounds, options=options,
            callback=lambda _: advance(1),
        )  # fmt: skip
        point[free], reached = found.x, found.fun
        for k in np.flatnonzero(free & diagonal & (point > 0) & (point < SMALL)):
            kept, point[k] = point[k], 0.0
            if (value := -marginal.profiled(turn @ point, sigma).value) > reached + NOISE * (1 + abs(reached)):
                point[k] = kept
            else:
                reached = value
        # The likelihood is even in a column of a factor: where that is 0 its slope is, too, whatever lies beside. Where it is 0
        # on the diagonal alone, the search may have come there from the wrong side: that of the other signs below.
        left = False
        for k in np.flatnonzero(free & diagonal & (point == 0)):
            own = marginal.factors.column(int(k))
            for turned in sides(point[own], free[own]):
                trial = point.copy()
                trial[own], trial[k] = turned, AWAY
                if (marginal.profiled(turn @ trial, sigma).gradient @ turn)[k] > 0:
                    point, left = trial, True
                    break
        if not left:
            break
    found_theta: Doubles = turn @ point
    return found_theta


def sides(column: Doubles, free: np.ndarray) -> list[Doubles]:
    """Column of a factor that is 0 on the diagonal, and the one with other signs, which has the same likelihood, if it may."""
    return [column, -column] if np.any(column) and free[column != 0].all() else [column]
