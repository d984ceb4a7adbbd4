"""Layout of the kernels of Vecchia's approximation on a device."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...kernels.layout import Layout, power_of_two
from ...runtime import thresholds
from ...runtime.base import Device
from ..local.layout import blocks_in_shared

MOST_COLUMNS = thresholds.PROCESSES_VECCHIA_COLUMNS.value  # for which a thread has sums at once


@dataclass(frozen=True)
class VecchiaLayout(Layout):
    """Constants of the kernels of Vecchia's approximation."""

    rows: int = 1  # threads of a point
    abreast: int = 1  # points that a block has at a time
    width: int = 1  # columns of the matrix that are eliminated at once
    columns: int = 1  # columns of the points for which a thread has sums at once
    in_shared: bool = True  # whether a block's numbers lie in shared memory; else in memory that is set apart for it
    numbers: int = 0  # size of a block's numbers
    # blocks that are resident on the device; the kernel is the same for all numbers of them
    blocks: int = field(default=1, compare=False, repr=False)


def layout_for(device: Device, itemsize: int, m: int, columns: int) -> VecchiaLayout:
    """Layout for m neighbours, and points of so many columns.

    A CPU's vector register has a point in each lane; a GPU's warp has one point, or more with few neighbours.
    """
    if device.type == "cpu":
        rows, abreast = 1, min(64 // itemsize, device.max_threads)
    else:
        rows = min(power_of_two(m + 2), 32)
        abreast = 32 // rows
    numbers = ((m + 2) * (m + 3) // 2 + (m + 1) * (columns + 2)) * abreast
    threads = rows * abreast
    beside = 4 * (m + 1) * abreast + 8 * threads + 16 * itemsize * columns
    nbytes = itemsize * numbers + beside
    in_shared = nbytes <= device.shared_memory
    per_unit = 4 if device.type == "cpu" else blocks_in_shared(device, nbytes, 32) if in_shared else 8
    return VecchiaLayout(
        threads, rows=rows, abreast=abreast, width=4, columns=min(columns, MOST_COLUMNS), in_shared=in_shared,
        numbers=numbers, blocks=device.compute_units * per_unit,
    )  # fmt: skip
