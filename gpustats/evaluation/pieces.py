"""Pieces: runs of numbers that one kernel copies from arrays of a device to others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..kernels.layout import MOST_BLOCKS_Y
from ..kernels.template import Template

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Moved
    from ..runtime.types import DType, Handle

THREADS = 64
MOST_AT_ONCE = 8  # pieces of a kernel
_TEMPLATE = Template.beside(__file__, "pieces")


class Place(NamedTuple):
    """Place of a run of numbers for each set."""

    handle: Handle | Moved
    start: int  # behind the handle, in numbers
    step: int  # from a set's run to the next one's; 0: all sets have the same


def copy_pieces(runtime: Runtime, dtype: DType, pieces: Sequence[tuple[Place, Place, int]], n_sets: int) -> None:
    """Start the copies of pieces: from a place to another one, and how many numbers of each set."""
    for first in range(0, len(pieces), MOST_AT_ONCE):
        some = pieces[first : first + MOST_AT_ONCE]
        kernel = _TEMPLATE.kernel(runtime, "copy_pieces", THREADS, dtype=dtype.name, threads=THREADS, count=len(some))
        grid = -(-max(size for *_, size in some) // THREADS), min(n_sets, MOST_BLOCKS_Y)
        kernel(grid, n_sets, *itertools.chain(*((*source, *target, size) for source, target, size in some)))
