"""Augmented Lagrangian of an objective and constraints, also of constraints known only by their distributions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special


@dataclass(frozen=True)
class Lagrangian:
    """Augmented Lagrangian f(x) + λ'c(x) + sum_j max(c_j(x), 0)² / (2 ρ); constraints that are `equal` count as c_j(x)².

    With `slack`, inequalities have slack variables s >= 0, c(x) + s = 0, of the values that are best for each x: that is
    f(x) + sum_j (max(c_j(x) + ρ λ_j, 0)² - ρ² λ_j²) / (2 ρ).
    """

    multipliers: np.ndarray  # λ, (k,)
    penalty: float  # ρ
    equal: np.ndarray  # (k,) of bool
    slack: bool = False

    @property
    def _shifts(self) -> np.ndarray:
        """Distance below 0 from which constraints count, with slack variables, (k,)."""
        return np.where(self.equal, 0.0, self.penalty * self.multipliers * self.slack)

    @property
    def _slopes(self) -> np.ndarray:
        """Coefficients of the linear terms of the constraints, (k,)."""
        return np.where(self.equal | (not self.slack), self.multipliers, 0.0)

    def value(self, f: np.ndarray, c: Iterable[np.ndarray]) -> np.ndarray:
        """Lagrangian of objectives, and of the k constraints, each an array like the objectives."""
        total = f - (self._shifts**2).sum() / (2 * self.penalty)
        for of_one, slope, shift, equal in zip(c, self._slopes, self._shifts, self.equal, strict=True):
            over = of_one if equal else np.maximum(of_one + shift, 0)
            total += slope * of_one + over * over / (2 * self.penalty)
        return total

    def expectation(self, f: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Expected Lagrangian for an objective of the means f, and normal constraints of these means and scales (…, k)."""
        above = mean + self._shifts
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(scale > 0, above / scale, np.copysign(np.inf, above))
        square, density = above**2 + scale**2, np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
        over = np.where(self.equal, square, square * special.ndtr(u) + above * scale * density) - self._shifts**2
        return f + mean @ self._slopes + over.sum(-1) / (2 * self.penalty)

    def improvement(self, best: float, mean: np.ndarray, scale: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Expected improvement E max(best - value, 0), where objective and constraints, in columns (m, 1 + k), are normal.

        An average over standard normal draws, (draws, 1 + k), that are the same for all m.
        """
        found = np.empty(len(mean))
        for i in range(0, len(mean), 128):  # so that all of it stays in a cache
            columns = zip(mean[i : i + 128].T, scale[i : i + 128].T, normal.T, strict=True)
            f, *c = (m + s * z[:, None] for m, s, z in columns)
            found[i : i + 128] = np.maximum(best - self.value(f, c), 0).mean(0)
        return found

    def next(self, f: np.ndarray, c: np.ndarray, valid: np.ndarray, violated: np.ndarray) -> Lagrangian:
        """Lagrangian with another multiplier and penalty, after the best of all runs, or the least violation if none is valid.

        Parameters
        ----------
        f, c : (n,) and (n, k) ndarray
        valid : (n,) ndarray of bool
            Which runs meet all constraints.
        violated : (n, k) ndarray of bool
            Which constraints they do not meet.
        """
        if not valid.any():
            wanted = first_penalty(np.where(violated, c, 0))
            penalty = float(np.clip(wanted, 0.5 * self.penalty, 0.9 * self.penalty))
            return replace(self, multipliers=np.zeros_like(self.multipliers), penalty=penalty)
        best = self.value(f, c.T).argmin()
        moved = self.multipliers + c[best] / self.penalty
        penalty = self.penalty / 2 if violated[best].any() else self.penalty
        return replace(self, multipliers=np.where(self.equal, moved, np.maximum(moved, 0)), penalty=penalty)


def first_penalty(violations: np.ndarray) -> float:
    """Penalty with which the least violation counts 1, of (n, k) constraints that are 0 where they are met."""
    squares = (violations**2).sum(1)
    return float(squares[squares > 0].min(initial=np.inf) / 2) if squares.any() else 0.5
