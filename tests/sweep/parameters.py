"""Sets of parameters: log-uniform from 1e-8 to 1e8, at corners of their domains, close to one another, and ordinary ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from references_all import REFERENCES

SMALLEST, LARGEST = 1e-8, 1e8
MOST_TRIED = 40  # times as many sets as are wanted, where parameters rarely go together


def number(rng: np.random.Generator, words: set[str], n: int) -> np.ndarray:
    """n random values in the domain of these words."""
    magnitude = np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST), n))
    ordinary = np.exp(rng.normal(0, 1.5, n))
    size = np.where(rng.random(n) < 0.5, magnitude, ordinary)
    if "unit" in words and "integer" not in words:
        close = np.where(rng.random(n) < 0.5, size.clip(max=0.5 / size.clip(1)), 1 - np.minimum(size, 1 / size) / 2)
        value = np.where(rng.random(n) < 0.4, rng.random(n), close)
        corners = [0.0, 1.0, 0.5, SMALLEST, 1 - SMALLEST]
    elif "integer" in words:
        value = np.floor(np.where(size < 1, rng.integers(0, 30, n), size))
        value = value if words & {"positive", "nonnegative", "unit"} else value * rng.choice([-1, 1], n)
        value = value.clip(max=1) if "unit" in words else value
        corners = [0.0, 1.0, 2.0, 3.0]
    elif words & {"positive", "nonnegative"}:
        value, corners = size, [0.0, 1.0, 2.0, 0.5, 3.0, 1 + 2**-20, SMALLEST, LARGEST]
    else:
        value, corners = size * rng.choice([-1, 1], n), [0.0, 1.0, -1.0, 2.0, 0.5, SMALLEST, LARGEST, -LARGEST]
    value = np.where(rng.random(n) < 0.2, rng.choice(corners, n), value)
    return np.where(value == 0, 1.0, value) if "positive" in words else value


def sets(density: Any, rng: np.random.Generator, n: int, dtype: type) -> tuple[np.ndarray, ...]:
    """Up to n sets for which the density is not nan, as arrays of `dtype`, one for each parameter."""
    words = [set(a.words) for a in density.definition.arguments[1:]]
    if not words:
        return ()
    kept: list[tuple[np.ndarray, ...]] = []
    count = 0
    for _ in range(MOST_TRIED):
        drawn = _related(rng, words, [number(rng, w, n) for w in words])
        if (own := _ordinary(density, rng, n)) is not None:
            swapped = rng.random(n) < 0.25
            drawn = [np.where(swapped, o, d) for o, d in zip(own, drawn)]
        columns = tuple(d.astype(np.float32).astype(dtype) if dtype == np.float32 else d.astype(dtype) for d in drawn)
        with np.errstate(all="ignore"):
            good = ~np.isnan(density.logpdf(dtype(1), *columns))
        kept.append(tuple(c[good] for c in columns))
        count += int(good.sum())
        if count >= n:
            break
    return tuple(np.concatenate(column)[:n] for column in zip(*kept))


def _related(rng: np.random.Generator, words: list[set[str]], columns: list[np.ndarray]) -> list[np.ndarray]:
    """In a third of the sets one parameter lies close to another, or at a far larger one."""
    n = len(columns[0])
    for i in range(1, len(columns)):
        other, own = columns[rng.choice([i - 1, rng.integers(i)])], columns[i]
        distance = np.exp(rng.uniform(np.log(1e-12), np.log(LARGEST), n))
        relative = other * (1 + np.minimum(distance, 1) * rng.choice([-1, 1], n))
        moved = np.where(rng.random(n) < 0.5, relative, other + distance)
        moved = np.floor(moved) if "integer" in words[i] else moved
        if words[i] & {"positive", "nonnegative", "unit"}:
            moved = np.where(moved > 0, moved, own)
        if "unit" in words[i]:
            moved = np.where(moved <= 1, moved, own)
        columns[i] = np.where(rng.random(n) < 0.4, moved, own)
    return columns


def _ordinary(density: Any, rng: np.random.Generator, n: int) -> list[np.ndarray] | None:
    """Those of the density's reference, which go together."""
    reference = REFERENCES.get(density.name)
    return None if reference is None else [np.asarray(p, float) for p in reference.parameters(rng, n)]


#: Probabilities at which quantiles are asked for.
LEVELS = {
    np.float64: [1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 0.5, 0.75, 0.99, 1 - 2**-20,
                 1 - 1e-10, 1 - 2**-50],
    np.float32: [1e-37, 1e-30, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 0.5, 0.75, 0.99, 1 - 2**-10, 1 - 2**-20],
}  # fmt: skip


def levels(rng: np.random.Generator, k: int, dtype: type) -> np.ndarray:
    """Those of each of k sets, in increasing order: the ones above, each of them varied in some sets."""
    fixed = np.tile(np.asarray(LEVELS[dtype], dtype), (k, 1))
    varied = np.where(fixed < 0.01, fixed * rng.uniform(1, 30, fixed.shape), fixed)
    return np.sort(np.where(rng.random(fixed.shape) < 0.3, varied, fixed).astype(dtype), axis=1)
