"""How the kernel of the glm shape is laid out on a device that multiplies small matrices of float64 at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .computation import Computation
from .layout import MOST_SHARED, RESERVED, GLMLayout

if TYPE_CHECKING:
    from ..runtime.base import Device

#: Bytes of a row of X up to which it holds -> the rows of a tile, and the parts of the columns that warps share (on an H200).
_SHAPES = ((256, 64, 1), (512, 32, 1), (float("inf"), 16, 4))
#: Tiles that a block has at least, where there are many: it reads all coefficients and leaves all sums.
_TILES = 8
#: The most blocks of a multiprocessor: a thread has about 128 registers.
_BLOCKS = 4


@dataclass(frozen=True)
class ProductsLayout(GLMLayout):
    """The constants of the kernel; `lanes` are the parts of the columns that different warps multiply.

    All but `threads` and `sets` follow from the shape of X alone, and so does the number of blocks that share the rows: each
    set's sums are added in the same order, whatever other sets there are.

    Attributes
    ----------
    columns, itemsize : int
        Of X.
    n_sums : int
        The numbers that each row adds to for a set, but for the derivative in the coefficients.
    room : int
        Blocks for eight sets that a multiprocessor has room for.
    """

    columns: int = 1
    itemsize: int = 8
    n_sums: int = 1
    room: int = 1

    @property
    def padded(self) -> int:
        """Numbers of a row of X in shared memory: eights of columns, and what keeps wide reads of several rows apart."""
        odd = 32 // self.itemsize
        eights = -(-self.columns // 8) * 8
        return eights + (odd - eights) % (2 * odd)

    @property
    def padded_coefficients(self) -> int:
        """Numbers of a set's coefficients in shared memory."""
        return -(-self.columns // 8) * 8 + 4

    @property
    def down(self) -> int:
        """Numbers of a set's linear predictors in shared memory."""
        return self.tile + 4

    @property
    def tile_doubles(self) -> int:
        """Doubles of shared memory for the tiles of X, with what the last columns' products read behind them."""
        return -(-(self.stages * self.tile * self.padded + 16) * self.itemsize // 16) * 2

    @property
    def shared_doubles(self) -> int:
        """Doubles of shared memory that a block has."""
        used = self.tile_doubles + self.sets * (self.padded_coefficients + self.lanes * self.down)
        return max(used, self.sets * self.tile * self.n_sums)

    def row_blocks(self, device: Device, n_rows: int) -> int:
        """How many blocks share the rows: with eight sets they fill the device; a power of two times less for few rows.

        So the blocks of any multiple of sixteen sets are done at about the same time.
        """
        blocks, most = device.compute_units * self.room, -(-n_rows // (self.tile * _TILES))
        while blocks > max(most, 1):
            blocks //= 2
        return blocks


def products_for(
    device: Device, computation: Computation, itemsize: int, n_sets: int, aligned: bool
) -> ProductsLayout | None:
    """The layout for `n_sets` sets of coefficients; None where the kernel is not for these, or does not fit.

    `aligned`: X allows 16-byte accesses.
    """
    if n_sets == 1 or not device.products or computation.outcomes > 1 or computation.vector:
        return None  # one set alone is faster with the other kernel, whose sums differ in the last digits
    columns = computation.columns
    load = next(n for n in (16 // itemsize, 2, 1) if columns % n == 0) if aligned else 1
    tile, lanes = next(found for most, *found in _SHAPES if columns * itemsize <= most)
    eight = ProductsLayout(
        128, 8, tile, unroll=2, lanes=lanes, stages=2, load=load, adders=1024, side=8, columns=columns, itemsize=itemsize,
        n_sums=computation.n_sums,
    )  # fmt: skip
    room = _room(device, eight)
    if not room:
        return None
    sixteen = replace(eight, sets=16)
    layout = sixteen if n_sets > 8 and 3 * _room(device, sixteen) >= 2 * room else eight
    return replace(layout, room=room, resident=layout.threads * _room(device, layout))


def _room(device: Device, layout: ProductsLayout) -> int:
    """How many blocks a multiprocessor has shared memory for."""
    return min(min(device.shared_memory, MOST_SHARED) // (layout.shared_doubles * 8 + RESERVED), _BLOCKS)
