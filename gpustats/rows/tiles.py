"""Tiles: entries by group in parts of about as many for each block, whose sums a kernel makes in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels.template import Template
from ..runtime import thresholds
from .placed import Placed

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from ..runtime.types import DType, Handle, KernelValue

_TILES = Template.beside(__file__, "tiles")
#: By the type of device: entries of a tile, and sets of parameters whose numbers lie side by side.
TILE, SETS_TOGETHER = thresholds.ROWS_SPARSE_TILE.value, thresholds.ROWS_SPARSE_SETS.value
_MOST_LANES = 32  # threads that share a piece
_MOST_BLOCKS_OF_SETS = 65535  # along an axis that CUDA's grids have less of


class Numbers(NamedTuple):
    """Numbers of sets of parameters: set s has number i at `offset + s * stride + first + i * each`."""

    handle: Handle
    offset: int
    stride: int
    first: int = 0
    each: int = 1


class Entries(NamedTuple):
    """Kernel's arguments for entries: the index of each, by default its own place, and its value, by default one."""

    indices: tuple[Handle, int] | tuple[()] = ()
    values: tuple[Handle, int] | tuple[()] = ()


NO_ENTRIES = Entries()


class Tiles:
    """Entries of `n` groups in pieces, and pieces in tiles.

    Entries lie in runs of one group, one run of each group after another, and then all of them again, if there are more runs
    than groups. A run has one piece for each `tile` entries; sums of several pieces of a group are added up by further tiles,
    in which the pieces are entries.

    Parameters
    ----------
    lengths : (runs,) ndarray of int
        Entries of each run.
    n : int
    runtime : Runtime
    """

    def __init__(self, lengths: np.ndarray, n: int, runtime: Runtime):
        self.n, self._runtime, self._placed = n, runtime, Placed(runtime)  # which keeps arrays alive
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
        self._begins = self.placed(np.append(begins, n_entries))
        self._tiles = self.placed(np.append(firsts, run.size))
        self._slots: tuple[Handle, int] | tuple[()] = ()
        self._further: Tiles | None = None  # of the pieces, where groups have several, or none
        if run.size != n or not once:
            groups = run % n
            slots = np.empty(run.size, np.int32)
            slots[np.argsort(groups, kind="stable")] = np.arange(run.size)
            self._slots = self.placed(slots)
            self._further = Tiles(np.bincount(groups, minlength=n), n, runtime)

    def placed(self, array: np.ndarray, dtype: DType | type = np.int32) -> tuple[Handle, int]:
        """Kernel's arguments for an array, which may be empty, and which this object keeps alive."""
        return self._placed(np.ascontiguousarray(array if array.size else np.zeros(1), dtype))

    def add(
        self, out: Handle, offset: int, numbers: Numbers, n_sets: int, dtype: DType, result: str = "double", *,
        source: str = "real", n_numbers: int = 0, entries: Entries = NO_ENTRIES,
    ) -> None:  # fmt: skip
        """Start the kernels that write the sums of each group, (n_sets, n), in the type `result`, "real" or "double".

        An entry's number is that at its index, of `n_numbers`, times its value, where there are such.
        """
        indices, values = entries
        many = bool(indices) and n_sets > 1 < self._sets
        sets = self._sets if many else 1
        groups = min(-(-n_sets // sets), _MOST_BLOCKS_OF_SETS)
        constants = dict(sets=sets, source=source, indices=bool(indices), values=bool(values))
        if many:
            n_copied = -(-n_sets // sets) * sets * n_numbers
            copied = self._runtime.scratch(dtype.itemsize * n_copied)
            kernel = self._kernel("interleave", dtype, result="double", slots=False, **constants)
            kernel((-(-n_numbers // self._threads), groups), copied, n_numbers, n_sets, *numbers)
            numbers = Numbers(copied, 0, n_numbers * sets)
        to, place, stride, kind = out, offset, self.n, result
        if self._further:
            to, place, stride, kind = self._runtime.scratch(8 * max(n_sets * self._n_pieces, 1)), 0, self._n_pieces, "double"
        if self._n_tiles:
            kernel = self._kernel("add_tiles", dtype, result=kind, slots=bool(self._slots), **constants)
            arrays: list[KernelValue] = [*indices, *values, *self._slots, *self._begins, *self._tiles]
            kernel((self._n_tiles, groups), to, place, stride, n_sets, *numbers, *arrays)
        if self._further:
            of_pieces = Numbers(to, 0, self._n_pieces)
            self._further.add(out, offset, of_pieces, n_sets, dtype, result, source="double")

    def _kernel(self, name: str, dtype: DType, **constants: object) -> Kernel:
        return _TILES.kernel(
            self._runtime, name, self._threads, dtype=dtype.name, threads=self._threads, tile=self._tile,
            most_lanes=self._lanes, **constants,
        )  # fmt: skip
