"""Search for a maximum by Newton's method, with damping where the quadratic model does not hold.

A step s solves (A + λ D) s = g, where A is the Hessian with its sign changed, D its diagonal's size and g the gradient: see
Nocedal & Wright (2006), Numerical Optimization, ch. 4 and 10. The damping λ is 0 near a maximum. Coordinates at a bound towards
which the objective grows stay there: Bertsekas (1982), Projected Newton methods, SIAM J. Control Optim. 20, 221.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from ..runtime.types import Doubles
from .symmetric import Symmetric, SymmetricFactor


@dataclass(frozen=True)
class Point:
    """Objective at a point, and its derivatives."""

    value: float
    gradient: Doubles
    hessian: Symmetric

    @property
    def finite(self) -> bool:
        """True if the value and the derivatives of a step are finite."""
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all() and np.isfinite(self.hessian.diagonal()).all())


F = TypeVar("F", bound=Point)

SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 1e12
#: Gain of a step at which a search ends, and relative errors of values, in double and in single precision. The root of twice
#: the gain is the distance from the maximum in standard errors.
DOUBLE, SINGLE = (1e-20, 1e-13), (1e-8, 3e-7)
#: A search runs away when its last step is as long as the one before, to this share, and so little of the information along it
#: is left.
SAME_STEP, INFORMATION_LEFT = 0.3, 1e-5
ROUNDING_GAIN = 1e-8  # of a step that does not improve the value, at which a search ends as well as it can
DOWNWARD = 1e-7  # curvature, relative to the diagonal, that is told from rounding
#: Ends of a search, in words; behind the second stands the argument that allows more steps.
CONVERGED, MORE_STEPS = "converged", "not converged: more steps are needed, "
NO_STEP = "not converged: no step improves the log-likelihood"
#: Share of the largest component from which on components of a direction are named, and the most of them.
NAMED_SHARE, MOST_NAMED = 0.05, 6


class Climbed(NamedTuple):
    """End of a search."""

    point: Doubles
    found: Point  # the objective there
    converged: bool
    message: str
    n_iterations: int
    at_bound: np.ndarray  # mask of the coordinates at a bound
    runaway: Doubles | None = None  # direction in which the objective grows for ever, on the scale of the start's information


def climb(
    evaluate: Callable[[Doubles], F], start: Doubles, *, pinned: np.ndarray, low: Doubles, high: Doubles, longest: Doubles,
    limit: int, single: bool = False, advance: Callable[[int], None] = lambda more: None, begin: F | None = None,
) -> Climbed:  # fmt: skip
    """Maximum of an objective.

    Parameters
    ----------
    evaluate : callable
        Takes a point (p,).
    start : (p,) ndarray
    pinned : (p,) ndarray of bool
        Coordinates that stay where they are.
    low, high, longest : (p,) ndarray
        Bounds, and the longest step in each coordinate.
    limit : int
        Steps that are tried at most.
    advance : callable
        Called with 1 after each step.
    begin : optional
        The objective at the start, where it is known.
    """
    enough, noise = SINGLE if single else DOUBLE
    point = start.copy()
    here = evaluate(point) if begin is None else begin
    first = np.abs(here.hessian.diagonal())  # information at the start
    damping, growth, before = 0.0, 4.0, np.full(len(point), np.inf)
    message, n = f"{MORE_STEPS}max_iterations", 0
    held = pinned
    converged, runaway = False, None
    for n in range(limit + 1):
        held = pinned | ((point <= low) & (here.gradient <= 0)) | ((point >= high) & (here.gradient >= 0))
        slope = np.where(held, 0.0, here.gradient)
        information = (-here.hessian).pinned(held)
        factor, damping = _factor(information, damping)
        if factor is None:
            message = NO_STEP
            break
        step, stopped = _between(information, damping, factor, slope, low - point, high - point)
        if (downward := _downward(information, damping, slope, step)) is not None:
            step = downward
        step *= np.min(longest / np.maximum(np.abs(step), 1e-300), initial=1.0)
        step = np.clip(step, low - point, high - point)
        gain = float(slope @ step - 0.5 * step @ information.times(step))
        error = noise * (1 + abs(here.value))
        if stopped and gain <= enough and damping < LARGEST_DAMPING:  # the way to a bound is not the quadratic model's
            damping = max(growth * damping, 1e-3)
            continue
        if gain <= enough or (damping >= LARGEST_DAMPING and gain <= error):
            converged = damping <= 1 or gain <= enough * 1e-3
            message = CONVERGED if converged else NO_STEP
            with np.errstate(divide="ignore", invalid="ignore"):
                same = np.linalg.norm(step * np.sqrt(first)) >= SAME_STEP * np.linalg.norm(before * np.sqrt(first))
            if same and _faint(here.hessian, first, step):
                converged, runaway = False, step * np.sqrt(first)
                message = "not converged: the log-likelihood grows for ever"
            elif damping <= SMALLEST_DAMPING:
                point = point + step  # too small a step to be worth an evaluation
            break
        if n == limit:
            break
        trial = evaluate(point + step)
        gained = trial.value - here.value if trial.finite else -np.inf
        ratio = gained / gain if gain > error else (1.0 if gained > -error else -1.0)
        if ratio <= 1e-4 and gain <= ROUNDING_GAIN and damping <= 1:
            converged, message = True, CONVERGED  # what is left to gain is less than values tell
            break
        if ratio > 1e-4:
            point, here, before = point + step, trial, step
            damping = (0.1 * damping if damping > SMALLEST_DAMPING else 0.0) if ratio > 0.75 else damping
            growth = 4.0
        if ratio < 0.25:
            damping = min(max(growth * damping, 1e-3), LARGEST_DAMPING)
            growth = growth if ratio > 1e-4 else 2 * growth
        if damping >= LARGEST_DAMPING:
            message = NO_STEP
            break
        advance(1)
    return Climbed(point, here, converged, message, n, held & ~pinned, runaway)


def _factor(information: Symmetric, damping: float) -> tuple[SymmetricFactor | None, float]:
    """Factor of the damped matrix, and the damping with which it is positive definite."""
    scale = np.abs(information.diagonal())
    scale = scale.clip(1e-12 * scale.max(initial=0) + 1e-300)
    while damping <= LARGEST_DAMPING:
        if (factor := (information.plus_diagonal(damping * scale) if damping else information).factor()) is not None:
            return factor, damping
        damping = max(10 * damping, SMALLEST_DAMPING)
    return None, damping


def _between(
    information: Symmetric, damping: float, factor: SymmetricFactor, slope: Doubles, low: Doubles, high: Doubles
) -> tuple[Doubles, bool]:
    """Step of the damped quadratic model between bounds, and whether it is stopped by any."""
    step, at_bound = factor.solve(slope), np.zeros(len(slope), bool)
    ends = np.zeros(len(slope))
    while (beyond := ~at_bound & ((step < low) | (step > high))).any():
        at_bound |= beyond
        ends = np.where(beyond, np.clip(step, low, high), ends)
        scale = np.abs(information.diagonal())
        damped = information.plus_diagonal(damping * scale)
        rest = damped.pinned(at_bound).factor()
        if rest is None:
            return np.where(at_bound, ends, 0.0), True
        step = np.where(at_bound, ends, rest.solve(np.where(at_bound, 0.0, slope - information.times(ends))))
    return step, bool(at_bound.any())


def _downward(information: Symmetric, damping: float, slope: Doubles, step: Doubles) -> Doubles | None:
    """Step along which a saddle bends down, where a search has come to one; None elsewhere."""
    if damping <= SMALLEST_DAMPING or slope @ step > 1e-10 or not information.is_dense:
        return None
    scale = 1 / np.sqrt(np.abs(information.diagonal()).clip(1e-300))
    curvatures, directions = np.linalg.eigh(information.scaled(scale).toarray())
    if curvatures[0] > -DOWNWARD:
        return None
    found: Doubles = directions[:, 0] * scale
    return found if slope @ found >= 0 else -found


def _faint(hessian: Symmetric, first: Doubles, step: Doubles) -> bool:
    """True if next to nothing of the information at the start is left along a step."""
    left, at_start = -step @ hessian.times(step), float(first @ step**2)
    return bool(at_start > 0 and left < INFORMATION_LEFT * at_start)


def most_moved(direction: Doubles) -> list[int]:
    """Components that a direction moves, those that it moves most first, for words about it."""
    sizes = np.abs(direction)
    order = np.argsort(-sizes, kind="stable")[:MOST_NAMED]
    return [int(i) for i in order if sizes[i] >= NAMED_SHARE * sizes[order[0]]]
