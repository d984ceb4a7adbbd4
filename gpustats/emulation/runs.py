"""Runs of a costly function under constraints, in units that make them comparable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class Runs:
    """Runs of a function so far, at points of the unit cube.

    Parameters
    ----------
    function, objective, known, equal, tolerance
        As for `minimize`.
    bounds : (p, 2) ndarray

    Attributes
    ----------
    unit : (n, p) ndarray
    f, c : (n,) and (n, k) ndarray
        Objectives and constraints, those that are known behind the others.
    emulated : int
        Number of constraints that are not known.
    of_f, of_c : float and (k,) ndarray
        Divisors of objective and constraints, where they are `scaled`.
    equal, tolerance : (k,) ndarray
        Which constraints are to be 0, and how far from that those in their units may be.
    """

    def __init__(
        self, function: Callable[[np.ndarray], Any], objective: Callable[[np.ndarray], ArrayLike] | None,
        known: Callable[[np.ndarray], ArrayLike] | None, bounds: np.ndarray, equal: ArrayLike, tolerance: ArrayLike,
    ) -> None:  # fmt: skip
        self._function, self._objective, self._known = function, objective, known
        self._equal, self._tolerance = equal, tolerance
        self._low, self._width = bounds[:, 0], np.ptp(bounds, axis=1)
        self.emulated = 0
        self.unit, self.f, self.c = np.empty((0, len(bounds))), np.empty(0), np.empty((0, 0))
        self.of_f = 1.0
        self.of_c = np.empty(0)

    def __len__(self) -> int:
        return len(self.f)

    @property
    def knows_objective(self) -> bool:
        return self._objective is not None

    def within(self, x: np.ndarray) -> np.ndarray:
        """Points of the unit cube, from points in the function's units."""
        return (x - self._low) / self._width

    def outside(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube in the function's units."""
        return self._low + unit * self._width

    def objectives(self, unit: np.ndarray) -> np.ndarray:
        """Values of the objective that is known, at points of the unit cube."""
        assert self._objective is not None
        found = np.asarray(self._objective(self.outside(unit)), np.float64)
        if found.shape != (len(unit),):
            raise ValueError(f"objective returned shape {found.shape} for {len(unit)} points: it must be ({len(unit)},)")
        return found

    def known(self, unit: np.ndarray) -> np.ndarray:
        """Constraints that are known, at points of the unit cube, (m, k); k may be 0."""
        m = len(unit)
        if self._known is None:
            return np.empty((m, 0))
        found = np.asarray(self._known(self.outside(unit)), np.float64)
        found = found[:, None] if found.shape == (m,) else found
        before = self.c.shape[1] - self.emulated if len(self) else None
        if found.ndim != 2 or len(found) != m or (before is not None and found.shape[1] != before):
            wanted = f"({m},) or ({m}, k)" if before is None else f"({m}, {before}), as before"
            raise ValueError(f"known returned shape {found.shape} for {m} points: it must be {wanted}")
        if not np.isfinite(found).all():
            at = self.outside(unit)[np.flatnonzero(~np.isfinite(found).all(1))[0]]
            raise ValueError(f"known returned a number that is not finite at the point {at.tolist()}")
        return found

    def add(self, unit: np.ndarray) -> None:
        """Run the function at one more point."""
        x = self.outside(unit)
        found = self._function(x)
        if self.knows_objective:
            f, c = self.objectives(unit[None])[0], found
        else:
            try:
                f, c = found
            except (TypeError, ValueError):
                raise ValueError(f"function must return the objective and the constraints, two things, not {found!r}") from None
        c, of_known = np.atleast_1d(np.asarray(c, np.float64)), self.known(unit[None])[0]
        if np.ndim(f) or c.ndim != 1 or not np.isfinite([f, *c]).all():
            raise ValueError(f"function returned {f}, {c} at {x}: the objective must be a finite number, constraints (k,) such")
        if len(self) and len(c) != self.emulated:
            raise ValueError(f"function returned {len(c)} constraints at {x}, and {self.emulated} before")
        self.emulated, c = len(c), np.append(c, of_known)
        self.c = np.vstack([self.c, c]) if len(self) else c[None]
        self.unit, self.f = np.vstack([self.unit, unit]), np.append(self.f, f)

    def scale(self) -> None:
        """Set the units of objective and constraints to the spreads of the runs so far."""
        self.of_f = self.f.std() or 1.0
        spreads = np.sqrt((self.c**2).mean(0))
        self.of_c = np.where(spreads > 0, spreads, 1.0)
        k = len(self.of_c)
        for name, value in (("equal", self._equal), ("tolerance", self._tolerance)):
            if np.shape(value) not in ((), (k,)):
                raise ValueError(f"{name} has shape {np.shape(value)}, and there are {k} constraints: it must be one or ({k},)")
        self.equal = np.broadcast_to(np.asarray(self._equal, bool), k)
        self.tolerance = np.where(self.equal, self._tolerance, 0.0) / self.of_c

    @property
    def scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and constraints in their units."""
        return self.f / self.of_f, self.c / self.of_c

    @property
    def violated(self) -> np.ndarray:
        """Mask of the constraints that are not met, (n, k)."""
        return np.where(self.equal, np.abs(self.c) > self._tolerance, self.c > 0)

    @property
    def valid(self) -> np.ndarray:
        """Mask of the runs that meet all constraints, (n,)."""
        return np.logical_not(self.violated.any(1))

    @property
    def least(self) -> float:
        """Best valid objective, or infinity."""
        return float(self.f[self.valid].min(initial=np.inf))
