"""Tiles: entries by group in parts of about as many for each block, whose sums a kernel makes in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels.layout import MOST_BLOCKS_Y
from ..kernels.template import Template
from ..runtime import thresholds
from .placed import Placed

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from ..runtime.types import DType, Handle

_TILES = Template.beside(__file__, "tiles")
#: By the type of device: entries of a tile, and sets of parameters whose numbers lie side by side.
TILE, SETS_TOGETHER = thresholds.ROWS_SPARSE_TILE.value, thresholds.ROWS_SPARSE_SETS.value
_MOST_LANES = 32  # threads that share a piece


class Numbers(NamedTuple):
    """Numbers of sets of parameters: set s has number i at `offset + s * stride + first + i * each`."""

    handle: Handle
    offset: int
    stride: int
    first: int = 0
    each: int = 1


class Tiles:
    """Sums of the entries of `n` groups, which are in pieces, and pieces in tiles.

    Entries lie in runs of one group, one run of each group after another, and then all of them again, if there are more runs
    than groups. A run has one piece for each `tile` entries; sums of several pieces of a group are added up by further tiles,
    in which the pieces are entries.

    Parameters
    ----------
    lengths : (runs,) ndarray of int
        Entries of each run.
    n : int
    dtype : dtype
        Type of the computation.
    runtime : Runtime
    indices, values : (entries,) ndarray, optional
        An entry is the number at its index, by default at its own place, times its value, by default one.
    n_numbers : int
        Numbers among which indices point.
    source, result : {"real", "double"}
        Types of the numbers and of the sums.
    """

    def __init__(
        self, lengths: np.ndarray, n: int, dtype: DType, runtime: Runtime, *, indices: np.ndarray | None = None,
        values: np.ndarray | None = None, n_numbers: int = 0, source: str = "real", result: str = "double",
    ):  # fmt: skip
        self.n, self._dtype, self._runtime, self._n_numbers = n, dtype, runtime, n_numbers
        self._source, self._result = source, result
        self._kernels: dict[tuple[str, int], Kernel] = {}
        self._placed = Placed(runtime)  # which keeps arrays alive
        self._tile, self._sets = TILE[runtime.device.type], SETS_TOGETHER[runtime.device.type]
        cpu = runtime.device.type == "cpu"
        self._threads, self._lanes = (8, 1) if cpu else (min(128, runtime.device.max_threads), _MOST_LANES)
        while self._sets > 1 and 8 * (2 * self._tile * self._sets + self._threads) > runtime.device.shared_memory:
            self._sets //= 2
        once = lengths.size == n
        counts = np.maximum(-(-lengths // self._tile), 1 if once else 0)  # pieces of each run
        run = np.repeat(np.arange(lengths.size), counts)  # of each piece
        within = np.arange(run.size) - (np.cumsum(counts) - counts)[run]
        begins = (np.cumsum(lengths) - lengths)[run] + lengths[run] * within // np.maximum(counts, 1)[run]
        self._n_pieces, n_entries = run.size, int(lengths.sum())
        places = (begins + np.arange(run.size)) // self._tile  # a piece counts as an entry: there may be many without any
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        self._n_tiles = firsts.size
        self._further: Tiles | None = None  # of the pieces, where groups have several, or none
        slots: list[tuple[Handle, int]] = []
        if run.size != n or not once:
            slots = [self._placed.whole(_filled(slots_of(run % n)))]
            self._further = sums_of_slots(run % n, n, dtype, runtime, result)
        arrays = [] if indices is None else [self._placed.whole(_filled(indices))]
        arrays += [] if values is None else [self._placed(np.ascontiguousarray(_filled(values), dtype))]
        arrays += [*slots, self._placed.whole(np.append(begins, n_entries)), self._placed.whole(np.append(firsts, run.size))]
        self._arrays = [argument for pair in arrays for argument in pair]  # as the kernel takes them
        self._constants = dict(
            dtype=dtype.name, threads=self._threads, tile=self._tile, most_lanes=self._lanes, source=source,
            result="double" if self._further else result, indices=indices is not None, values=values is not None,
            slots=bool(slots),
        )  # fmt: skip

    def add(self, out: Handle, offset: int, numbers: Numbers, n_sets: int) -> None:
        """Start the kernels that write the sums of each group, (n_sets, n)."""
        sets = self._sets if self._n_numbers and n_sets > 1 else 1
        groups = min(-(-n_sets // sets), MOST_BLOCKS_Y)
        if sets > 1:
            n_copied = -(-n_sets // sets) * sets * self._n_numbers
            copied = self._runtime.scratch(self._dtype.itemsize * n_copied)
            kernel = self._kernel("interleave", sets)
            kernel((-(-self._n_numbers // self._threads), groups), copied, self._n_numbers, n_sets, *numbers)
            numbers = Numbers(copied, 0, self._n_numbers * sets)
        to, place, stride = out, offset, self.n
        if self._further:
            to, place, stride = self._runtime.scratch(8 * max(n_sets * self._n_pieces, 1)), 0, self._n_pieces
        if self._n_tiles:
            self._kernel("add_tiles", sets)((self._n_tiles, groups), to, place, stride, n_sets, *numbers, *self._arrays)
        if self._further:
            self._further.add(out, offset, Numbers(to, 0, self._n_pieces), n_sets)

    def _kernel(self, name: str, sets: int) -> Kernel:
        if (name, sets) not in self._kernels:
            made = _TILES.kernel(self._runtime, name, self._threads, sets=sets, **self._constants)
            self._kernels[name, sets] = made
        return self._kernels[name, sets]


def slots_of(groups: np.ndarray) -> np.ndarray:
    """Places at which those of a group lie one after another, for sums of parts of these groups."""
    slots = np.empty(groups.size, np.int32)
    slots[np.argsort(groups, kind="stable")] = np.arange(groups.size)
    return slots


def sums_of_slots(groups: np.ndarray, n: int, dtype: DType, runtime: Runtime, result: str) -> Tiles:
    """Sums of parts of groups, which lie by `slots_of`."""
    return Tiles(np.bincount(groups, minlength=n), n, dtype, runtime, source="double", result=result)


def _filled(array: np.ndarray) -> np.ndarray:
    """Array itself, or an element where there is none: devices have no empty memory."""
    return array if array.size else np.zeros(1, array.dtype)
