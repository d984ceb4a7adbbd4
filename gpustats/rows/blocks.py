"""Blocks: sums of the entries of a large sparse matrix by group, whose numbers and sums lie in the shared memory of a GPU.

An entry that takes its number from the cache of a GPU waits for a sector of it. Here a block of threads has the sums of some
groups, and goes through the numbers part by part: entries of its groups and of a part of the numbers are a tile. So each entry
finds its number near at hand, by an index of two bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ..kernels.layout import MOST_BLOCKS_Y
from ..kernels.template import Template
from ..runtime import thresholds
from .placed import Placed
from .tiles import Numbers, slots_of, sums_of_slots

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from ..runtime.types import DType, Handle

_BLOCKS = Template.beside(__file__, "blocks")
#: Entries from which a GPU goes through a matrix by blocks.
LEAST_ENTRIES = thresholds.ROWS_SPARSE_LEAST_BLOCKED.value
#: Sums of a block, numbers of a tile, and threads.
SUMS, NUMBERS, THREADS = thresholds.ROWS_SPARSE_BLOCK.value
LANES = 32  # neighbouring threads, each of which has a piece of a slice
LONGEST = 64  # entries of a piece: longer runs of a group and a tile are several, so that no thread is left alone
LEAST_OF_TILE = 2 * LANES * LONGEST  # entries of a tile on average, so that what slices are filled up with is less
NONE = 0xFFFF  # slot of lanes without a piece
_THREADS_OF_UNIT = 2048  # of a multiprocessor
_BLOCKS_OF_UNIT = 8  # blocks of a multiprocessor at least, so that few wait for the last ones
ENTRIES_AT_ONCE = 1 << 22  # about so many, that a thread of the host puts in order
_MOST_WORKERS = 8  # such threads: each takes a few hundred megabytes


class Chunk(NamedTuple):
    """Entries of some groups in order, those of group g from `offsets[g]` up to `offsets[g + 1]`, by increasing index.

    Indices count from `first_number`, groups from `first_group`.
    """

    offsets: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    first_number: int = 0
    first_group: int = 0


class BlockLayout(NamedTuple):
    """Layout of blocks for a device: a block has so many sums and threads, a tile so many numbers."""

    sums: int
    numbers: int
    threads: int
    bands: int = 1  # parts of the numbers whose tiles are further blocks

    @classmethod
    def of(
        cls, runtime: Runtime, dtype: DType, n: int, n_numbers: int, n_entries: int, *, in_bands: bool = False
    ) -> Self | None:
        """Layout for the sums of `n` groups of entries; None where tiles would have few entries, and on CPUs."""
        device = runtime.device
        if device.type != "gpu" or n_entries < LEAST_ENTRIES or not n:
            return None
        sums, numbers = SUMS, NUMBERS
        while 8 * sums + dtype.itemsize * (numbers + 1) + 16 > device.shared_memory:
            sums, numbers = sums // 2, numbers // 2
        wanted = _BLOCKS_OF_UNIT * device.compute_units
        of_groups = -(-n // sums)
        bands = max(min(wanted // of_groups, n_numbers // numbers), 1) if in_bands else 1
        if of_groups * bands < wanted:
            sums = max(min(-(-n * bands // wanted), sums), LANES)
        tiles = -(-n // sums) * bands * -(-n_numbers // (numbers * bands))
        threads = min(THREADS, device.max_threads)
        return cls(sums, numbers, threads, bands) if n_entries >= LEAST_OF_TILE * tiles else None

    def at_once(self, n: int, n_entries: int) -> int:
        """Groups of a chunk, if each of `n` has about as many entries: whole blocks of them."""
        return self.sums * max(ENTRIES_AT_ONCE * n // (n_entries * self.sums), 1)

    def shared_bytes(self, dtype: DType, sets: int) -> int:
        """Bytes of shared memory of a block that has the sums of so many sets."""
        return sets * (8 * self.sums + dtype.itemsize * (self.numbers + 1))


class Blocks:
    """Sums of the entries of `n` groups, in blocks of groups by blocks of numbers.

    Parameters
    ----------
    chunks : sequence of callable
        Each makes a `Chunk`, at most once; groups may come again in later ones, with other numbers.
    n, n_numbers : int
    layout : BlockLayout
    dtype : dtype
        Type of the computation.
    runtime : Runtime
    result : {"real", "double"}
        Type of the sums.
    """

    def __init__(
        self, chunks: Sequence[Callable[[], Chunk]], n: int, n_numbers: int, layout: BlockLayout, dtype: DType,
        runtime: Runtime, result: str = "double",
    ):  # fmt: skip
        self.n, self._n_numbers, self._layout, self._dtype, self._runtime = n, n_numbers, layout, dtype, runtime
        self._placed, self._kernels = Placed(runtime), dict[int, "Kernel"]()
        self._sets = 2 if layout.shared_bytes(dtype, 2) + 16 <= runtime.device.shared_memory else 1
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_WORKERS)) as pool:
            parts = list(pool.map(lambda make: _arranged(make(), layout, dtype), chunks))
        groups = np.concatenate([part.groups for part in parts])
        self._n_slots, self._n_blocks = groups.size, sum(part.blocks.size for part in parts)
        alone = np.array_equal(groups, np.arange(n))
        self._further = None if alone else sums_of_slots(groups, n, dtype, runtime, result)
        arrays = [self._placed(np.concatenate([part.indices for part in parts]))]
        if parts[0].values is not None:
            arrays.append(self._placed(np.concatenate([part.values for part in parts if part.values is not None])))
        arrays.append(self._placed(np.concatenate([part.lanes for part in parts])))
        arrays += map(self._placed.whole, [
            _joined([part.slices[:-1] for part in parts], [part.slices[-1] for part in parts]),
            _joined([part.tiles[:-1] for part in parts], [part.tiles[-1] for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            _joined([part.blocks for part in parts], [part.numbers.size for part in parts]),
            _joined([part.slots for part in parts], [part.groups.size for part in parts]),
        ])  # fmt: skip
        arrays += [] if alone else [self._placed.whole(slots_of(groups))]
        self._arrays = [argument for pair in arrays for argument in pair]
        self._constants = dict(
            dtype=dtype.name, sums=layout.sums, numbers=layout.numbers, threads=layout.threads, lanes=LANES,
            result=result if alone else "double", values=parts[0].values is not None, slots=not alone, none=NONE,
        )  # fmt: skip

    def add(self, out: Handle, offset: int, numbers: Numbers, n_sets: int) -> None:
        """Start the kernels that write the sums of each group, (n_sets, n)."""
        sets = min(self._sets, n_sets)
        to, place = out, offset
        if self._further:
            to, place = self._runtime.scratch(8 * n_sets * self._n_slots), 0
        grid = self._n_blocks, min(-(-n_sets // sets), MOST_BLOCKS_Y)
        self._kernel(sets)(grid, to, place, self._n_slots, n_sets, *numbers, self._n_numbers, *self._arrays)
        if self._further:
            self._further.add(out, offset, Numbers(to, 0, self._n_slots), n_sets)

    def _kernel(self, sets: int) -> Kernel:
        if sets not in self._kernels:
            shared = -(-self._layout.shared_bytes(self._dtype, sets) // 16) * 16
            together = self._runtime.device.shared_memory // shared  # blocks of a multiprocessor
            together = max(min(together, _THREADS_OF_UNIT // self._layout.threads), 1)
            self._kernels[sets] = _BLOCKS.kernel(
                self._runtime, "add_blocks", self._layout.threads, shared, shared=shared, sets=sets, together=together,
                **self._constants,
            )
        return self._kernels[sets]


class _Arranged(NamedTuple):
    """Entries of a chunk in the order in which threads take them: slice by slice, a lane's piece in each column of a slice."""

    indices: np.ndarray  # uint16, of the numbers of a tile; `BlockLayout.numbers` where a piece has ended
    values: np.ndarray | None
    lanes: np.ndarray  # (slices * LANES,) uint16, the sum of the block to which a lane adds
    slices: np.ndarray  # where slices begin, in rows of `LANES` entries, then where the last one ends; and so
    tiles: np.ndarray  # where tiles begin among slices,
    numbers: np.ndarray  # the first number of each tile,
    blocks: np.ndarray  # where blocks begin among tiles,
    slots: np.ndarray  # and their sums among those of the chunk
    groups: np.ndarray  # of the sums


