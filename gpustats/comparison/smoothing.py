"""Importance sampling of rows on a device: from the terms of rows for all draws to a few numbers of each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.results import written_by
from ..kernels.layout import MOST_BLOCKS_Y, MOST_SHARED_BYTES, RESERVED_SHARED_BYTES, power_of_two
from ..kernels.template import Template

if TYPE_CHECKING:
    from ..runtime.base import Device, Kernel, Runtime
    from ..runtime.types import DType, Handle, KernelValue

_PSIS, _WAIC = Template.beside(__file__, "psis"), Template.beside(__file__, "waic")
_BY_ROW = Template.beside(__file__, "by_row")
#: Numbers of which a sort of the tail needs more than there are in it: the threshold is then found sooner.
SLACK = 1.25
_DOUBLE = np.dtype(np.float64)
_MOST_SPAN = 600.0  # of log-densities whose exponentials, and the reciprocals of these, are normal numbers
_LOG_TINY = math.log(np.finfo(float).tiny)


@dataclass(frozen=True)
class Terms:
    """Log-densities of rows for all draws on a device, (n_rows, n_draws), from `offset` behind `handle` on, in numbers."""

    runtime: Runtime
    handle: Handle
    offset: int
    n_rows: int
    n_draws: int
    dtype: DType

    @property
    def nbytes(self) -> int:
        return self.n_rows * self.n_draws * self.dtype.itemsize


@dataclass(frozen=True)
class Tail:
    """Number of the largest weights of a row that are smoothed.

    Attributes
    ----------
    length : int
    strict : bool
        Whether weights that equal the largest one outside of the tail are outside of it, too, as in ArviZ 0; else, as in
        ArviZ 1, as many as there are in it.
    """

    length: int
    strict: bool

    @classmethod
    def of(cls, n_draws: int, r_eff: float, strict: bool) -> Tail:
        """Tail as ArviZ chooses it, for draws of a relative efficiency; see the source of its ``psislw``."""
        if strict:
            return cls(math.ceil(min(n_draws / 5, 3 * math.sqrt(n_draws / r_eff))), True)
        most = 3 * math.sqrt(n_draws / r_eff) if n_draws * r_eff > 225 else n_draws / 5
        return cls(min(math.floor(most), n_draws - 1), False)


def threads_of(device: Device, itemsize: int) -> int:
    """Threads of a block that shares a row: a vector register of a CPU."""
    return 64 // itemsize if device.type == "cpu" else min(64, device.max_threads)


def turned(runtime: Runtime, handle: Handle, offset: int, n_draws: int, n_rows: int, dtype: DType) -> Terms:
    """Terms by row, of terms (n_draws, n_rows) that lie behind a handle."""
    made = Terms(runtime, runtime.scratch(max(n_rows * n_draws, 1) * dtype.itemsize), 0, n_rows, n_draws, dtype)
    kernel, _, side = _by_row_kernel(runtime, "by_row", dtype)
    blocks = -(-n_rows // side), min(-(-n_draws // side), MOST_BLOCKS_Y)
    kernel(blocks, made.handle, 0, handle, offset, n_rows, n_draws)
    return made


def psis(terms: Terms, tail: Tail) -> np.ndarray:
    """Pareto-smoothed importance sampling of each row without itself.

    Returns
    -------
    (n_rows, 4) float64 ndarray
        Log density without the row, Pareto k, log density with it, and the first draw whose term is not finite, else the number
        of draws.
    """
    runtime, threads = terms.runtime, threads_of(terms.runtime.device, terms.dtype.itemsize)
    capacity = max(power_of_two(math.ceil(SLACK * (tail.length + 1))), 2)
    scores = 30 + math.isqrt(capacity)
    shared = 16 * capacity
    most = min(runtime.device.shared_memory, MOST_SHARED_BYTES) - 8 * (threads + scores) - RESERVED_SHARED_BYTES
    in_shared = shared <= most
    kernel = _PSIS.kernel(
        runtime, "psis", threads, shared if in_shared else 0, dtype=terms.dtype.name, threads=threads, capacity=capacity,
        scores=scores, in_shared=in_shared, strict=tail.strict, log_tiny=_LOG_TINY, tiny=np.finfo(float).tiny.item(),
        epsilon=np.finfo(float).eps.item(), least_share=10 * np.finfo(float).eps.item(), most_span=_MOST_SPAN,
    )  # fmt: skip
    blocks = terms.n_rows if in_shared else min(terms.n_rows, 32 * runtime.device.compute_units)
    tails = [] if in_shared else [runtime.scratch(shared * blocks)]

    def launch(out: Handle, offset: int) -> None:
        kernel((blocks, 1), out, offset, terms.handle, terms.offset, terms.n_rows, terms.n_draws, tail.length, *tails)

    return _numbers(terms, 4, launch)


def waic(terms: Terms) -> np.ndarray:
    """Log density and variance of the log density of each row.

    Returns
    -------
    (n_rows, 3) float64 ndarray
        Log of the mean density, variance of the log density over the draws, and the first draw whose term is not finite, else
        the number of draws.
    """
    threads = threads_of(terms.runtime.device, terms.dtype.itemsize)
    kernel = _WAIC.kernel(terms.runtime, "waic", threads, dtype=terms.dtype.name, threads=threads)

    def launch(out: Handle, offset: int) -> None:
        kernel((terms.n_rows, 1), out, offset, terms.handle, terms.offset, terms.n_rows, terms.n_draws)

    return _numbers(terms, 3, launch)


class GroupSums:
    """Sums of the terms of rows over groups, for all draws, where the rows of each group come one after another.

    Parameters
    ----------
    runtime : Runtime
    groups : (N,) ndarray
        Number of the group of each row, in the order in which they come: 0, 0, 1, 1, 1, 2, …
    """

    def __init__(self, runtime: Runtime, groups: np.ndarray):
        self._runtime, self._groups = runtime, groups
        self._begun: tuple[Handle, int] | None = None  # the sums of a group of which rows are still to come

    def ended(self, terms: Terms, first: int, order: np.ndarray | None) -> Terms | None:
        """Sums of the groups that end with these rows, those from the row `first` on; None where none does.

        Row i of these has its terms at the place of i in `order`, if there is one.
        """
        groups = self._groups[first : first + terms.n_rows]
        starts = np.concatenate([[0], np.flatnonzero(np.diff(groups)) + 1, [groups.size]])
        places = np.arange(groups.size) if order is None else np.argsort(order)
        kernel, threads, _ = _by_row_kernel(self._runtime, "add_groups", terms.dtype)
        n_groups, n_draws = starts.size - 1, terms.n_draws
        sums = self._runtime.scratch(8 * n_groups * n_draws)
        index: list[KernelValue] = []
        alive: list[object] = []
        for array in (starts, places):
            array = np.ascontiguousarray(array, np.int32)
            kept = array if self._runtime.host_visible else self._runtime.to_device(array)
            index += self._runtime.memory(kept)
            alive += [kept, index[-2]]
        begun = (sums, 0, 0) if self._begun is None else (*self._begun, 1)
        blocks = n_groups, min(-(-n_draws // threads), MOST_BLOCKS_Y)
        kernel(blocks, sums, 0, *begun, terms.handle, terms.offset, n_draws, *index)
        if self._runtime.host_visible:
            self._runtime.synchronize()  # which reads the arrays
        end = first + terms.n_rows
        goes_on = end < self._groups.size and self._groups[end] == groups[-1]
        n_ended = n_groups - int(goes_on)
        self._begun = (sums, n_ended * n_draws) if goes_on else None
        return Terms(self._runtime, sums, 0, n_ended, n_draws, _DOUBLE) if n_ended else None


def _by_row_kernel(runtime: Runtime, name: str, dtype: DType) -> tuple[Kernel, int, int]:
    """Kernel of the template `by_row`, its threads, and the rows and draws that a block turns."""
    cpu = runtime.device.type == "cpu"
    side = 256 // dtype.itemsize if cpu else 32
    threads = 64 // dtype.itemsize if cpu else min(256, runtime.device.max_threads // side * side)
    return _BY_ROW.kernel(runtime, name, threads, dtype=dtype.name, threads=threads, side=side), threads, side


def _numbers(terms: Terms, count: int, launch: Callable[[Handle, int], None]) -> np.ndarray:
    """Numbers of each row that a kernel writes."""
    if not terms.n_rows:
        return np.empty((0, count))
    found: np.ndarray = written_by(launch, terms.runtime, (terms.n_rows, count), _DOUBLE, False)
    return found
