"""Layout of kernels that multiply a tile of rows and the coefficients of many sets.

Such kernels are for devices that multiply small matrices of float64 in hardware: see ``products.mako``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..runtime import thresholds
from ..runtime.base import Device
from .layout import MOST_SHARED_BYTES, RESERVED_SHARED_BYTES, Layout, power_of_two

#: Bytes of a row up to which it holds, the rows of a tile, and the parts of the columns that warps share.
_TILE_SHAPES = thresholds.KERNELS_TILE_SHAPES.value
#: Tiles that a block has at least, where there are many: it reads all coefficients and leaves all sums.
_LEAST_TILES = thresholds.KERNELS_LEAST_TILES.value
#: The most blocks of a multiprocessor: a thread has about 128 registers.
_MOST_BLOCKS = thresholds.KERNELS_MOST_BLOCKS.value
#: Sums in a thread's registers up to which it needs no more, and the most that it can have.
_FEW_SUMS, _MOST_SUMS = thresholds.KERNELS_FEW_SUMS.value, 64


class Predictor(NamedTuple):
    """Linear predictor of each set: the product of a row and coefficients."""

    matrix: int = 0  # whose row it is
    gradient: bool = True  # whether the derivative in the coefficients is wanted


class Shares(NamedTuple):
    """Division of the two products of a matrix among the warps of a block, in units of 16 rows or columns and eight sets."""

    by_rows: int  # of the linear predictors: parts of the rows
    eights: int  # eights of columns
    per_lane: int  # eights of columns in a unit
    sets_of_unit: int  # eights of sets in a unit
    units: int
    by_columns: int  # of the derivative: parts of the columns
    tiles: int  # 16 columns that a warp has
    sets_of_warp: int  # eights of sets that a warp has
    warps: int  # the warps that have any


@dataclass(frozen=True)
class ProductsLayout(Layout):
    """Constants of a kernel; `tile` is the rows that a block takes at once, `sets` the sets of coefficients.

    All but `threads` and `sets` follow from the shape of the matrices alone, and so does the number of blocks that share the
    rows: each set's sums are added in the same order, whatever other sets there are.
    """

    lanes: int = 1  # the parts of the columns that different warps multiply
    stages: int = 2  # tiles in shared memory, of which all but one are on their way
    load: int = 1  # numbers that a thread copies at once
    adders: int = 1024  # threads a block of the kernel that adds the blocks' sums
    side: int = 8  # how many of these lie side by side
    matrices: tuple[int, ...] = ()  # the columns of the matrices whose rows stand side by side in a tile
    predictors: tuple[Predictor, ...] = ()
    itemsize: int = 8  # bytes of a number of a matrix
    n_sums: int = 1  # the numbers that each row adds to for a set, but for the derivatives in coefficients
    n_kept: int = 0  # the numbers of each row and set that are kept in shared memory
    of_set: int = 0  # bytes of shared memory that a set takes elsewhere
    room: int = 1  # blocks for eight sets that a multiprocessor has room for

    @property
    def firsts(self) -> list[int]:
        """First column of each matrix in a tile, and the end of the last one."""
        found = [0]
        for columns in self.matrices:
            found.append(found[-1] + -(-columns // 8) * 8)
        return found

    @property
    def padded(self) -> int:
        """Numbers of a row in shared memory: eights of columns, and padding that keeps wide reads of several rows apart."""
        odd, eights = 32 // self.itemsize, self.firsts[-1]
        return eights + (odd - eights) % (2 * odd)

    def padded_coefficients(self, matrix: int) -> int:
        """Numbers of a set's coefficients in shared memory."""
        return -(-self.matrices[matrix] // 8) * 8 + 4

    @property
    def down(self) -> int:
        """Numbers of a set's linear predictors in shared memory."""
        return self.tile + 4

    @property
    def here(self) -> int:
        """Sets whose rows are evaluated at once."""
        return self.threads // self.tile

    @property
    def turns(self) -> int:
        """Sets for which a thread evaluates its row."""
        return self.sets // self.here

    @property
    def stage(self) -> int:
        """Numbers of a tile in shared memory, with those that the last columns' products read behind its last row.

        The numbers read behind a tile are its own: behind it another tile is being copied.
        """
        return self.tile * self.padded + 16

    @property
    def tile_doubles(self) -> int:
        """Doubles of shared memory for the tiles."""
        return -(-self.stages * self.stage * self.itemsize // 16) * 2

    @property
    def starts(self) -> list[tuple[int, int]]:
        """Positions in shared memory, in doubles, of the coefficients and of the values of each predictor."""
        found, place = [], self.tile_doubles
        for predictor in self.predictors:
            values = place + self.sets * self.padded_coefficients(predictor.matrix)
            found.append((place, values))
            place = values + self.sets * self.lanes * self.down
        return found

    @property
    def kept(self) -> int:
        """Position in shared memory, in doubles, of the numbers kept of rows: [number][row][set], of one set more."""
        return self.starts[-1][1] + self.sets * self.lanes * self.down

    @property
    def shared_doubles(self) -> int:
        """Doubles of shared memory that a block has."""
        used = self.kept + self.n_kept * self.tile * (self.sets + 1)
        return max(used, self.sets * self.tile * self.n_sums)

    def shares(self, matrix: int) -> Shares:
        """Shares of the warps in the products of a matrix."""
        columns, warps, set_eights = self.matrices[matrix], self.threads // 32, self.sets // 8
        by_rows, eights, column_tiles = self.tile // 16, -(-columns // 8), -(-columns // 16)
        by_sets = min(max(warps // (by_rows * self.lanes), 1), set_eights)
        by_columns = min(power_of_two(column_tiles), warps)
        gradient_by_sets = min(warps // by_columns, set_eights)
        return Shares(
            by_rows, eights, -(-eights // self.lanes), set_eights // by_sets, by_rows * self.lanes * by_sets,
            by_columns, -(-column_tiles // by_columns), set_eights // gradient_by_sets, by_columns * gradient_by_sets,
        )  # fmt: skip

    @property
    def registers(self) -> int:
        """Sums that a thread has in registers."""
        shares = (self.shares(p.matrix) for p in self.predictors if p.gradient)
        return self.turns * self.n_sums + sum(4 * s.tiles * s.sets_of_warp for s in shares)

    def row_blocks(self, device: Device, n_rows: int) -> int:
        """Number of blocks that share the rows: with eight sets they fill the device; a power of two times less for few rows.

        So the blocks of any multiple of sixteen sets are done at about the same time.
        """
        blocks, tiles = device.compute_units * self.room, -(-n_rows // self.tile)
        least = next(least for most, least in _LEAST_TILES if tiles <= most)
        while blocks > max(-(-tiles // least), 1):
            blocks //= 2
        return blocks


def products_layout(
    device: Device, matrices: Sequence[int], predictors: Sequence[Predictor], itemsize: int, n_sums: int, n_sets: int, *,
    load: int = 1, n_kept: int = 0, of_set: int = 0, most_turns: int = 8,
) -> ProductsLayout | None:  # fmt: skip
    """Layout for `n_sets` sets of coefficients; None where the kernel is not for the device, or does not fit.

    `most_turns`: how often the function of a row may be written out. For others see `ProductsLayout`.
    """
    if not device.products:
        return None
    for most, tile, lanes in _TILE_SHAPES:
        eight = ProductsLayout(
            128, 8, tile, unroll=2, lanes=lanes, load=load, matrices=tuple(matrices), predictors=tuple(predictors),
            itemsize=itemsize, n_sums=n_sums, n_kept=n_kept, of_set=of_set,
        )  # fmt: skip
        if sum(matrices) * itemsize <= most and eight.turns <= most_turns and (room := _room(device, eight)):
            break
    else:
        return None
    sixteen = replace(eight, sets=16)
    many = n_sets > 8 and sixteen.turns <= most_turns and 3 * _room(device, sixteen) >= 2 * room
    layout = sixteen if many else eight
    return replace(layout, room=room, resident=layout.threads * _room(device, layout))


def _room(device: Device, layout: ProductsLayout) -> int:
    """Number of blocks that a multiprocessor has shared memory and registers for."""
    used = layout.shared_doubles * 8 + layout.sets * layout.of_set + RESERVED_SHARED_BYTES
    if (sums := layout.registers) > _MOST_SUMS:
        return 0
    most = _MOST_BLOCKS if sums <= _FEW_SUMS else 65536 // (layout.threads * (2 * sums + 64))
    return min(min(device.shared_memory, MOST_SHARED_BYTES) // used, most)
