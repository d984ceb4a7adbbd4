"""Broadcasting of the arguments of one call: rows of observations and sets of parameters.

NumPy's broadcasting gives the shape of the result. A kernel sees it as a matrix of rows × sets, in which an argument is one
value, one for each set, or one for each row.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.code import PER_ROW, PER_SET, VALUE

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Pattern:
    """Rows and sets of one call."""

    shape: Shape  # batch shape of the result (of the terms, for a sum)
    n_rows: int
    n_sets: int
    row_stride: int  # distance in the result from row to row, in numbers
    set_stride: int  # the same from set to set of a table
    roles: tuple[str, ...]  # VALUE, PER_SET or PER_ROW for each argument
    #: for each argument the batch shape that it must be copied to first, or None where it is used as it lies
    expand: tuple[Shape | None, ...]
    own_rows: tuple[bool, ...]  # whether a PER_ROW argument has rows of its own for each set

    @property
    def by_rows(self) -> bool:
        return self.row_stride == 1 or self.n_sets == 1


#: What errors advise where shapes do not broadcast, about several sets of parameters.
FOR_TABLES = "for a table of N observations × K parameter sets pass x[:, None] with parameters of shape (K,)"
FOR_SUMS = "for the sums of K parameter sets pass parameters of shape (K, 1): the last axis is that of the observations"


def broadcast(names: Sequence[str], shapes: Sequence[Shape], advice: str = FOR_TABLES) -> Shape:
    """Shape to which NumPy broadcasts batch shapes; ValueError names the arguments and ends with the advice."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(f"{n} {s}" for n, s in zip(names, shapes, strict=True))
        raise ValueError(f"shapes do not broadcast: {listed}; {advice}") from None


def _varying(shape: Shape, full: Shape) -> tuple[bool, ...]:
    """Flags of the axes of `full` that are longer than 1: does an array of `shape` vary along the axis?"""
    padded = (1,) * (len(full) - len(shape)) + tuple(shape)
    return tuple(p > 1 for p, f in zip(padded, full, strict=True) if f > 1)


@functools.lru_cache(1024)
def table_pattern(names: tuple[str, ...], shapes: tuple[Shape, ...]) -> Pattern:
    """Rows and sets of an elementwise evaluation; the observation comes first."""
    shape = broadcast(names, shapes)
    size = math.prod(shape)
    axes = [n for n in shape if n > 1]
    varying = [_varying(s, shape) for s in shapes]
    nothing, everything = (False,) * len(axes), (True,) * len(axes)
    none = (None,) * len(shapes)
    one_axis = all(v in (nothing, everything) for v in varying)
    if not one_axis:
        for split in range(1, len(axes)):
            left = (True,) * split + (False,) * (len(axes) - split)
            right = tuple(not b for b in left)
            if not all(v in (nothing, left, right) for v in varying):
                continue
            n_left, n_right = math.prod(axes[:split]), math.prod(axes[split:])
            rows_left = varying[0] == left or (varying[0] == nothing and n_left >= n_right)
            rows = left if rows_left else right
            roles = tuple(VALUE if v == nothing else PER_ROW if v == rows else PER_SET for v in varying)
            own = (False,) * len(shapes)
            if rows_left:
                return Pattern(shape, n_left, n_right, n_right, 1, roles, none, own)
            return Pattern(shape, n_right, n_left, 1, n_right, roles, none, own)
    roles = tuple(VALUE if v == nothing else PER_ROW for v in varying)
    expand = tuple(None if v in (nothing, everything) else shape for v in varying)
    return Pattern(shape, size, 1, 1, size, roles, expand, (False,) * len(shapes))


@functools.lru_cache(1024)
def sum_pattern(names: tuple[str, ...], shapes: tuple[Shape, ...]) -> Pattern:
    """Rows and sets of a sum over the last axis."""
    shape = broadcast(names, shapes, FOR_SUMS)
    lead, n_rows = (shape[:-1], shape[-1]) if shape else ((), 1)
    roles, expand, own = [], [], []
    for s in shapes:
        padded = (1,) * (len(shape) - len(s)) + tuple(s)
        along_rows = bool(padded) and padded[-1] > 1
        varies = _varying(padded[:-1], lead)
        grown: Shape | None = None
        if any(varies) and not all(varies):  # varies along some of the leading axes only: copied along the others
            grown = (*lead, padded[-1])
        roles.append(PER_ROW if along_rows else PER_SET if any(varies) else VALUE)
        expand.append(grown)
        own.append(along_rows and any(varies))
    return Pattern(shape, n_rows, math.prod(lead), 1, n_rows, tuple(roles), tuple(expand), tuple(own))


@functools.lru_cache(1024)
def mixture_pattern(names: tuple[str, ...], shapes: tuple[Shape, ...]) -> Pattern:
    """Rows of observations, which come first, and sets of parameters: shapes (N,) and () or (K,)."""
    (n_rows,), n_sets = shapes[0], max(math.prod(s) for s in shapes[1:])
    roles = (PER_ROW, *(PER_SET if math.prod(s) > 1 else VALUE for s in shapes[1:]))
    none = (None,) * len(shapes)
    return Pattern((n_rows, n_sets), n_rows, n_sets, n_sets, 1, roles, none, (False,) * len(shapes))
