"""Layout of a kernel on a device: chosen from the device's properties and the function's cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..runtime import thresholds
from ..runtime.base import Device
from .code import KernelCode
from .separated import SET

#: The most bytes of shared memory that are used: all that a block can have on an H200.
MOST_SHARED_BYTES = 232448
#: Registers of a CUDA multiprocessor.
REGISTERS = 65536
#: What a block takes of it beside the arrays that are counted.
RESERVED_SHARED_BYTES = 1024
MOST_BLOCKS_Y = 65535  # along an axis that CUDA's grids have less of
MOST_ROWS_AT_ONCE = thresholds.KERNELS_MOST_ROWS_AT_ONCE.value  # rows of a thread of a GPU that sums
#: Nodes of a function that is written out several times, all together.
MOST_REPEATED_NODES = thresholds.KERNELS_MOST_REPEATED_NODES.value


@dataclass(frozen=True)
class Layout:
    """Constants that a template is rendered with."""

    threads: int  # threads a block
    sets: int = 1  # parameter sets a block
    tile: int = 1  # rows that a block takes at once
    unroll: int = 1  # independent rows that a thread has in flight
    vector: int = 1  # numbers in one wide load or store
    by_rows: bool = False  # whether neighbouring threads take neighbouring rows (else neighbouring sets)
    chunk: int = 1  # sets that a thread writes in one store, where it goes through the sets of a row
    group: int = 1  # sets whose matrices are in shared memory at once
    stage_rows: bool = False  # whether what depends on a row alone is kept in shared memory
    stage_vectors: int = 0  # numbers of the shared tile of vector observations; 0: they are read where they lie
    resident: int = 2048  # threads of a multiprocessor that a launch is sized for
    #: whether rows for which something rare holds are gone through apart, and so is what statements branch on
    apart: bool = False


@dataclass(frozen=True)
class Problem:
    """Properties of a problem that decide the layout."""

    itemsize: int  # bytes of a number
    n_sets: int
    set_multiple: int = 1  # a power of two up to 8 that divides the number of sets
    by_rows: bool = False
    aligned: bool = False  # whether every array allows 16-byte accesses
    dim: int = 0  # length of vector observations, 0 where they are scalars
    rows: int = MOST_ROWS_AT_ONCE  # the most rows that a thread is to take at once: see `rows_at_once`

    @property
    def wide(self) -> int:
        """Numbers in a 16-byte access, where the arrays allow it."""
        return 16 // self.itemsize if self.aligned else 1


def power_of_two(n: int) -> int:
    """Smallest power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()


def power_below(n: int) -> int:
    """Largest power of two that is at most n; 0 for less than one."""
    return power_of_two(n + 1) // 2


def stage_vectors(device: Device, code: KernelCode, problem: Problem, rows: int) -> tuple[int, int]:
    """Rows a tile and numbers in shared memory, for vector observations; 0 numbers where they do not fit.

    Vectors in shared memory are another type in OpenCL C 1.2.
    """
    other_type = device.backend == "opencl" and not code.vectors_keep_their_names
    if not problem.dim or device.type == "cpu" or other_type:
        return rows, 0
    budget = min(device.shared_memory, 48 * 1024) // 2 // problem.itemsize
    rows = min(rows, budget // (problem.dim | 1))
    return (rows, rows * (problem.dim | 1)) if rows >= device.warp else (256, 0)


def sets_that_fit(code: KernelCode, itemsize: int, sets: int, most: int = 24 * 1024) -> int:
    """Sets of parameters, a power of two up to `sets`, whose structs take at most `most` bytes together."""
    while sets > 1 and sets * code.struct_bytes(SET, itemsize) > most:
        sets //= 2
    return sets


def copies(code: KernelCode, wanted: int) -> int:
    """Number of copies of the code for a row that a kernel of a GPU writes out: at most `wanted`, fewer where the code is long.

    Compilers take as long as the text is; all loads first helps functions that compute little.
    """
    while wanted > 1 and wanted * code.row_size > MOST_REPEATED_NODES:
        wanted //= 2
    return wanted


def rows_at_once(device: Device, n_rows: int, threads: int = 256) -> int:
    """Rows that a thread of a GPU takes at once, a power of two: few rows are spread over all multiprocessors.

    Each multiprocessor gets two blocks where there are enough rows: rows in turn take a thread longer than adding up more sums.
    """
    if device.type == "cpu":
        return MOST_ROWS_AT_ONCE
    return min(power_of_two(n_rows // (2 * threads * device.compute_units) + 1) // 2 or 1, MOST_ROWS_AT_ONCE)


def row_blocks(device: Device, layout: Layout, n_rows: int, set_blocks: int, registers: int | None = None) -> int:
    """Number of blocks that share the rows: enough to fill the device a few times over, and no more.

    `registers`: those of a thread, where no block is to wait for another to finish.
    """
    per_unit = 16 if device.type == "cpu" else layout.resident // layout.threads
    if registers:  # handed out by eights
        per_unit = min(per_unit, REGISTERS // (-(-registers // 8) * 8 * layout.threads))
    filled = device.compute_units * max(1, per_unit)
    wanted = max(1, -(-filled // set_blocks))
    return max(1, min(-(-n_rows // layout.tile), wanted, MOST_BLOCKS_Y))


def _reference_devices() -> dict[str, Any]:
    from ..runtime.base import Device

    common = dict(vendor="", driver="", memory=0, double=True)
    gpu = Device(
        id="cuda:0", backend="cuda", type="gpu", name="a GPU", compute_units=132, warp=32, shared_memory=232448,
        max_threads=1024, **common,  # type: ignore[arg-type]
    )  # fmt: skip
    return {"cuda": gpu, "opencl": replace(gpu, id="opencl:0", backend="opencl", shared_memory=65536, max_threads=256)}


#: What `Density.kernel_source` lays kernels out for: a large CUDA GPU and a middling OpenCL one.
REFERENCE_DEVICES = _reference_devices()
