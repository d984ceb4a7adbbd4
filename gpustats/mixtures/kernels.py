"""Kernels of mixtures, and their layouts: sums and rows of any number of components, and the softmax of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ..draws.generator import RANDOM
from ..evaluation.broadcasting import mixture_pattern
from ..kernels.code import KernelCode
from ..kernels.layout import Layout, Problem, power_of_two, sets_that_fit, stage_vectors
from ..kernels.shape import Shape
from ..kernels.template import Template
from ..runtime.base import Device

SOFTMAX = Template.beside(__file__, "softmax")


def layout(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of a mixture: a block goes through all sets, a group at a time; few sets are one group."""
    n_sets, cpu = max(problem.n_sets, 16), device.type == "cpu"
    threads = 64 // problem.itemsize if cpu else min(128, device.max_threads)
    unroll = 1 if problem.dim else 4 if cpu or code.mixed_cost < 60 else 2
    tile, numbers = stage_vectors(device, code, problem, threads) if problem.dim else (threads * unroll, 0)
    if problem.dim:
        threads = tile = min(threads, power_of_two(tile + 1) // 2)
    group = sets_that_fit(code, problem.itemsize, min(n_sets, 64), 8192)
    return Layout(threads, n_sets, tile, unroll, group=group, stage_vectors=numbers, resident=1024)


#: Writes for each row, besides the sum: the mixture's log-density, or the number of a component, drawn or the most probable.
MIXTURE = Shape(
    "mixture", Template.beside(__file__, "mixture"), mixture_pattern, layout, sums=True, all_sets=True,
    outputs={"rows": (), "labels": (RANDOM,), "likeliest": ()},
)  # fmt: skip


@dataclass(frozen=True)
class SoftmaxLayout(Layout):
    """The constants of the softmax kernel; `tile` is the rows that a block takes at once."""

    lanes: int = 1  # threads that share a row; a power of two


def softmax_layout(device: Device, itemsize: int, n_columns: int) -> SoftmaxLayout:
    """Layout of the softmax kernel."""
    threads = 64 // itemsize if device.type == "cpu" else min(128, device.max_threads)
    lanes = 1 if device.type == "cpu" else min(power_of_two(n_columns), 32, threads)
    return SoftmaxLayout(threads, tile=threads // lanes, lanes=lanes)
