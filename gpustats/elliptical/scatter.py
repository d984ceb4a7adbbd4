"""Weighted sums of products of vector observations, for several means at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..kernels.layout import Layout, power_of_two, row_blocks
from ..kernels.template import Template
from ..runtime.types import Handle

if TYPE_CHECKING:
    from ..runtime.base import Device, Runtime
    from ..runtime.types import DType

#: Where a kernel finds an array: its handle, the offset behind it, and how far the next set's numbers lie (0: the same ones).
Part = tuple[Handle, int, int]


_SCATTER = Template.beside(__file__, "scatter")


@dataclass(frozen=True)
class ScatterLayout(Layout):
    """Constants of the scatter kernel; `tile` is the rows that a block has in shared memory.

    Attributes
    ----------
    lanes : int
        Threads that share the rows of a pair of tiles of columns; a power of two.
    width : int
        Columns of a tile: a thread has width² sums in registers.
    columns, panels : int
        Columns of a panel of tiles, and how many panels there are.
    pairs : int
        Pairs of tiles that a block has: the upper half of them where there is but one panel.
    together : int
        Sums of a thread that are added to those of other threads at a time.
    places : int
        Columns that neighbouring threads load side by side.
    """

    lanes: int = 1
    width: int = 4
    columns: int = 4
    panels: int = 1
    pairs: int = 1
    together: int = 1
    places: int = 1


def layout(device: Device, dim: int) -> ScatterLayout:
    """Layout of the scatter kernel."""
    cpu = device.type == "cpu"
    width = 4 if cpu or dim < 16 else 8
    tiles = -(-(dim + 1) // width)
    panels, tiles = -(-tiles // 4), min(tiles, 4)
    pairs = tiles * (tiles + 1) // 2 if panels == 1 else tiles * tiles
    # On a CPU the lanes of a vector register have all pairs; on a GPU each pair has threads of its own.
    most = min(512 if width == 4 else 256, device.max_threads)  # more would not leave enough registers for a tile
    lanes = 8 if cpu else min(power_of_two(most // pairs + 1) // 2, 128)
    columns = tiles * width
    staged = columns * min(panels, 2)
    room = 4096 - lanes * pairs * width**2 if cpu else 3072  # 32 KB, of which the sums of several pairs take a part
    tile = next((t for t in (256, 128, 64, 56) if staged * (t + 1) + t <= room), 32)
    threads = lanes if cpu else lanes * pairs
    return ScatterLayout(
        threads, tile=tile, resident=320 if width == 8 else 1024, lanes=lanes, width=width, columns=columns,
        panels=panels, pairs=pairs, together=min(width * width, power_of_two(2048 // threads + 1) // 2),
        places=1 if cpu else min(staged, threads),
    )  # fmt: skip


def scatter(
    runtime: Runtime, dtype: DType, dim: int, n_rows: int, n_sets: int, x: Part, means: Part, weights: Part | None,
    out: Handle, offset: int = 0,
) -> None:  # fmt: skip
    """Start the sum over rows n of w_n [1; y_n] [1; y_n]', where y_n = x_n - mean, for each set.

    The sum runs in float64 in an order that is always the same.

    Parameters
    ----------
    dtype : dtype
        Type of x, means and weights.
    dim : int
        Length d of the vectors.
    x, means, weights
        (n_rows, d), (d,) and (n_rows,) numbers of each set; a weight of 1 without `weights`.
    out, offset
        A handle, and the place in it, in numbers, of (n_sets, d + 1, d + 1) float64.
    """
    chosen = layout(runtime.device, dim)
    constants: dict[str, Any] = dict(dtype=dtype.name, layout=chosen, dim=dim, weighted=weights is not None)
    kernel = _SCATTER.kernel(runtime, "scatter", chosen.threads, **constants)
    total = _SCATTER.kernel(runtime, "scatter_total", chosen.lanes, **constants)
    panel_pairs = chosen.panels * (chosen.panels + 1) // 2
    set_blocks = n_sets * panel_pairs
    blocks = row_blocks(runtime.device, chosen, n_rows, set_blocks)
    partial = runtime.scratch(8 * set_blocks * chosen.pairs * chosen.width**2 * blocks)
    kernel((set_blocks, blocks), partial, n_rows, *x, *means, *(weights or ()))
    total((n_sets * (dim + 1) * (dim + 2) // 2, 1), out, offset, partial, blocks)
