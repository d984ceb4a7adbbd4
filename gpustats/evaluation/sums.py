"""Sums over the observations, for many sets of parameters (the loglik shape), and their launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..kernels.code import KernelCode
from ..kernels.layout import Layout, Problem, copies, power_of_two, sets_that_fit, stage_vectors
from ..kernels.shape import Shape
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.base import Device, Kernel, Runtime
from ..runtime.types import Handle, Value
from .broadcasting import sum_pattern

_ADDER, _BLOCK_ADDER = Template.beside(__file__, "add_partial_sums"), Template.beside(__file__, "add_block_sums")

#: Arithmetic operations below which a thread keeps many rows in flight, by the type of device.
LIGHT_COST = thresholds.EVALUATION_LIGHT_SUM.value

#: Blocks whose sums each of the threads that share a sum adds at least, where there are many.
LEAST_ADDED = thresholds.EVALUATION_LEAST_ADDED.value


def layout(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of a sum: of vectors, on a CPU, on a GPU."""
    sets = min(power_of_two(problem.n_sets), power_of_two(max(24 // code.n_sums, 1) + 1) // 2, 8)
    sets = sets_that_fit(code, problem.itemsize, sets)
    if problem.dim:
        return _of_vectors(device, code, problem, sets)
    return _on_cpu(device, code, sets) if device.type == "cpu" else _on_gpu(device, code, problem, sets)


def _of_vectors(device: Device, code: KernelCode, problem: Problem, sets: int) -> Layout:
    threads = min(64 if device.type == "cpu" else 128, device.max_threads)
    tile, numbers = stage_vectors(device, code, problem, threads)
    tile = threads if not numbers else tile
    threads = min(threads, power_of_two(tile + 1) // 2)
    return Layout(threads, sets, threads, stage_vectors=numbers)


def _on_cpu(device: Device, code: KernelCode, sets: int) -> Layout:
    threads = min(64, device.max_threads)
    many = code.logarithm or code.mixed_cost < LIGHT_COST["cpu"]
    unroll = 1 if sets > 1 else 8 if many and not code.rows else 2
    return Layout(threads, sets, threads * unroll, unroll, resident=1024)


def _on_gpu(device: Device, code: KernelCode, problem: Problem, sets: int) -> Layout:
    threads = min(256 if sets == 1 else 128, device.max_threads)
    wide = 1 if any(o.rank for o in code.row_operands) or problem.rows < problem.wide else problem.wide
    light = code.mixed_cost < LIGHT_COST["gpu"] and problem.itemsize == 8
    unroll = 1 if sets > 1 else min(copies(code, 8 if light else 4), problem.rows // wide)
    return Layout(threads, sets, threads * wide * unroll, unroll, wide, resident=1024, apart=sets == 1)


LOGLIK = Shape("loglik", Template.beside(__file__, "loglik"), sum_pattern, layout, sums=True)


class Adder(NamedTuple):
    """Kernel that adds up the sums of blocks, where the kernel that made them cannot."""

    kernel: Kernel
    together: int  # sums that a block of it adds


def adder_of(runtime: Runtime, threads: int, blocks: int, n: int) -> Adder | None:
    """Adder of `n` sums of blocks of so many threads; None where the kernel that made them adds them up."""
    if blocks == 1 or runtime.dialect != "opencl":
        return None
    layout, together = Layout(threads), min(power_of_two(n), 8)
    kernel = _ADDER.kernel(runtime, "add_partial_sums", threads, dtype="float64", layout=layout, together=together)
    return Adder(kernel, together)


def add_block_sums(
    runtime: Runtime, out: Handle, offset: int, partial: Handle, n: int, blocks: int, *, threads: int, side: int,
    spread: int = 1,
) -> None:  # fmt: skip
    """Start to add up the sums of blocks, (blocks, n, spread) float64.

    The n sums go to the memory `out`, behind `offset` numbers. `threads` are those of a block, at most, `side` is how many
    neighbouring sums these add. How a sum is added depends on the number of blocks alone, and not on n.
    """
    threads = min(threads, side * max(power_of_two(blocks) // LEAST_ADDED, 4))
    constants = dict(adders=threads, side=side, spread=spread)
    kernel = _BLOCK_ADDER.kernel(runtime, "add_block_sums", threads, dtype="float64", **constants)
    kernel((-(-n // side), 1), out, offset, partial, n, blocks)


class SumLaunch(NamedTuple):
    """Launch of a compiled sum."""

    runtime: Runtime
    kernel: Kernel
    adder: Adder | None
    grid: tuple[int, int]
    n_rows: int
    n_sets: int
    n_sums: int  # for each set
    dim: tuple[int, ...]  # the length of vectors, where the kernel takes it

    def launch(self, out: Handle, offset: int, values: Sequence[Value]) -> None:
        """Start the sum into `out`."""
        set_blocks, blocks = self.grid
        partial = counters = out
        if blocks > 1:
            partial = self.runtime.scratch(8 * self.n_sets * self.n_sums * blocks)
            if self.adder is None:
                counters = self.runtime.zeroed_counters(set_blocks)
        self.kernel(self.grid, out, offset, partial, counters, self.n_rows, self.n_sets, *values, *self.dim)
        if self.adder is not None:
            n = self.n_sets * self.n_sums
            self.adder.kernel((-(-n // self.adder.together), 1), out, offset, partial, n, blocks)

    def start(self, values: Sequence[Value]) -> Callable[[], np.ndarray]:
        """Start the sum; the function returned waits and gives a view, to be read at once."""
        result = self.runtime.result(8 * self.n_sets * self.n_sums)
        self.launch(result.handle, 0, values)
        return lambda: self.runtime.fetch(result).view(np.float64)

    def fetch(self, values: Sequence[Value]) -> np.ndarray:
        """Sums of the last launch: a view, to be read at once."""
        return self.start(values)()
