"""Sums for derivatives, over some rows of the lower triangle of pairs of points."""

from __future__ import annotations

import numpy as np

from ..evaluation.placement import empty
from ..linalg.matrix import Matrix
from ..runtime.types import Array
from .hyperparameters import Hyperparameters
from .pairs import SUMS, Pairs, Slots


def start_sums(
    pairs: Pairs, x: Array, values: Hyperparameters, inverse: Matrix, alpha: Array, weight: Array, slots: Slots, lift: float,
    diagonal: Array,
) -> list[Array]:  # fmt: skip
    """Start the sums of `Pairs.gradient` over the last rows of a triangle; other arguments are as there.

    Parameters
    ----------
    x : (n, columns) array
        The points up to the last row.
    inverse : Matrix
        Last rows of the triangle, (m, n).
    alpha : (n, 1) array
    diagonal : array
        Its numbers n - m to n - 1 become those of W.

    Returns
    -------
    list of (blocks, slots.count) array
        The sums of each pass, to be summed over the blocks of threads.
    """
    kernel = pairs.kernel(SUMS, wrt=slots.wrt, strip=True)
    tile, n = pairs.layout.tile, x.shape[0]
    tiles = -(-n // tile)
    blocks = min(tiles * -(-inverse.rows // tile), pairs.most_blocks)
    points, numbers = pairs.operands(x, x, values)
    found = []
    for first in slots.passes:
        found.append(empty(pairs.runtime, (blocks, slots.count), np.float64))
        kernel(
            (blocks, 1), *pairs.at(found[-1]), *pairs.at(diagonal), inverse.handle, inverse.offset, inverse.stride,
            *pairs.at(alpha), *pairs.at(weight), lift, tiles, first, n - inverse.rows, *points, *numbers,
        )  # fmt: skip
    if pairs.runtime.host_visible:
        pairs.runtime.synchronize()
    return found
