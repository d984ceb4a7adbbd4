"""Minimisation of costly functions under costly constraints, by an augmented Lagrangian and emulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ..density import densities
from ..display.bars import bar
from ..display.html import Record
from ..distribution.frozen import Frozen
from ..processes.covariance import Covariance
from ..processes.fitting import Seed
from ..processes.marginal import MarginalLikelihood
from ..processes.parameters import Given
from ..processes.prediction import Prediction
from ..processes.registry import covariances
from ..runtime.types import Mostly
from .emulator import Emulator
from .lagrangian import Lagrangian, first_penalty
from .runs import Runs

#: The noise that emulators of deterministic responses have, relative to their scale, and the bounds of their lengthscales.
NUGGET, LENGTHSCALES = 1e-3, (0.01, 10.0)
#: Share of candidates with an expected improvement up to which the expected Lagrangian decides.
FEW_IMPROVING = 0.01
#: Standard deviations, in the unit cube, of candidates around the best run.
CANDIDATE_RADII = np.array([0.1, 0.03, 0.01])


@dataclass(frozen=True, repr=False)
class ConstrainedMinimum(Record):
    """Best run of a function under constraints, and all runs.

    Attributes
    ----------
    x : (p,) ndarray or None
        The best point that meets all constraints; None if none does.
    fun : float
        The objective there, or infinity.
    points : (end, p) ndarray
    objectives : (end,) ndarray
    constraints : (end, k) ndarray
    valid : (end,) ndarray of bool
        Which runs meet all constraints.
    progress : (end,) ndarray
        The least objective of valid runs, after each run.
    multipliers : (end - start, k) ndarray
        λ of the augmented Lagrangian, by which each point after the first ones was chosen; (0, k) for the other criterion.
    penalties : (end - start,) ndarray
        ρ, of responses that are divided by their spreads.
    emulators : tuple of Emulator
        Emulators of the objective, then of the constraints, but for known ones, at the end. Their points lie in the unit cube.
    """

    x: Mostly
    fun: float
    points: np.ndarray
    objectives: np.ndarray
    constraints: np.ndarray
    valid: np.ndarray
    progress: np.ndarray
    multipliers: np.ndarray
    penalties: np.ndarray
    emulators: tuple[Emulator, ...]


class Surrogates:
    """Emulators of the objective and of the constraints, except those that are known.

    Parameters
    ----------
    cov, priors
        As for `minimize`.
    """

    def __init__(self, cov: Covariance | None, priors: Mapping[str, Frozen] | None) -> None:
        cov = covariances["rbf"] if cov is None else cov
        if set(cov.parameters) != {"amplitude", "lengthscale"}:
            raise ValueError(f"cov = {cov!r} must have an amplitude and a lengthscale, and nothing else that is not fixed")
        self._cov = cov.fix(amplitude=1.0)
        self._priors = {"lengthscale": densities["gamma"](3.0, 9.0)} if priors is None else priors
        self.emulators: list[Emulator] = []

    def _responses(self, runs: Runs) -> list[np.ndarray]:
        f, c = runs.scaled
        return [*([] if runs.knows_objective else [f]), *c.T[: runs.emulated]]

    def fit(self, runs: Runs) -> None:
        """Estimate lengthscales from all runs; the prior mean of constraints is 0, the border of being met."""
        made = []
        for i, y in enumerate(self._responses(runs)):
            of_objective = not i and not runs.knows_objective and np.ptp(y) > 0
            ml = MarginalLikelihood(self._cov, runs.unit, y, mean=y.mean() if of_objective else 0.0, student_t=True)
            before = self.emulators[i].values["lengthscale"] if self.emulators else np.full(runs.unit.shape[1], 0.3)
            fit = ml.fit(
                {"lengthscale": before, "sigma": NUGGET}, fixed=["sigma"], bounds={"lengthscale": LENGTHSCALES},
                priors=self._priors, errors=False,
            )  # fmt: skip
            made.append(Emulator(ml, **fit.values))
        self.emulators = made

    def update(self, runs: Runs) -> None:
        """Add the last run to the emulators."""
        for emulator, y in zip(self.emulators, self._responses(runs), strict=True):
            emulator.update(runs.unit[-1:], y[-1:])

    def predict(self, runs: Runs, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and scales of objective and constraints in their units, in columns (m, 1 + k)."""
        found = [emulator.predict(unit) for emulator in self.emulators]
        means, scales, certain = [p.mean for p in found], [p.scale for p in found], np.zeros(len(unit))
        if runs.knows_objective:
            means, scales = [runs.objectives(unit) / runs.of_f, *means], [certain, *scales]
        known = runs.known(unit) / runs.of_c[runs.emulated :]
        return np.stack([*means, *known.T], axis=1), np.stack([*scales, *[certain] * known.shape[1]], axis=1)


