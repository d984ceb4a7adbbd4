"""Ensemble of walkers: a sampler for densities without derivatives that are evaluated for many points at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..display.bars import bar

#: Largest factor by which a walker is stretched.
STRETCH = 2.0


class Walks(NamedTuple):
    """Positions of the walkers of an ensemble, and their log-densities."""

    points: np.ndarray  # (steps, walkers, dim)
    log_density: np.ndarray  # (steps, walkers)
    acceptance: float  # the part of the steps that were taken


def walk(
    log_density: Callable[[np.ndarray], np.ndarray], start: np.ndarray, steps: int, rng: np.random.Generator,
    progress: bool = False,
) -> Walks:  # fmt: skip
    """Walk of an ensemble of walkers, one half of them after the other.

    A walker moves along the line through it and one of the other half. The result does not depend on linear transformations
    of the space.

    Parameters
    ----------
    log_density : callable
        Log-density of points (S, dim), up to a constant: (S,), -inf where the density is 0.
    start : (walkers, dim) ndarray
        Where the density is positive; walkers are even in number, and more than 2 dim.
    progress : bool
        Whether a bar shows the steps.

    Notes
    -----
    Goodman & Weare (2010), Ensemble samplers with affine invariance, Comm. Appl. Math. Comput. Sci. 5:65-80.
    """
    points, (walkers, dim) = np.array(start, np.float64), start.shape
    if walkers % 2 or walkers <= 2 * dim:
        raise ValueError(f"walkers = {walkers}: there must be an even number of them, and more than {2 * dim}")
    level, half, taken = log_density(points), walkers // 2, 0
    if not np.isfinite(level).all():
        raise ValueError(f"the density at start[{np.flatnonzero(~np.isfinite(level))[0]}] is not positive, or not finite")
    places, levels = np.empty((steps, walkers, dim)), np.empty((steps, walkers))
    with bar(steps, progress, "steps") as advance:
        for step in range(steps):
            for moving, resting in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
                others = points[resting][rng.integers(half, size=half)]
                z = ((STRETCH - 1) * rng.random(half) + 1) ** 2 / STRETCH
                proposed = others + z[:, None] * (points[moving] - others)
                found = log_density(proposed)
                accepted = np.log(rng.random(half)) < (dim - 1) * np.log(z) + found - level[moving]
                points[moving] = np.where(accepted[:, None], proposed, points[moving])
                level[moving] = np.where(accepted, found, level[moving])
                taken += int(accepted.sum())
            places[step], levels[step] = points, level
            advance(1)
    return Walks(places, levels, taken / max(steps * walkers, 1))
