"""Layouts of the kernels of the glm shape on a device.

On a GPU a block takes a tile of rows into shared memory, where they are read twice: for the linear predictor, and for the
derivative in the coefficients. On a CPU each lane of a vector register has a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..kernels.layout import MOST_SHARED_BYTES, RESERVED_SHARED_BYTES, Layout, power_below, power_of_two
from ..rows.column_products import lanes_of
from ..runtime import thresholds
from ..runtime.base import Device
from .task import Computation


@dataclass(frozen=True)
class GLMLayout(Layout):
    """The constants of the glm kernels; `tile` is the rows that a block takes at once, `sets` the sets of coefficients."""

    lanes: int = 1  # threads that share a row in the linear predictor
    stages: int = 0  # tiles in shared memory, of which all but one are on their way; 0: rows are read where they lie, twice
    near: bool = True  # whether the coefficients are in shared memory
    load: int = 1  # numbers that a thread copies at once
    spread: int = 1  # sums side by side that are still to be added up for one: those of the lanes of a CPU's vector registers
    adders: int = 8  # threads a block of the kernel that adds the blocks' sums
    side: int = 8  # how many of these lie side by side


class _Tiles(NamedTuple):
    """Limits of the tile of rows that a block of a GPU takes."""

    row_bytes: float  # the longest row that it is for
    threads: int  # threads a block
    bytes: int  # largest size of a tile
    lanes: int  # the most threads that share a row
    stages: int  # the most tiles in shared memory


_LEAST_TILES, _MOST_BLOCKS_OF_UNIT = thresholds.GLM_LEAST_TILES_OF_CPU.value, thresholds.GLM_MOST_BLOCKS_OF_CPU.value
#: Tiles by (bytes of a number, several sets or outcomes), and by the bytes of a row.
_TILES = {kind: tuple(_Tiles(*tile) for tile in tiles) for kind, tiles in thresholds.GLM_TILES.value.items()}


def layout_for(device: Device, computation: Computation, itemsize: int, n_sets: int, aligned: bool) -> GLMLayout:
    """The layout for `n_sets` sets of coefficients; `aligned`: X allows 16-byte accesses."""
    if device.type == "cpu":
        return _in_lanes(device, computation.outcomes, itemsize, n_sets)
    budget = min(device.shared_memory, MOST_SHARED_BYTES)
    for layout in _in_tiles(device, computation, itemsize, n_sets, aligned):
        used = shared_reals(computation, layout) * itemsize + RESERVED_SHARED_BYTES
        if used <= budget:
            return replace(layout, resident=min(2048, layout.threads * (budget // used)))
    raise ValueError(f"a GLM of {computation.outcomes} outcomes does not fit into the shared memory of {device.id}")


def fits(device: Device, columns: int, outcomes: int, itemsize: int) -> bool:
    """True if a device can compute a GLM of so many outcomes, with all derivatives."""
    try:
        layout_for(device, Computation(columns, outcomes, True, sums=("value",), gradient=True), itemsize, 1, False)
    except ValueError:
        return False
    return True


def _in_lanes(device: Device, outcomes: int, itemsize: int, n_sets: int) -> GLMLayout:
    """Layout for a CPU: up to eight sums at once, of sets and outcomes or of groups of rows, one in each register."""
    lanes, most = lanes_of(device, itemsize), max(power_of_two(8 // outcomes + 1) // 2, 1)
    sets = min(power_of_two(n_sets), most)
    return GLMLayout(lanes, sets, tile=most * lanes, unroll=most // sets, spread=lanes)


def blocks_in_lanes(device: Device, layout: GLMLayout, n_rows: int) -> int:
    """Number of blocks of a CPU that share the rows: it does not depend on the number of sets.

    A block has so many rows that few of its operations are those that leave its sums.
    """
    tiles, units = -(-n_rows // layout.tile), device.compute_units
    return max(1, min(tiles, units * min(max(tiles // (_LEAST_TILES * units), 1), _MOST_BLOCKS_OF_UNIT)))


def _in_tiles(device: Device, computation: Computation, itemsize: int, n_sets: int, aligned: bool) -> Iterator[GLMLayout]:
    """Layouts for a GPU that may fit into shared memory, best first."""
    columns, outcomes, row_bytes = computation.columns, computation.outcomes, computation.columns * itemsize
    kind = next(t for t in _TILES[itemsize, n_sets * outcomes > 1] if row_bytes <= t.row_bytes)
    threads = min(kind.threads, device.max_threads)
    tile = min(max(power_below(kind.bytes // row_bytes), 1), threads)
    wide = next(n for n in (16 // itemsize, 2, 1) if columns % n == 0)
    chunks = -(-columns // wide)
    load = 16 // itemsize if aligned and tile * row_bytes % 16 == 0 else 1
    # As many sets at once as leave a thread registers for their sums.
    sets = power_below(max(min(n_sets, 32 // (outcomes * -(-chunks // threads) * wide)), 1))
    while sets and tile:
        lanes = max(threads // tile, min(kind.lanes, power_below(2 * chunks // 5), threads), 1)
        for stages, near in ((kind.stages, True), (2, True), (2, False), (0, True), (0, False)):
            yield GLMLayout(
                threads, sets, tile, vector=wide if stages or aligned else 1, lanes=lanes, stages=stages, near=near,
                load=load, adders=min(1024, device.max_threads), side=8,
            )  # fmt: skip
        if sets > 1:
            sets //= 2
        else:
            tile //= 2


def shared_reals(computation: Computation, layout: GLMLayout) -> int:
    """Size of a block's shared memory for the kernel with tiles, in numbers."""
    columns, width = computation.columns, layout.sets * computation.outcomes
    parts = layout.stages * layout.tile * columns, width * columns * layout.near, layout.tile * width * layout.lanes
    used = sum(n + -n % 4 for n in parts) + layout.tile * width  # what is read by fours begins at a multiple of four
    return max(used, 2 * layout.threads)  # at the end one double for each thread