def candidates_of(runs: Runs, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points of the unit cube, one half of them around the best run; (count, p)."""
    over = np.where(runs.violated, runs.scaled[1], 0)
    best = np.lexsort([runs.f, (over**2).sum(1)])[0]
    half, p = count // 2, runs.unit.shape[1]
    steps = rng.choice(CANDIDATE_RADII, size=(half, 1)) * rng.normal(size=(half, p))
    return np.vstack([rng.random((count - half, p)), np.clip(runs.unit[best] + steps, 0, 1)])


def by_lagrangian(runs: Runs, lagrangian: Lagrangian, mean: np.ndarray, scale: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Expected improvement of the Lagrangian at candidates; where few have any, minus the expected Lagrangian."""
    f, c = runs.scaled
    gain = lagrangian.improvement(lagrangian.value(f, c.T).min(), mean, scale, normal)
    return gain if np.mean(gain > 0) > FEW_IMPROVING else -lagrangian.expectation(mean[:, 0], mean[:, 1:], scale[:, 1:])


def by_feasibility(runs: Runs, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Logarithms of the expected improvement on the best valid run at candidates, times the probability to be valid.

    Logarithms of the probability alone while no run is valid.
    """
    least, middle, spread = runs.least / runs.of_f, mean[:, 1:], np.maximum(scale[:, 1:], 1e-300)
    with np.errstate(divide="ignore"):
        gain = np.log(Prediction(mean[:, 0], scale[:, 0]).expected_improvement(least)) if np.isfinite(least) else 0.0
        inside = special.log_ndtr((runs.tolerance - middle) / spread)
        within = special.ndtr((runs.tolerance - middle) / spread) - special.ndtr((-runs.tolerance - middle) / spread)
        return gain + np.where(runs.equal, np.log(within), inside).sum(1)


def minimize(
    function: Callable[[np.ndarray], object], bounds: ArrayLike, *,
    objective: Callable[[np.ndarray], ArrayLike] | None = None, known: Callable[[np.ndarray], ArrayLike] | None = None,
    equal: ArrayLike = False, start: int = 10, end: int = 100, x: Given = None, cov: Covariance | None = None,
    priors: Mapping[str, Frozen] | None = None, refit: int = 10, candidates: int = 1000, draws: int = 512,
    tolerance: ArrayLike = 1e-2, criterion: str = "lagrangian", slack: bool = True, rng: Seed = None, progress: bool = False,
) -> ConstrainedMinimum:  # fmt: skip
    """Minimise a costly function under constraints that are as costly, in few runs.

    The constraints, and the objective if it is not known, are emulated by Gaussian processes of the runs so far. Of many
    candidates the next run takes the one that is expected to improve the augmented Lagrangian most.

    Parameters
    ----------
    function : callable
        Takes a point (p,) and returns the objective, a number, and the constraints, (k,): they are met where they are 0 or
        less. If the `objective` is known, it returns the constraints alone. There may be none, k = 0.
    bounds : (p, 2) array_like
        Lowest and highest value of each coordinate.
    objective : callable, optional
        The objective where it is known, and costs nothing: takes points (m, p) and returns (m,).
    known : callable, optional
        Further constraints, which are known, too: takes points (m, p) and returns (m, k') or (m,). Where there are some, they
        come behind the others in all that has k constraints.
    equal : bool or (k,) array_like of bool
        Which constraints are to be 0.
    start, end : int
        Runs at the beginning, at points of a Latin hypercube, and all of them.
    x : (m, p) array_like, optional
        Further points to begin with.
    cov : Covariance, optional
        Covariance function of an amplitude and a lengthscale, such as ``gs.matern52``. By default ``gs.rbf``.
    priors : mapping, optional
        Name -> density of the lengthscales, in units of the bounds' distances. By default ``gs.gamma(3.0, 9.0)``.
    refit : int
        After how many runs lengthscales are estimated anew. In between, emulators are updated.
    candidates : int
        Number of points that are compared in one call.
    draws : int
        Number of draws of the responses at each candidate, by quasi-Monte Carlo, rounded up to a power of two; all candidates
        have the same standard normal draws.
    tolerance : float or (k,) array_like
        Distance from 0 that constraints which are `equal` may have.
    criterion : {"lagrangian", "feasibility"}
        Criterion to compare candidates: the expected improvement of the augmented Lagrangian, or that of the objective times
        the probability that constraints are met, as if they were independent.
    slack : bool
        Whether the Lagrangian has a slack variable for each inequality: see the notes.
    rng : optional
        As for `numpy.random.default_rng`.
    progress : bool
        Whether a bar shows the runs, with the least objective so far that meets the constraints.

    Returns
    -------
    ConstrainedMinimum

    Raises
    ------
    ValueError
        Where shapes do not go together, or the function returns what is not finite.

    Notes
    -----
    Gramacy, Gray, Le Digabel, Lee, Ranjan, Wells & Wild (2016), Modeling an augmented Lagrangian for blackbox constrained
    optimization, Technometrics 58:1-11; `optim.auglag` of the R package laGP. With L(x) = f(x) + λ'c(x) +
    sum_j max(c_j(x), 0)² / (2 ρ), the next run is at the candidate of largest E max(L_min - L(x), 0), L_min being the least of
    all runs. Where next to no candidate has any, it is at that of the least E L(x), which has a closed form. Then λ becomes
    max(λ + c / ρ, 0) at the run with the least L, and ρ is halved if that does not meet all constraints. Unlike there,
    responses are divided by their spreads first, so that units do not matter, and half of the candidates lie around the best
    run.

    That L rewards runs for meeting constraints by more than they need to. With slack variables s >= 0 for inequalities, as in
    Picheny, Gramacy, Wild & Le Digabel (2016), Bayesian optimization under mixed constraints with a slack-variable augmented
    Lagrangian, L(x) = f(x) + λ'(c(x) + s) + (c(x) + s)² / (2 ρ), at the best s, max(-λ ρ - c(x), 0): what is met by more than
    λ ρ counts alike. There, and in laGP, s is that of the predicted c(x); here it is that of each draw.

    The other criterion is that of Schonlau, Welch & Jones (1998), Global versus local search in constrained optimization
    of computer models, and of laGP's `optim.efi`.

    Examples
    --------
    The toy problem of the paper, whose minimum is 0.5998:

    >>> import numpy as np, gpustats as gs
    >>> def constraints(x):
    ...     a, b = x
    ...     wave = 1.5 - a - 2 * b - 0.5 * np.sin(2 * np.pi * (a**2 - 2 * b))
    ...     return wave, a**2 + b**2 - 1.5
    >>> found = gs.gp.minimize(constraints, [(0, 1), (0, 1)], objective=lambda x: x.sum(1), end=30, rng=1)
    >>> round(found.fun, 1)
    0.6
    """
    from scipy.stats import qmc

    bounds = np.asarray(bounds, np.float64)
    if bounds.ndim != 2 or bounds.shape[1:] != (2,) or not np.isfinite(bounds).all() or (bounds[:, 0] >= bounds[:, 1]).any():
        raise ValueError(f"bounds has shape {bounds.shape}: it must be (p, 2), finite, the lower number of each pair first")
    if criterion not in ("lagrangian", "feasibility"):
        raise ValueError(f"criterion = {criterion!r}: there are 'lagrangian' and 'feasibility'")
    p, rng = len(bounds), np.random.default_rng(rng)
    further = np.empty((0, p)) if x is None else np.atleast_2d(np.asarray(x, np.float64))
    if further.shape[1] != p or ((further < bounds[:, 0]) | (further > bounds[:, 1])).any():
        raise ValueError(f"x has shape {further.shape}: it must be (m, {p}), within the bounds")
    first = start + len(further)
    if not 0 <= start or not 2 <= first < end or min(refit, candidates, draws) < 1:
        raise ValueError(
            f"start = {start}, with {len(further)} points x, end = {end}, refit = {refit}, candidates = {candidates}, draws = "
            f"{draws}: there must be 2 first runs at least, fewer than all, and refit, candidates and draws positive"
        )
    runs = Runs(function, objective, known, bounds, equal, tolerance)
    design = qmc.LatinHypercube(p, optimization="random-cd", rng=rng).random(start) if start else np.empty((0, p))
    with bar(end, progress, "runs") as advance:
        for unit in np.vstack([runs.within(further), design]):
            runs.add(unit)
            advance(1)
        runs.scale()
        k, surrogates = runs.c.shape[1], Surrogates(cov, priors)
        uniform = qmc.Sobol(1 + k, rng=rng).random_base2((draws - 1).bit_length())
        normal = special.ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
        lagrangian = Lagrangian(np.ones(k), first_penalty(np.where(runs.violated, runs.scaled[1], 0)), runs.equal, slack)
        passed = []
        while len(runs) < end:
            if (len(runs) - first) % refit == 0:
                surrogates.fit(runs)
            else:
                surrogates.update(runs)
            points = candidates_of(runs, candidates, rng)
            mean, scale = surrogates.predict(runs, points)
            if criterion == "lagrangian":
                lagrangian = lagrangian.next(*runs.scaled, runs.valid, runs.violated)
                passed.append(lagrangian)
                scores = by_lagrangian(runs, lagrangian, mean, scale, normal)
            else:
                scores = by_feasibility(runs, mean, scale)
            if runs.knows_objective:  # what cannot be the best valid run is not worth one
                scores[mean[:, 0] * runs.of_f >= runs.least] = -np.inf
            runs.add(points[scores.argmax()])
            advance(1, f"least {runs.least:.6g}" if np.isfinite(runs.least) else "")
    surrogates.update(runs)
    valid, least = runs.valid, runs.least
    points, reached = runs.outside(runs.unit), np.where(valid, runs.f, np.inf)
    return ConstrainedMinimum(
        points[reached.argmin()] if np.isfinite(least) else None, least, points, runs.f, runs.c, valid,
        np.minimum.accumulate(reached), np.reshape([g.multipliers * runs.of_f / runs.of_c for g in passed], (len(passed), k)),
        np.array([g.penalty for g in passed]), tuple(surrogates.emulators),
    )  # fmt: skip