def _arranged(chunk: Chunk, layout: BlockLayout, dtype: DType) -> _Arranged:
    """Entries of a chunk by blocks, tiles and slices."""
    offsets, n, n_entries = chunk.offsets.astype(np.int32), chunk.offsets.size - 1, chunk.indices.size
    whole = np.int32(layout.numbers)
    # Pieces: runs of entries of a group and a tile.
    parts = chunk.indices // whole
    begun = np.ones(n_entries, bool)
    np.not_equal(parts[1:], parts[:-1], out=begun[1:])
    begun[offsets[:-1][np.diff(offsets) > 0]] = True
    begins = np.flatnonzero(begun).astype(np.int32)
    lengths = np.diff(begins, append=np.int32(n_entries))
    group = np.repeat(np.arange(n, dtype=np.int32), np.diff(np.searchsorted(begins, offsets)))
    which = np.zeros(begins.size, np.int32)  # among those of a longer run
    if lengths.max(initial=0) > LONGEST:
        counts = -(-lengths // LONGEST)
        run = np.repeat(np.arange(counts.size), counts)
        which = (np.arange(run.size) - (np.cumsum(counts) - counts)[run]).astype(np.int32)
        begins, group = begins[run] + which * LONGEST, group[run]
        lengths = np.minimum(lengths[run] - which * LONGEST, LONGEST)
    # Sums: a group has one for each piece in the tile in which it has most. Blocks have neighbouring ones.
    per_group = np.ones(n, np.int32)
    several = which > 0
    np.maximum.at(per_group, group[several], which[several] + 1)
    slots = np.append(0, np.cumsum(per_group)).astype(np.int32)
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(int(np.searchsorted(slots, slots[cuts[-1]] + layout.sums, "right")) - 1)
    slots_of_blocks = slots[cuts]
    block = np.repeat(np.arange(len(cuts) - 1, dtype=np.int32), np.diff(cuts))[group]
    # Tiles, whose pieces are put in order by radix: the longest first.
    n_parts = int(parts.max(initial=0)) + 1
    tile = block * np.int32(n_parts) + parts[begins]
    order = np.argsort((LONGEST - lengths).astype(np.uint16), kind="stable")
    tile = tile[order]
    order = order[np.argsort(tile.astype(np.uint16) if tile.max(initial=0) < NONE else tile, kind="stable")]
    begins, lengths, block = begins[order], lengths[order], block[order]
    places = (slots[group] + which)[order] - slots_of_blocks[block]
    tile = block * np.int32(n_parts) + parts[begins]
    tile_begins = np.flatnonzero(np.diff(tile, prepend=-1))
    sizes = np.diff(tile_begins, append=tile.size)
    # Slices of the pieces of a tile, as long as their first piece.
    tile_slices = np.append(0, np.cumsum(-(-sizes // LANES)))
    lanes_of_pieces = np.arange(tile.size) + np.repeat(LANES * tile_slices[:-1] - tile_begins, sizes)  # of all slices
    lanes = np.full(tile_slices[-1] * LANES, NONE, np.uint16)
    lanes[lanes_of_pieces] = places
    slices = np.append(0, np.cumsum(lengths[lanes_of_pieces % LANES == 0]))
    to = slices[lanes_of_pieces // LANES] * LANES + lanes_of_pieces % LANES
    indices = np.full(slices[-1] * LANES, layout.numbers, np.uint16)
    values = None if chunk.values is None else np.zeros(indices.size, dtype)
    left = np.arange(begins.size)
    for column in range(int(lengths.max(initial=0))):  # of slices
        left = left[lengths[left] > column]
        source, place = begins[left] + column, to[left] + LANES * column
        indices[place] = chunk.indices[source] % whole
        if values is not None and chunk.values is not None:
            values[place] = chunk.values[source]
    first = np.searchsorted(block[tile_begins], np.arange(len(cuts) - 1))
    return _Arranged(
        indices, values, lanes, slices, tile_slices, chunk.first_number + tile[tile_begins] % n_parts * layout.numbers, first,
        slots_of_blocks[:-1], chunk.first_group + np.repeat(np.arange(n), per_group),
    )  # fmt: skip


def _joined(begins: Sequence[np.ndarray], lengths: Sequence[int]) -> np.ndarray:
    """Where the parts of all chunks begin, and where the last one ends, from where they begin in their chunk."""
    ends = np.append(0, np.cumsum(lengths))
    return np.concatenate([*(its + end for its, end in zip(begins, ends[:-1], strict=True)), ends[-1:]])
