"""Arrays of values with leading axes: a value's own axes are the last ones, its core; the leading ones are its batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

Shape = tuple[int, ...]


def batch_of(array: np.ndarray, rank: int) -> Shape:
    """Shape of the leading axes, where a value has `rank` axes of its own."""
    return array.shape[: array.ndim - rank]


def core_of(array: np.ndarray, rank: int) -> Shape:
    """Shape of one value."""
    return array.shape[array.ndim - rank :]


def common_batch(arrays: Sequence[np.ndarray], ranks: Sequence[int]) -> Shape:
    """Shape to which the leading axes of all arrays broadcast."""
    return np.broadcast_shapes(*[a.shape[: a.ndim - r] for a, r in zip(arrays, ranks, strict=True)])


def along_one_axis(array: np.ndarray, rank: int, batch: Shape) -> np.ndarray:
    """Values of an array broadcast to `batch`, whose axes become one."""
    core = core_of(array, rank)
    return np.broadcast_to(array, batch + core).reshape(math.prod(batch), *core)


def fill(arrays: Sequence[np.ndarray], places: Iterable[int], values: Callable[[int], Sequence[ArrayLike]]) -> None:
    """Fill arrays at places along their first axes with the values of each place."""
    for place in places:
        for array, value in zip(arrays, values(place), strict=True):
            array[place] = value


def values_at(array: np.ndarray, rank: int, batch: Shape, place: tuple[int, ...] | np.ndarray) -> np.ndarray:
    """Values at an index, or where a mask is true, of an array broadcast to `batch`; a lone value as it is."""
    return array if array.ndim == rank else np.broadcast_to(array, batch + core_of(array, rank))[place]
