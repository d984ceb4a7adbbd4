"""Layout of the kernels of linear algebra on a device: the threads of a block, and the work of each.

Layouts vary with the device, the width of a number (`itemsize`, bytes) and the size of the matrices.
``python -m bench cholesky`` times the factorisations and solves that rest on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..kernels.layout import power_of_two
from ..runtime import thresholds
from ..runtime.base import Device

REGISTER_BYTES = 64  # bytes of a CPU's vector register: as many threads as it holds numbers run in lockstep
#: Rows up to which a thread's own matrix is in its registers.
MOST_ROWS_IN_REGISTERS = thresholds.LINALG_MOST_ROWS_IN_REGISTERS.value


@dataclass(frozen=True)
class GemmLayout:
    """Constants of the matrix product."""

    threads: int  # threads a block
    across: int  # threads side by side along the columns of a tile
    # numbers of the product that a thread has in registers
    rows: int
    columns: int
    vector: int  # neighbouring columns that a thread takes, and numbers by which tiles in shared memory are padded
    depth: int  # inner indices that are in shared memory at once
    adders: int  # threads a block of the kernel that adds the parts of a long inner dimension

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
        """Number of tiles that cover a product."""
        return -(-n_rows // self.tile_rows) * -(-n_columns // self.tile_columns)


#: Tiles of products on a CPU, by their width and by `itemsize`: a row of threads is a vector register.
_CPU_TILES = {kind: GemmLayout(*tile) for kind, tile in thresholds.LINALG_CPU_TILES.value.items()}
#: Tiles on a GPU: narrow ones for few columns; else large ones where they fill the device, and small ones where they do not.
_GPU_TILES = {kind: GemmLayout(*tile) for kind, tile in thresholds.LINALG_GPU_TILES.value.items()}
NARROW_COLUMNS = thresholds.LINALG_NARROW_COLUMNS.value  # columns that a GPU's narrow tiles have


def gemm(device: Device, itemsize: int, n_rows: int, n_columns: int, batch: int) -> GemmLayout:
    """Layout of the matrix product."""
    if device.type == "cpu":
        return _CPU_TILES["narrow" if n_columns <= REGISTER_BYTES // itemsize else "wide", itemsize]
    if n_columns <= NARROW_COLUMNS:
        narrow = _GPU_TILES["narrow", itemsize]
        return narrow if narrow.threads <= device.max_threads else replace(narrow, threads=device.max_threads)
    large = _GPU_TILES["large", itemsize]
    fills = large.tiles(n_rows, n_columns) * batch >= device.compute_units
    return large if fills and large.threads <= device.max_threads else _GPU_TILES["small", itemsize]


def gemm_small(n_rows: int, n_columns: int, inner: int) -> bool:
    """True if a thread for each number of the product is faster than tiles."""
    return n_rows * n_columns <= 64 and inner <= 16


def gemm_parts(device: Device, layout: GemmLayout, tiles: int, inner: int) -> tuple[int, int]:
    """Number of blocks that share the inner dimension of a product of `tiles` tiles, and the inner indices of each."""
    wanted = max(1, (4 if device.type == "gpu" else 1) * device.compute_units // tiles)
    least = 16 * layout.depth  # what is worth another part of the product to write and to read
    part = max(-(-inner // wanted), min(least, inner))
    part = -(-part // layout.depth) * layout.depth
    return -(-inner // part), part


@dataclass(frozen=True)
class TriangularLayout:
    """Constants of the kernels that have a triangle in shared memory."""

    threads: int  # threads a block
    size: int  # the most rows of a triangle
    lanes: int  # threads side by side along a row, where the triangle itself is eliminated
    columns: int  # columns that are solved for at a time; divides `threads`
    width: int  # rows that are solved for in registers; divides `size`

    def staged(self, kind: str) -> int:
        """Numbers in shared memory: the triangle and, but for its factor (``"potrf"``), the columns that are solved for."""
        return self.size * (self.size + 1) + (kind != "potrf") * self.size * (self.columns + 1)


#: Triangles on a GPU by `size`. Up to 32 rows a block is a warp, whose barriers cost next to nothing.
_GPU_TRIANGLES = {
    #                 threads, size, lanes, columns, width
    8: TriangularLayout(32, 8, 8, 8, 8),
    16: TriangularLayout(32, 16, 8, 16, 8),
    32: TriangularLayout(32, 32, 8, 32, 8),
    64: TriangularLayout(256, 64, 16, 64, 16),
}


def triangular(device: Device, itemsize: int, n: int) -> TriangularLayout:
    """Layout of the kernels that have a triangle of n rows, or its blocks on the diagonal, in shared memory."""
    most = 64 if itemsize * 64 * (65 + 65) <= device.shared_memory else 32
    size = min(max(power_of_two(n), 8), most)
    if device.type == "cpu":
        lanes = REGISTER_BYTES // itemsize
        return TriangularLayout(lanes, size, lanes, columns=lanes, width=8)
    chosen = _GPU_TRIANGLES[size]
    return chosen if size <= 32 else replace(chosen, threads=min(chosen.threads, device.max_threads))


def triangular_blocks(device: Device, layout: TriangularLayout, n_columns: int, batch: int) -> int:
    """Number of blocks that share the columns of a triangular system: enough to fill the device, no triangle read in vain."""
    wanted = -(-(4 if device.type == "cpu" else 16) * device.compute_units // batch)
    return max(1, min(-(-n_columns // layout.columns), wanted))


@dataclass(frozen=True)
class TileLayout:
    """Constants of the passes over a matrix."""

    threads: int  # threads a block
    tile: int = 32  # rows and columns that a block has in shared memory

    def on_and_below_diagonal(self, n: int) -> int:
        """Number of tiles of a triangle of n rows."""
        tiles = -(-n // self.tile)
        return tiles * (tiles + 1) // 2


def tiles(device: Device) -> TileLayout:
    """Layout of the passes over a matrix."""
    return TileLayout(min(256, device.max_threads))


@dataclass(frozen=True)
class SmallLayout:
    """Constants of the kernels for small matrices."""

    threads: int  # threads a block
    size: int  # rows of the matrices: exactly, where they are in registers, else the most that there is room for
    registers: bool = True  # whether a matrix is in its thread's registers; else it is in shared memory
    staged: bool = False  # whether a thread's matrix comes and goes through shared memory
    padded: int = 0  # numbers from one row to the next where a block has a matrix in shared memory


def small(device: Device, itemsize: int, n: int, triangles: int) -> SmallLayout | None:
    """Layout where each thread has `triangles` triangles of n rows to itself; None where they are too large for that.

    On a CPU larger ones may be in shared memory. On a GPU they have to be in registers, and pass through shared memory so
    that neighbouring threads read neighbouring numbers.
    """
    if device.type == "cpu":
        threads = REGISTER_BYTES // itemsize
        if n <= MOST_ROWS_IN_REGISTERS:
            return SmallLayout(threads, n)
        size = -(-n // 8) * 8
        fits = triangles * size * (size + 1) // 2 * threads * itemsize <= device.shared_memory
        return SmallLayout(threads, size, registers=False) if fits else None
    if n > MOST_ROWS_IN_REGISTERS:
        return None
    threads = 64
    while threads > 1 and threads * (n * n + 1) * itemsize > device.shared_memory:
        threads //= 2
    return SmallLayout(threads, n, staged=n > 1)


def small_columns(device: Device, itemsize: int, n: int, n_columns: int) -> SmallLayout | None:
    """Layout where each thread solves for a column of n numbers; None where a block should solve for several columns."""
    cpu = device.type == "cpu"
    if n <= MOST_ROWS_IN_REGISTERS:
        return SmallLayout(REGISTER_BYTES // itemsize if cpu else min(128, device.max_threads), n)
    few = n_columns < 8
    return SmallLayout(REGISTER_BYTES // itemsize, 64, registers=False) if cpu and few else None


def small_block(device: Device, itemsize: int, n: int) -> SmallLayout:
    """Layout where each block has a matrix of n rows in shared memory."""
    threads = REGISTER_BYTES // itemsize if device.type == "cpu" else 32 if n <= 32 else 64
    size = max(power_of_two(n), 16)
    room = size * (size + 1) * itemsize <= device.shared_memory
    return SmallLayout(threads, size, registers=False, padded=size + room)  # with room for one more: another bank
