"""Table shape: a function at every point of the broadcast of observations and parameters."""

from __future__ import annotations

from ..kernels.code import KernelCode
from ..kernels.layout import Layout, Problem, copies, power_of_two, sets_that_fit, stage_vectors
from ..kernels.separated import ROW, SET
from ..kernels.shape import Shape
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.base import Device
from .broadcasting import table_pattern

LANES = 8  # sets that a vector register of a CPU takes
#: Arithmetic operations below which it pays on a CPU that a row of the table is one register.
LIGHT_COST = thresholds.EVALUATION_LIGHT_TABLE.value
#: Arithmetic operations from which it no longer pays that a thread has several entries in flight.
HIGH_COST = thresholds.EVALUATION_HEAVY_TABLE.value


def layout(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of a table: on a CPU, else by whether rows or sets are neighbours in the result."""
    if device.type == "cpu":
        return _on_cpu(code, problem)
    return _by_rows(device, code, problem) if problem.by_rows else _by_sets(device, code, problem)


def _on_cpu(code: KernelCode, problem: Problem) -> Layout:
    """Layout on a CPU, where threads are the lanes of vector registers: a small block is one register.

    The lanes are rows, whose results go from register to register before they are stored, or sets where rows cost little.
    """
    light = code.mixed_cost < LIGHT_COST and not code.row_calls and not code.branches("set")
    if light and problem.set_multiple == LANES and not problem.by_rows and not problem.dim:
        return Layout(LANES, LANES, 512)
    threads = 64 // problem.itemsize
    sets = 1 if problem.by_rows else sets_that_fit(code, problem.itemsize, min(power_of_two(problem.n_sets), 64))
    chunk = next(c for c in (4, 2, 1) if sets % c == 0 and problem.set_multiple % c == 0)
    return Layout(threads, sets, 512, 512 // threads, by_rows=True, chunk=chunk)


def _by_rows(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout in which neighbouring threads of a GPU take neighbouring rows."""
    threads = min(256, device.max_threads)
    vectors = problem.dim or any(o.rank for o in code.row_operands)
    wide = 1 if vectors else problem.wide
    unroll = 1 if code.mixed_cost > HIGH_COST else copies(code, 2)
    return Layout(threads, 1, threads * wide * unroll, unroll, wide, by_rows=True)


def _by_sets(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout in which neighbouring threads of a GPU take neighbouring sets, which each block prepares for itself."""
    wide, itemsize = problem.wide, problem.itemsize
    heavy = code.struct_bytes(SET, itemsize) * wide > 128  # too many registers for several sets a thread
    vector = wide if problem.set_multiple % wide == 0 and not heavy else 1
    threads = min(128, device.max_threads)
    sets = sets_that_fit(code, itemsize, min(power_of_two(problem.n_sets), threads, 32 * vector))
    struct = code.struct_bytes(ROW, itemsize) if code.row_type else 0
    budget = min(device.shared_memory, 48 * 1024) - sets * code.struct_bytes(SET, itemsize) - 256
    if problem.dim:
        tile, numbers = stage_vectors(device, code, problem, 256)
    else:
        tile, numbers = max((t for t in (1024, 512, 256) if t * struct <= budget), default=128), 0
    stage_rows = 0 < tile * struct <= budget - numbers * itemsize
    # A block for each tile writes fastest, unless the parameter-only work of every block costs more than that.
    resident = 2048 if code.set_cost > HIGH_COST else 1 << 30
    return Layout(threads, sets, tile, 1, vector, stage_rows=stage_rows, stage_vectors=numbers, resident=resident)


TABLE = Shape("table", Template.beside(__file__, "table"), table_pattern, layout)
