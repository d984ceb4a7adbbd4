"""Newton's method for many searches that go on at once, each with a damping of its own.

All searches take their next step together, so that a step costs one evaluation of all of them. A step s solves
(H + λ D) s = -g, where D is the diagonal of the sums of products of the observations' scores: it has the scale of the Hessian H
near a maximum of the likelihood, is positive far from one, and does not vanish where the density has a kink. The damping λ, one
number for each parameter, is 0 where the quadratic model holds and grows where it does not: Nocedal & Wright (2006), Numerical
Optimization, ch. 4 and 10. It grows for those parameters whose slopes were not as the model said, so that the others are still
free to move where one has reached a kink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..display.bars import bar
from ..runtime.types import Doubles, Mask

# Damping: where it begins, what only a kink or an edge needs, where it gives up.
SMALLEST_DAMPING, HEAVY_DAMPING, LARGEST_DAMPING = 1e-3, 1e4, 1e12
BLAMED_SHARE = 0.2  # of the largest error that a parameter's slope makes: parameters with less are not damped
# In units of the metric: a last step that needs no evaluation, curvatures that may be rounding's, and one that bends down.
NEGLIGIBLE_STEP, ROUNDING_CURVATURE, DOWNWARD_CURVATURE = 1e-5, 1e-12, 1e-6

#: Status of a search: running, or how it ended.
RUNNING, CONVERGED, AT_KINK, AT_EDGE, WITHOUT_START = range(5)


class Precision(NamedTuple):
    """Relative error of values, and the gain of a further step at which a search ends; with heavy damping, at a kink.

    The root of twice this gain is the distance from the maximum of a log-likelihood in standard errors.
    """

    noise: float = 1e-13
    gain: float = 1e-14
    gain_at_kink: float = 1e-9


@dataclass
class Objective:
    """Objective to minimise, at the points of G searches: values (G,), gradients (G, P), Hessians and metrics (G, P, P)."""

    value: Doubles
    gradient: Doubles
    hessian: Doubles
    metric: Doubles

    def __getitem__(self, which: np.ndarray) -> Objective:
        return Objective(self.value[which], self.gradient[which], self.hessian[which], self.metric[which])

    def of(self, parameters: list[int]) -> Objective:
        """Objective in some of the parameters, the others being fixed."""
        hessian, metric = (m[:, parameters][:, :, parameters] for m in (self.hessian, self.metric))
        return Objective(self.value, self.gradient[:, parameters], hessian, metric)

    def __setitem__(self, which: np.ndarray, new: Objective) -> None:
        for name in ("value", "gradient", "hessian", "metric"):
            getattr(self, name)[which] = getattr(new, name)

    @property
    def finite(self) -> Mask:
        """Mask of the searches with finite value, gradient, Hessian and metric."""
        fine = np.isfinite(self.value) & np.isfinite(self.gradient).all(-1)
        fine &= np.isfinite(self.hessian).all((-2, -1)) & np.isfinite(self.metric).all((-2, -1))
        return fine

    @property
    def scale(self) -> Doubles:
        """Diagonal of the metric (G, P), which is positive."""
        scale: Doubles = np.diagonal(self.metric, axis1=-2, axis2=-1)
        return scale.clip(1e-300 + 1e-12 * scale.max(-1, keepdims=True, initial=0))


#: Evaluates points (n, P) of the searches of these numbers (n,).
Evaluate = Callable[[Doubles, np.ndarray], Objective]


def solve(matrices: Doubles, vectors: Doubles) -> tuple[Doubles, Mask]:
    """Solutions (G, P) of symmetric systems (G, P, P), valid where the matrix is positive definite, and the mask of these.

    Gaussian elimination of all systems together, a column at a time.
    """
    a, b = matrices.copy(), vectors.copy()
    n, size = b.shape[-1], np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)) * 1e-14
    definite = np.ones(len(b), bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(n):
            definite &= a[:, k, k] > size[:, k]
            for i in range(k + 1, n):
                factor = a[:, i, k] / a[:, k, k]
                a[:, i, k:] -= factor[:, None] * a[:, k, k:]
                b[:, i] -= factor * b[:, k]
        for k in reversed(range(n)):
            for i in range(k + 1, n):
                b[:, k] -= a[:, k, i] * b[:, i]
            b[:, k] /= a[:, k, k]
    return b, definite & np.isfinite(b).all(-1)


class _Steps(NamedTuple):
    """Next steps (n, P) of some searches, the gain of each by the quadratic model, and the slopes (n, P) there."""

    step: Doubles
    gain: Doubles
    slope: Doubles

    def of(self, which: np.ndarray) -> _Steps:
        """Steps of some of the searches."""
        return _Steps(self.step[which], self.gain[which], self.slope[which])


class Searches:
    """G searches for a minimum.

    Parameters
    ----------
    points, objective
        Where they begin: (G, P), and the objective there.
    longest : (P,) ndarray
        The longest step in each direction.

    Attributes
    ----------
    points, objective
        Where each search has come to.
    status : (G,) ndarray
        End of each search.
    n_iterations : (G,) ndarray
        The steps that were tried.
    first_scale : (G, P) ndarray
        The scale of the Hessian where each search began.
    """

    def __init__(self, evaluate: Evaluate, points: Doubles, objective: Objective, longest: Doubles, precision: Precision):
        self._evaluate, self._longest, self._precision = evaluate, longest, precision
        self.points, self.objective = points.copy(), objective
        self.status = np.where(objective.finite, RUNNING, WITHOUT_START)
        self.n_iterations = np.zeros(len(points), int)
        self._damping, self._growth = np.zeros(points.shape), np.full(len(points), 4.0)
        self.first_scale = objective.scale
        self._at_edge = np.zeros(len(points), bool)  # is there no likelihood where the last step led that was refused?

    def run(self, limit: int) -> None:
        """Iterate until all searches have ended, or have tried so many steps."""
        with bar(len(self.points), what="done") as advance:
            for i in range(limit + 1):
                active = np.flatnonzero(self.status == RUNNING)
                steps = self._next_steps(active)
                go_on = ~self._ended(active, steps)
                advance(len(active) - int(go_on.sum()))
                active, steps = active[go_on], steps.of(go_on)
                if not active.size or i == limit:
                    break
                self.n_iterations[active] += 1
                self._judge(active, steps, self._evaluate(self.points[active] + steps.step, active))

    def again(self, which: np.ndarray, points: Doubles, limit: int) -> None:
        """Search once more from other points, and keep the better results."""

        def evaluate(points: Doubles, sets: np.ndarray) -> Objective:
            return self._evaluate(points, which[sets])

        other = Searches(evaluate, points, self._evaluate(points, which), self._longest, self._precision)
        other.run(limit)
        self.n_iterations[which] += other.n_iterations
        error = self._precision.noise * (1 + np.abs(other.objective.value))
        better = other.objective.finite & (other.objective.value < self.objective.value[which] - error)
        better &= (other.status == CONVERGED) | (other.status == AT_KINK)
        self.points[which[better]], self.status[which[better]] = other.points[better], other.status[better]
        self.objective[which[better]] = other.objective[better]

    def go_on_without(self, i: int, which: np.ndarray, limit: int) -> None:
        """Search on in the other parameters, where parameter i has come to a kink: beside a cusp all steps become short."""
        others = [j for j in range(self.points.shape[1]) if j != i]

        def whole(points: Doubles, sets: np.ndarray) -> Doubles:
            made: Doubles = self.points[which[sets]].copy()
            made[:, others] = points
            return made

        def evaluate(points: Doubles, sets: np.ndarray) -> Objective:
            return self._evaluate(whole(points, sets), which[sets]).of(others)

        begin = self.objective[which].of(others)
        rest = Searches(evaluate, self.points[which][:, others], begin, self._longest[others], self._precision)
        rest.run(limit)
        error = self._precision.noise * (1 + np.abs(rest.objective.value))
        better = rest.objective.finite & (rest.objective.value < self.objective.value[which] - error)
        sets = np.flatnonzero(better)
        if sets.size:
            self.points[which[sets]] = whole(rest.points[sets], sets)
            self.objective[which[sets]] = self._evaluate(self.points[which[sets]], which[sets])

    def _next_steps(self, active: np.ndarray) -> _Steps:
        """The next steps; damping is added until all systems are positive definite."""
        here, damping = self.objective[active], self._damping[active]
        scale, places = here.scale, range(damping.shape[1])
        systems = here.hessian.copy()
        systems[:, places, places] += damping * scale
        step, definite = solve(systems, -here.gradient)
        while (bad := np.flatnonzero(~definite & (damping < LARGEST_DAMPING).any(-1))).size:
            damping[bad] = np.minimum(np.maximum(10 * damping[bad], SMALLEST_DAMPING), LARGEST_DAMPING)
            systems = here.hessian[bad]
            systems[:, places, places] += damping[bad] * scale[bad]
            step[bad], definite[bad] = solve(systems, -here.gradient[bad])
        self._damping[active] = damping
        step[~definite] = 0
        step *= (self._longest / np.maximum(np.abs(step), 1e-300)).min(-1, initial=1)[:, None]
        change = np.einsum("gij,gj->gi", here.hessian, step)
        gain = -np.einsum("gi,gi->g", here.gradient + 0.5 * change, step)
        return _Steps(step, gain, here.gradient + change)

    def _ended(self, active: np.ndarray, steps: _Steps) -> Mask:
        """Mask of the searches that end here."""
        heaviest = self._damping[active].max(-1, initial=0)
        small, heavy = steps.gain <= self._precision.gain, heaviest > HEAVY_DAMPING
        stuck: Mask = (heavy & (steps.gain <= self._precision.gain_at_kink)) | (heaviest >= LARGEST_DAMPING)
        if not (small | stuck).any():
            return stuck
        here = self.objective[active]
        whole, definite = solve(here.hessian, -here.gradient)
        curvatures, directions = self._bends(here, small | stuck)
        convex = definite & (curvatures > ROUNDING_CURVATURE)
        saddle = small & ~stuck & ~heavy & (curvatures < -DOWNWARD_CURVATURE)
        with np.errstate(invalid="ignore", over="ignore"):
            left = -0.5 * np.einsum("gi,gi->g", here.gradient, whole)
            near = (whole**2 * here.scale).sum(-1) <= NEGLIGIBLE_STEP**2
        done: Mask = (small | stuck) & convex & (left <= self._precision.gain)
        level: Mask = small & ~convex & ~heavy & ~saddle  # as between the two middle observations of a median
        self.status[active[level]] = AT_KINK
        self.status[active[stuck]] = np.where(self._at_edge[active[stuck]], AT_EDGE, AT_KINK)
        self.status[active[done]] = CONVERGED
        last = done & near
        self.points[active[last]] += whole[last]  # too small a step to be worth an evaluation
        length = 1 / np.sqrt(1 + heaviest[saddle])
        steps.step[saddle] = directions[saddle] * length[:, None]
        steps.gain[saddle] = -0.5 * curvatures[saddle] * length**2
        steps.slope[saddle] = here.gradient[saddle] + np.einsum("gij,gj->gi", here.hessian[saddle], steps.step[saddle])
        return done | stuck | level

    def _bends(self, here: Objective, which: np.ndarray) -> tuple[Doubles, Doubles]:
        """Least curvature of the Hessian, for some searches, in units of the metric, and its direction, of length 1 there."""
        curvatures, directions = np.ones(len(which)), np.zeros_like(here.gradient)
        if not directions.size:  # there is nothing to search for
            return curvatures, directions
        root = np.sqrt(here.scale[which])
        with np.errstate(all="ignore"):
            scaled = here.hessian[which] / (root[:, :, None] * root[:, None, :])
        found, along = np.linalg.eigh(np.nan_to_num(scaled, posinf=1e300, neginf=-1e300))
        curvatures[which], directions[which] = found[:, 0], along[:, :, 0] / root
        return curvatures, directions

    def _judge(self, active: np.ndarray, steps: _Steps, trial: Objective) -> None:
        """Accept the steps that gain enough of the quadratic model's gain, and change the damping."""
        before, finite = self.objective.value[active], trial.finite
        with np.errstate(invalid="ignore"):
            gained = np.where(finite, before - trial.value, -np.inf)
            error = self._precision.noise * (1 + np.abs(before))
            ratio = np.where(steps.gain > error, gained / np.maximum(steps.gain, 1e-300), np.where(gained > -error, 1.0, -1.0))
            wrong = np.abs((trial.gradient - steps.slope) * steps.step)  # what it makes of the value
            blamed = (wrong >= BLAMED_SHARE * wrong.max(-1, keepdims=True, initial=0)) | ~finite[:, None]
        taken = ratio > 1e-4
        damping, growth = self._damping[active], self._growth[active, None]
        good, poor = taken & (ratio > 0.75), taken & (ratio < 0.25)
        damping[good] = np.where(damping[good] > SMALLEST_DAMPING, 0.1 * damping[good], 0)
        more = np.minimum(np.maximum(np.where(taken[:, None], 2, growth) * damping, SMALLEST_DAMPING), LARGEST_DAMPING)
        self._damping[active] = np.where((poor | ~taken)[:, None] & blamed, more, damping)
        self._growth[active] = np.where(taken, 4, 2 * growth[:, 0])
        self._at_edge[active[~taken]] = ~finite[~taken]
        moved = active[taken]
        self.points[moved] += steps.step[taken]
        self.objective[moved] = trial[taken]
