"""How the kernels of elliptical densities are laid out, and how they keep the inverse factors W of the matrices."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from ..kernels.layout import Layout, Problem

if TYPE_CHECKING:
    from ..runtime.base import Device

#: Rows of W that a thread multiplies at a time: as many as its registers hold sums for.
_WIDTHS = {"cpu": 8}
#: (rows a thread, sets whose matrices are in shared memory at once), the fastest first, as measured on an H200: two rows a
#: thread, all sets' matrices (None) at once while they are small beside the rows, else one, else none.
_IN_SHARED_MEMORY = ((2, None), (2, 1), (1, 1), (1, 0))


def factor_width(device: Device) -> int:
    """Rows of W that a thread multiplies at a time."""
    return _WIDTHS.get(device.type, 16)


@functools.cache
def factor_size(dim: int, width: int) -> int:
    """Numbers in a W packed by `width` rows."""
    return width * sum(min(i + width, dim) for i in range(0, dim, width))


def layout(device: Device, problem: Problem, factor_size: int, n_sums: int, all_sets: bool = False) -> tuple[Layout, bool]:
    """The layout of a kernel, and whether it keeps matrices in shared memory.

    Parameters
    ----------
    factor_size : int
        Numbers of a matrix.
    n_sums : int
        Sums for each set.
    all_sets : bool
        Whether a block goes through all sets, as that of a mixture does; few sets are one group.
    """
    if not all_sets:
        return _of_some_sets(device, problem, factor_size, n_sums)
    chosen, stage = _of_some_sets(device, replace(problem, n_sets=min(problem.n_sets, 8)), factor_size, 1)
    n_sets = problem.n_sets if stage else max(problem.n_sets, 16)
    return replace(chosen, sets=n_sets, vector=1, group=chosen.group if stage else 16), stage


def _of_some_sets(device: Device, problem: Problem, factor_size: int, n_sums: int) -> tuple[Layout, bool]:
    """The layout of a kernel whose blocks share the sets."""
    itemsize, dim = problem.itemsize, problem.dim
    if device.type == "cpu":
        threads = 64 // itemsize
        return Layout(threads, min(problem.n_sets, 16), threads, 1), False
    sets = min(problem.n_sets, max(8 // max(n_sums, 1), 1))
    wide = 16 // itemsize  # neighbouring sets in one store, where they are neighbours in the result
    vector = wide if problem.aligned and not problem.by_rows and problem.set_multiple % wide == 0 and sets > 1 else 1
    matrix = (factor_size + dim) * itemsize
    threads = min(128, device.max_threads)
    fixed = 8 * n_sums * sets * threads + 64 * sets + 1024
    for rows, matrices in _IN_SHARED_MEMORY:
        group = sets if matrices is None else matrices
        small = group * matrix <= dim * threads * rows * itemsize or group == 1
        if small and fixed + group * matrix + dim * (threads * rows + 1) * itemsize <= device.shared_memory:
            break
    while threads > 1 and fixed + group * matrix + dim * (threads * rows + 1) * itemsize > device.shared_memory:
        threads //= 2
    return Layout(threads, sets, threads * rows, rows, vector, group=max(group, 1)), group > 0
