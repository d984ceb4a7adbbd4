"""How the kernels of the glm shape are laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..kernels.layout import Layout, power_of_two

if TYPE_CHECKING:
    from ..runtime.base import Device
    from .kernel import Shape


@dataclass(frozen=True)
class GLMLayout(Layout):
    """The constants of the glm kernels; `tile` is the rows that a block takes at once, `sets` the sets of coefficients.

    Attributes
    ----------
    lanes : int
        Threads that share a row in the linear predictor.
    stages : int
        Tiles in shared memory, of which all but one are on their way; 0: rows are read where they lie, twice.
    near : bool
        Whether the coefficients are in shared memory.
    load : int
        Numbers that a thread copies at once.
    spread : int
        Sums side by side that are still to be added up for one.
    adders, side : int
        Threads a block of the kernel that adds the blocks' sums, and how many of these lie side by side.
    """

    lanes: int = 1
    stages: int = 0
    near: bool = True
    load: int = 1
    spread: int = 1
    adders: int = 8
    side: int = 8


def lanes_of(device: Device, itemsize: int) -> int:
    """Rows of X that lie side by side: those of a vector register of a CPU, else 1."""
    return 64 // itemsize if device.type == "cpu" else 1


def choose(device: Device, shape: Shape, itemsize: int, n_sets: int, aligned: bool) -> GLMLayout:
    """The layout for `n_sets` sets of coefficients; `aligned`: X allows 16-byte accesses."""
    if device.type == "cpu":
        sets = min(n_sets, max(8 // shape.outcomes, 1))
        lanes, groups = lanes_of(device, itemsize), min(8, max(8 // (sets * shape.outcomes), 1))
        return GLMLayout(lanes, sets, unroll=groups, spread=lanes)
    columns, row_bytes = shape.columns, shape.columns * itemsize
    vector = next(v for v in (16 // itemsize, 2, 1) if columns % v == 0)
    chunks = -(-columns // vector)
    # Measured on an H200: tiles of about 25 KB, two or three a block, and few threads, so that there are several blocks.
    # Several sets read the coefficients more often than X: a thread then has two rows for each.
    several = n_sets * shape.outcomes > 1
    few = itemsize == 8 and (several or row_bytes >= 1024)
    threads = min(256 if row_bytes > 4096 else 64 if few else 128, device.max_threads)
    tile = min(max(power_of_two((13 if several and few else 26) * 1024 // row_bytes + 1) // 2, 1), threads)

    def lanes_for(tile: int) -> int:
        return max(threads // tile, min(16 if several and few else 8, power_of_two(2 * chunks // 5 + 1) // 2, threads), 1)

    load = 16 // itemsize if aligned and tile * row_bytes % 16 == 0 else 1
    adders = min(1024, device.max_threads)
    # As many sets at once as leave a thread registers for their sums, and a block shared memory for two tiles.
    per_set = shape.outcomes * -(-chunks // threads) * vector
    sets = power_of_two(max(min(n_sets, 32 // per_set), 1) + 1) // 2
    budget = min(device.shared_memory, 232448)
    while True:
        most = 3 if not several and (itemsize == 4 or few) else 2
        for stages, near in ((most, True), (2, True), (2, False), (0, True), (0, False)):
            chosen = GLMLayout(
                threads, sets, tile, vector=vector if stages or aligned else 1, lanes=lanes_for(tile), stages=stages,
                near=near, load=load, adders=adders, side=8,
            )  # fmt: skip
            used = shared_reals(shape, chosen) * itemsize + 1024
            if used <= budget:
                return replace(chosen, resident=min(2048, threads * (budget // used)))
        if sets > 1:
            sets //= 2
        elif tile > 1:
            tile //= 2
        else:
            raise ValueError(f"a GLM of {shape.outcomes} outcomes does not fit into the shared memory of {device.id}")


def shared_reals(shape: Shape, layout: GLMLayout) -> int:
    """Numbers of shared memory that a block of the kernel with tiles has."""
    width = layout.sets * shape.outcomes
    parts = layout.stages * layout.tile * shape.columns, width * shape.columns * layout.near, layout.tile * width * layout.lanes
    used = sum(n + -n % 4 for n in parts) + layout.tile * width  # what is read by fours begins at a multiple of four
    return max(used, 2 * layout.threads)  # at the end one double for each thread
