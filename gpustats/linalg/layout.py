"""How the kernels of linear algebra are laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..kernels.layout import power_of_two

if TYPE_CHECKING:
    from ..runtime.base import Device


@dataclass(frozen=True)
class GemmLayout:
    """The constants of the matrix product.

    Attributes
    ----------
    threads : int
        Threads a block.
    across : int
        Threads side by side along the columns of a tile.
    rows, columns : int
        Numbers of the product that a thread has in registers.
    vector : int
        Neighbouring columns that a thread takes, and numbers by which tiles in shared memory are padded.
    depth : int
        Inner indices that are in shared memory at once.
    adders : int
        Threads a block of the kernel that adds the parts of a long inner dimension.
    """

    threads: int
    across: int
    rows: int
    columns: int
    vector: int
    depth: int
    adders: int

    @property
    def tile_rows(self) -> int:
        return self.threads // self.across * self.rows

    @property
    def tile_columns(self) -> int:
        return self.across * self.columns

    @property
    def staged(self) -> int:
        """Numbers in shared memory: two pairs of padded tiles."""
        return 2 * self.depth * (self.tile_rows + self.tile_columns + 2 * self.vector)

    def tiles(self, n_rows: int, n_columns: int) -> int:
        """How many tiles cover a product."""
        return -(-n_rows // self.tile_rows) * -(-n_columns // self.tile_columns)


def gemm(device: Device, itemsize: int, n_rows: int, n_columns: int, batch: int) -> GemmLayout:
    """Layout of the matrix product: large tiles where they fill the device, else smaller ones, narrow ones for few columns."""
    if device.type == "cpu":  # a row of threads is a vector register
        across = 64 // itemsize
        if n_columns <= across:
            return GemmLayout(4 * across, across, rows=4, columns=1, vector=1, depth=16, adders=across)
        return GemmLayout(8 * across, across, rows=8, columns=2, vector=1, depth=16, adders=across)
    wide = 16 // itemsize
    if n_columns <= 8:
        return GemmLayout(min(128, device.max_threads), 8, rows=4, columns=1, vector=1, depth=16, adders=64)
    double = itemsize == 8
    large = GemmLayout(128 if double else 256, 16, rows=8, columns=4 if double else 8, vector=wide, depth=8, adders=64)
    small = GemmLayout(64, 8, rows=4, columns=4, vector=wide, depth=16, adders=64)
    fills = large.tiles(n_rows, n_columns) * batch >= device.compute_units
    return large if fills and large.threads <= device.max_threads else small


def gemm_small(n_rows: int, n_columns: int, inner: int) -> bool:
    """Whether a thread a number is faster than tiles."""
    return n_rows * n_columns <= 64 and inner <= 16


def gemm_parts(device: Device, layout: GemmLayout, tiles: int, inner: int) -> tuple[int, int]:
    """How many blocks share the inner dimension of a product of `tiles` tiles, and the inner indices of each."""
    wanted = max(1, (4 if device.type == "gpu" else 1) * device.compute_units // tiles)
    least = 16 * layout.depth  # what is worth another part of the product to write and to read
    part = max(-(-inner // wanted), min(least, inner))
    part = -(-part // layout.depth) * layout.depth
    return -(-inner // part), part


@dataclass(frozen=True)
class TriangularLayout:
    """The constants of the kernels that have a triangle in shared memory.

    Attributes
    ----------
    threads : int
        Threads a block.
    size : int
        The most rows of a triangle.
    lanes : int
        Threads side by side along a row, where the triangle itself is eliminated.
    columns : int
        Columns that are solved for at a time; divides `threads`.
    width : int
        Rows that are solved for in registers; divides `size`.
    """

    threads: int
    size: int
    lanes: int
    columns: int
    width: int


def triangular(device: Device, itemsize: int, n: int) -> TriangularLayout:
    """Layout of the kernels that have a triangle of n rows, or its blocks on the diagonal, in shared memory."""
    most = 64 if itemsize * 64 * (65 + 65) <= device.shared_memory else 32
    size = min(max(power_of_two(n), 8), most)
    if device.type == "cpu":  # the lanes of a vector register
        lanes = 64 // itemsize
        return TriangularLayout(lanes, size, lanes, columns=lanes, width=8)
    if size <= 32:  # a warp; its barriers cost next to nothing
        return TriangularLayout(32, size, min(size, 8), columns=32 if size == 32 else size, width=8)
    return TriangularLayout(min(256, device.max_threads), size, 16, columns=64, width=16)


def triangular_blocks(device: Device, layout: TriangularLayout, n_columns: int, batch: int) -> int:
    """How many blocks share the columns that a triangle is solved for: enough to fill the device, not to read it in vain."""
    wanted = -(-(4 if device.type == "cpu" else 16) * device.compute_units // batch)
    return max(1, min(-(-n_columns // layout.columns), wanted))


@dataclass(frozen=True)
class SmallLayout:
    """The constants of the kernels for small matrices.

    Attributes
    ----------
    threads : int
        Threads a block.
    size : int
        Rows of the matrices: exactly, where they are in registers, else the most that there is room for.
    registers : bool
        Whether a matrix is in its thread's registers; else it is in shared memory.
    staged : bool
        Whether a thread's matrix comes and goes through shared memory.
    padded : int
        Numbers from one row to the next where a block has a matrix in shared memory.
    """

    threads: int
    size: int
    registers: bool = True
    staged: bool = False
    padded: int = 0


def small(device: Device, itemsize: int, n: int, triangles: int) -> SmallLayout | None:
    """Layout where each thread has a matrix of n rows, `triangles` of them, to itself; None where a block should have one."""
    if device.type == "cpu":
        threads, size = 64 // itemsize, n if n <= 8 else -(-n // 8) * 8
        fits = n <= 8 or triangles * size * (size + 1) // 2 * threads * itemsize <= device.shared_memory
        return SmallLayout(threads, size, registers=n <= 8) if fits else None
    threads = 64
    while threads > 1 and threads * (n * n + 1) * itemsize > device.shared_memory:
        threads //= 2
    return SmallLayout(threads, n, staged=n > 1) if n <= 8 else None


def small_columns(device: Device, itemsize: int, n: int, n_columns: int) -> SmallLayout | None:
    """Layout where each thread solves for a column of n numbers; None where a block should solve for several columns."""
    if n <= 8:
        return SmallLayout(64 // itemsize if device.type == "cpu" else min(128, device.max_threads), n)
    return SmallLayout(64 // itemsize, 64, registers=False) if device.type == "cpu" and n_columns < 8 else None


def small_block(device: Device, itemsize: int, n: int) -> SmallLayout:
    """Layout where each block has a matrix of n rows in shared memory."""
    threads, size = 64 // itemsize if device.type == "cpu" else 32 if n <= 32 else 64, max(power_of_two(n), 16)
    padded = size + (size * (size + 1) * itemsize <= device.shared_memory)  # one more, where there is room: another bank
    return SmallLayout(threads, size, registers=False, padded=padded)
