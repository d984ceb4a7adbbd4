"""Layouts of a model's kernels: the number of threads, and of rows for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..evaluation.sums import LIGHT_COST
from ..kernels.code import KernelCode
from ..kernels.layout import MOST_BLOCKS_Y, Layout, copies, power_below, power_of_two, row_blocks
from ..runtime import thresholds
from ..runtime.base import Device

#: Numbers of all rows in flight that a thread of a GPU has registers for, and those of one row beyond which it is so.
_HELD_NUMBERS, _MOST_HELD = thresholds.ROWS_HELD_NUMBERS.value, thresholds.ROWS_MOST_HELD.value
_MOST_IN_FLIGHT, _MOST_ROWS = thresholds.ROWS_MOST_IN_FLIGHT.value, 16  # rows of a thread of a GPU: at once, and of a segment
_MANY_OF_GROUP = thresholds.ROWS_MANY_OF_GROUP.value
#: Neighbouring rows that a CPU takes at once: two or four of its vectors, so that it reads whole lines.
_CPU_LANES = thresholds.ROWS_CPU_LANES.value
_LEAST_VECTOR = 4  # numbers of the shortest vectors that Intel's compiler knows
_MANY_SUMS = thresholds.ROWS_MANY_SUMS.value  # of which more are in a CPU's cache, and not in its registers
#: Bytes of matrices that a CPU's core keeps at hand while one set of parameters after another reads them.
_CACHE_BYTES = thresholds.ROWS_CACHE_BYTES.value


def longest_segment(device: Device, n_rows: int, n_groups: int) -> int:
    """Largest number of rows of a group's segment: few large groups are cut, so that all threads of a GPU have segments."""
    if device.type == "cpu":
        return 1 << 14
    most = 1 << 12
    if n_rows < most // 2 * n_groups:
        return most
    return min(max(power_of_two(n_rows // (device.compute_units * 128)), 1 << 8), most)


@dataclass(frozen=True)
class RowsLayout(Layout):
    """Layout of the rows' template. A block takes `tile` segments of rows at once; `unroll` is of the rows of a segment."""

    lanes: int = 1  # threads that share a segment
    segment: int = 0  # rows of a segment, where segments are not of groups
    later: bool = False  # whether derivatives in coefficients are added up for `unroll` rows at once, of which X is read again


def lanes_of_sequences(device: Device, n: int) -> int:
    """Number of threads that read numbers of as many of `n` sequences at once: of few ones each core of a CPU gets some."""
    if device.type != "cpu":
        return device.warp
    of_core = n // device.compute_units
    return 1 if of_core <= 1 else min(max(power_of_two(of_core), _LEAST_VECTOR), _CPU_LANES)


def layout_of_sequences(device: Device, n: int) -> RowsLayout:
    """The layout for a function of `n` sequences: a thread takes one, and a block few, since sequences take long."""
    threads = min(lanes_of_sequences(device, n), device.max_threads)
    return RowsLayout(threads, tile=1, unroll=1, resident=1024, lanes=threads, segment=threads)


def layout_for(
    device: Device, code: KernelCode, held: int, mean: float | None, itemsize: int, n_rows: int | None = None
) -> RowsLayout:
    """The layout for a function.

    `held` is the numbers that a thread reads for each row, `mean` the rows of a segment, where segments are of groups,
    `itemsize` the bytes of a number, and `n_rows` the rows, where the data tell.
    """
    if device.type == "cpu":
        return _on_cpu(device, code, mean, itemsize)
    in_registers = max(power_below(_HELD_NUMBERS // held), 1)
    if mean is None:
        threads, segment = min(256, device.max_threads), _MOST_ROWS
        if n_rows is not None:  # each multiprocessor gets two blocks, if there are enough rows
            share = max(n_rows / (2 * threads * device.compute_units), 1)
            segment = min(1 << round(math.log2(share)), _MOST_ROWS)
        most = _MOST_IN_FLIGHT if held <= _MOST_HELD else in_registers
        unroll = min(copies(code, _MOST_IN_FLIGHT), most, max(segment // 2, 1))
        return RowsLayout(threads, tile=1, unroll=unroll, resident=1024, lanes=threads, segment=threads * segment)
    many = mean >= _MANY_OF_GROUP
    light = not many and code.mixed_cost < LIGHT_COST["gpu"]
    threads, unroll = min(128, device.max_threads), min(copies(code, 2 if light else 4), in_registers)
    lanes = min(power_of_two(int(mean / (2 * unroll)) + 1), threads, device.warp)
    return RowsLayout(threads, tile=threads // lanes, unroll=unroll, resident=1536 if many else 1024, lanes=lanes)


def _on_cpu(device: Device, code: KernelCode, mean: float | None, itemsize: int) -> RowsLayout:
    """Layout whose lanes go through a segment together, if all of them do."""
    unroll, many = copies(code, 4), code.n_sums > _MANY_SUMS
    together = mean is None or mean >= 2 * _CPU_LANES
    lanes = min(64 // itemsize if many else _CPU_LANES, device.max_threads) if together else 1
    threads = lanes if together else min(64, device.max_threads)
    return RowsLayout(
        threads, tile=threads // lanes, unroll=unroll, resident=1024, lanes=lanes, later=many and unroll > 1,
        segment=0 if mean is not None else lanes * unroll * 64,
    )  # fmt: skip


def blocks_of_rows(device: Device, layout: RowsLayout, n_segments: int, n_bytes: int) -> int:
    """Number of blocks that share the rows, which have matrices of `n_bytes`, however many sets of parameters there are.

    A CPU takes a block for all sets, then the next one.
    """
    blocks = row_blocks(device, layout, n_segments, 1)
    if device.type == "cpu":
        blocks = max(blocks, min(n_bytes // _CACHE_BYTES, -(-n_segments // layout.tile), MOST_BLOCKS_Y))
    return blocks
