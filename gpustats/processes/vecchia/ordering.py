"""Orders of points, in which each is conditioned on points before it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

#: Points up to which the maximum-minimum-distance order is exact.
EXACT_ORDER_LIMIT = 4096


def ordered(ordering: ArrayLike, x: np.ndarray, seed: int = 0) -> np.ndarray:
    """Permutation of the rows of x, (n,) int64.

    Parameters
    ----------
    ordering : {"maxmin", "random", "coordinate"} or (n,) array_like of int
        See `Vecchia`.
    x : (n, p) ndarray
    seed : int
        Seed of the random orders.
    """
    n = len(x)
    if isinstance(ordering, str):
        if ordering not in _KINDS:
            raise ValueError(f"ordering = {ordering!r}: there are {', '.join(map(repr, _KINDS))}, and permutations of {n} rows")
        return _KINDS[ordering](x, np.random.default_rng(seed)).astype(np.int64)
    order = np.asarray(ordering)
    if order.shape != (n,) or order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"ordering has shape {order.shape} and dtype {order.dtype}: it must be a permutation of 0 … {n - 1}")
    return order.astype(np.int64)


def _maxmin(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Order that begins with the point nearest to the mean, then always takes the point farthest from all before.

    Of more than `EXACT_ORDER_LIMIT` points, the first few hundred are chosen so from a sample of that size. Then half as many
    as there are so far are added at a time, from ten times as many of the rest: points that are farther away than the median
    and than half of the largest distance, and that far from each other; and again, with the distances that are left.
    """
    n = len(x)
    if n <= EXACT_ORDER_LIMIT:
        return _farthest(x, n)
    shuffled = rng.permutation(n)
    order = shuffled[_farthest(x[shuffled[:EXACT_ORDER_LIMIT]], EXACT_ORDER_LIMIT // 8)]
    rest = shuffled[~np.isin(shuffled, order)]
    while len(rest):
        sample = rest[: 10 * len(order)]
        chosen = sample[_spread(x[sample], x[order], len(order) // 2)]
        order = np.concatenate([order, chosen])
        taken = np.zeros(n, bool)
        taken[chosen] = True
        rest = rest[~taken[rest]]
    return order


def _spread(x: np.ndarray, before: np.ndarray, count: int) -> np.ndarray:
    """Rows of x, about `count` or all, far from one another and from the rows `before`, the farthest first."""
    distances = cKDTree(before).query(x, workers=-1)[0]  # from now on bounds of the distances from all that is chosen
    left, found = np.arange(len(x)), np.zeros(0, np.int64)
    while len(left) and len(found) < count:
        bound = max(np.median(distances[left]), distances[left].max() / 2)
        far = left[distances[left] >= bound]
        if len(found):
            distances[far] = np.minimum(distances[far], cKDTree(x[found]).query(x[far])[0])
            far = far[distances[far] >= bound]
        far = far[np.argsort(-distances[far], kind="stable")]
        kept = _apart(x[far], bound)
        found = np.concatenate([found, far[kept]])
        distances[far] = np.where(kept, -1, np.minimum(distances[far], bound))
        left = left[distances[left] >= 0]
    return found


def _farthest(x: np.ndarray, count: int) -> np.ndarray:
    """First `count` rows in the exact order."""
    order = np.empty(count, np.int64)
    squares = np.full(len(x), np.inf)
    at = int(np.argmin(((x - x.mean(0)) ** 2).sum(1)))
    for k in range(count):
        order[k] = at
        squares = np.minimum(squares, ((x - x[at]) ** 2).sum(1))
        squares[at] = -1
        at = int(np.argmax(squares))
    return order


def _apart(x: np.ndarray, bound: float) -> np.ndarray:
    """Mask of the points that are kept if, in their order, each within `bound` of a kept one is left out."""
    if bound <= 0:
        return np.ones(len(x), bool)
    first, later = cKDTree(x).query_pairs(bound, output_type="ndarray").T  # first < later
    kept, decided = np.zeros(len(x), bool), np.zeros(len(x), bool)
    while not decided.all():
        waiting = np.zeros(len(x), bool)
        waiting[later] = True  # for an earlier one that is not decided
        new = ~waiting & ~decided
        kept |= new
        decided |= new
        decided[later[new[first]]] = True
        left = ~decided[first] & ~decided[later]
        first, later = first[left], later[left]
    return kept


_KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "maxmin": _maxmin,
    "random": lambda x, rng: rng.permutation(len(x)),
    "coordinate": lambda x, rng: np.argsort(x.sum(1), kind="stable"),
}
