"""An augmented Lagrangian of an objective and constraints, also of such that are known by their distributions only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import special


@dataclass(frozen=True)
class Lagrangian:
    """f(x) + λ'c(x) + sum_j max(c_j(x), 0)² / (2 ρ), where constraints that are `equal` count as c_j(x)²."""

    multipliers: np.ndarray  # λ, (k,)
    penalty: float  # ρ
    equal: np.ndarray  # (k,) of bool

    def value(self, f: np.ndarray, c: Iterable[np.ndarray]) -> np.ndarray:
        """Of objectives, and of the k constraints, each an array like these."""
        total = np.array(f)
        for of_one, multiplier, equal in zip(c, self.multipliers, self.equal, strict=True):
            over = of_one if equal else np.maximum(of_one, 0)
            total += multiplier * of_one + over * over / (2 * self.penalty)
        return total

    def expectation(self, f: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """With an objective of the means f, and constraints that are normal, of these means and scales (…, k)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(scale > 0, mean / scale, np.copysign(np.inf, mean))
        square, density = mean**2 + scale**2, np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
        over = np.where(self.equal, square, square * special.ndtr(u) + mean * scale * density)
        return f + mean @ self.multipliers + over.sum(-1) / (2 * self.penalty)

    def improvement(self, best: float, mean: np.ndarray, scale: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """E max(best - value, 0), where objective and constraints, in columns (m, 1 + k), are normal.

        Of standard normal draws, (draws, 1 + k), that are the same for all m.
        """
        found = np.empty(len(mean))
        for i in range(0, len(mean), 128):  # so that all of it stays in a cache
            columns = zip(mean[i : i + 128].T, scale[i : i + 128].T, normal.T, strict=True)
            f, *c = (m + s * z[:, None] for m, s, z in columns)
            found[i : i + 128] = np.maximum(best - self.value(f, c), 0).mean(0)
        return found

    def next(self, f: np.ndarray, c: np.ndarray, valid: np.ndarray, violated: np.ndarray) -> Lagrangian:
        """With another multiplier and penalty, after the best of all runs; while none is valid, after the least violation.

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
            return Lagrangian(
                np.zeros_like(self.multipliers), float(np.clip(wanted, 0.5 * self.penalty, 0.9 * self.penalty)), self.equal
            )
        best = self.value(f, c.T).argmin()
        moved = self.multipliers + c[best] / self.penalty
        penalty = self.penalty / 2 if violated[best].any() else self.penalty
        return Lagrangian(np.where(self.equal, moved, np.maximum(moved, 0)), penalty, self.equal)


def first_penalty(violations: np.ndarray) -> float:
    """The penalty with which the least violation counts 1, of (n, k) constraints that are 0 where they are met."""
    squares = (violations**2).sum(1)
    return float(squares[squares > 0].min(initial=np.inf) / 2) if squares.any() else 0.5
