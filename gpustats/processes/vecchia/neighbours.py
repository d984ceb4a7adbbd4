"""Exact search for the nearest of the points before each point."""

from __future__ import annotations

import numpy as np

from ...runtime import thresholds
from ...runtime.base import Runtime
from ..local.nearest import Nearest

#: Points of a prefix of which all pairs are compared.
ALL_PAIRS_LIMIT = thresholds.PROCESSES_ALL_PAIRS_LIMIT.value
#: Numbers of neighbours that are looked at at a time.
NEIGHBOURS_AT_ONCE = 1 << 24


def earlier_neighbours(runtime: Runtime, x: np.ndarray, m: int) -> np.ndarray:
    """Neighbours of each row of x: the m nearest rows before it, nearest first, and -1 where there are fewer: (n, m) int32.

    Parameters
    ----------
    runtime : Runtime
        Device that may search.
    x : (n, p) ndarray of float64

    Notes
    -----
    The rows from n to 2n look for neighbours among the first 2n, so that about half of what is nearest lies before them; where
    that is too few, for more of them. Of equal distances, rows that come first are nearer.
    """
    n = len(x)
    found = np.full((n, m), -1, np.int32)
    if not m:
        return found
    for i in range(1, min(n, ALL_PAIRS_LIMIT)):
        squares = ((x[:i] - x[i]) ** 2).sum(1)
        nearest = np.argsort(squares, kind="stable")[:m]
        found[i, : len(nearest)] = nearest
    first = ALL_PAIRS_LIMIT
    while first < n:
        end = min(2 * first, n)
        search = search_among(runtime, x[:end])
        left, asked = np.arange(first, end), min(2 * m + 8, end)
        while left.size:
            lacking = []
            for part in np.array_split(left, -(-left.size * asked // NEIGHBOURS_AT_ONCE)):
                rows = nearest_rows(search, x[part], asked)
                earlier = rows < part[:, None]
                # Those before come first, in the order in which they were.
                order = np.argsort(~earlier, axis=1, kind="stable")[:, :m]
                enough = earlier.sum(1) >= m
                found[part[enough]] = np.take_along_axis(rows, order, 1)[enough]
                lacking.append(part[~enough])
            left, asked = np.concatenate(lacking), min(2 * asked, end)
        first = end
    return found


def search_among(runtime: Runtime, x: np.ndarray) -> Nearest:
    """Search for the nearest rows of x, on the device or by a tree on the host."""
    return Nearest(runtime, x, "auto" if runtime.device.double else "tree")


def nearest_rows(search: Nearest, locations: np.ndarray, k: int) -> np.ndarray:
    """Nearest k rows of each location, nearest first: (m, k) int32 on the host."""
    runtime = search.runtime
    return runtime.to_host(search.find(runtime.to_device(np.ascontiguousarray(locations)), k, start=k))
