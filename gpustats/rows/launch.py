"""Launches: a pass for calls of one kind, with the memory for its results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.repeated import Kept, KeptPlaces
from ..evaluation.sums import add_block_sums, adder_of
from ..kernels.products import ProductsLayout
from ..kernels.template import Template
from ..runtime import thresholds
from .layout import blocks_of_rows
from .leaves import PerRow

if TYPE_CHECKING:
    from ..runtime.types import DType, Handle, KernelValue, Shape
    from .parameters import Packing
    from .passes import Pass
    from .sheet import Sheet

#: Numbers of a table that lies beside the sums; a larger one has an array of its own.
MOST_BESIDE_SUMS = thresholds.ROWS_MOST_BESIDE_SUMS.value

_SHIFTED = Template.beside(__file__, "shifted")


class Launch:
    """Launch of a pass for calls of one kind.

    Parameters
    ----------
    made : Pass
    packing : Packing
    n_rows : int
    offset, n_kept : int
        Numbers, and kept results, of the passes before this one.

    Attributes
    ----------
    size : int
        Number of results in the memory that a call reads.
    kept : list of Kept
        Results that have arrays of their own.
    sums : ndarray of int
        Places of the sums among the numbers of the call, (sets, sums).
    tables : list of (ndarray of int, int or None)
        Places of the elements of each table, (sets, groups), of vectors (sets, groups, d), and which kept result has them.
    rows : list of (ndarray of int, int)
        The same for each parameter with numbers of the rows, (sets, length); or for the values.
    """

    def __init__(self, made: Pass, packing: Packing, n_rows: int, offset: int = 0, n_kept: int = 0):
        self.made, self._packing, self._n_rows, self._offset = made, packing, n_rows, offset
        layout, n_sets, segments = made.layout, packing.n_sets, made.segments
        runtime = self._runtime = made.sheet.runtime
        self._n_sums = n_sets * made.n_sums
        self._n_segments = [segments.n_segments] if segments else []  # as the kernel takes it
        self._adder = None
        if isinstance(layout, ProductsLayout):  # whatever other sets there are
            self._blocks = layout.row_blocks(runtime.device, n_rows)
        else:
            self._n_segments = self._n_segments or [-(-n_rows // layout.segment)]
            n_bytes = sum(made.matrices.values()) * made.sheet.dtype.itemsize * n_rows
            self._blocks = blocks_of_rows(runtime.device, layout, self._n_segments[0], n_bytes)
            self._adder = adder_of(runtime, layout.threads, self._blocks, self._n_sums) if self._n_sums else None
        self.kept: list[Kept] = []
        self.sums = offset + np.arange(self._n_sums).reshape(n_sets, made.n_sums)
        self.tables: list[tuple[np.ndarray, int | None]] = []
        self._tables: list[tuple[int, int, int | None]] = []  # start, columns, and which of the kept results it is
        self.size = self._n_sums
        for run in made.runs:
            columns, first, of_kept = len(run), offset + self.size, None
            core = (segments.n if segments else 0, *([columns] if made.leaves[run[0]].elements else []))
            stays, length = made.made_of[run[0]] in packing.on_device, n_sets * math.prod(core)
            if stays or length > MOST_BESIDE_SUMS:
                places, of_kept = _shaped((n_sets, *core)), n_kept + len(self.kept)
                self._keep(core, np.dtype(np.float64), stays)
            else:
                places = first + np.arange(length).reshape(n_sets, *core)
                self.size += length
            self.tables.append((places, of_kept))
            self._tables.append((first, columns, of_kept))
        self.rows: list[tuple[np.ndarray, int]] = []
        for parameter in made.of_rows:
            length = packing.cores[parameter][0] if parameter else n_rows
            self.rows.append((_shaped((n_sets, length)), n_kept + len(self.kept)))
            self._keep((length,), made.sheet.dtype, parameter in packing.on_device)

    def _keep(self, core: Shape, dtype: DType, stays: bool) -> None:
        """Add a kept result; one that stays on the device has all axes of the sets: device arrays are slow to reshape."""
        lead = self._packing.lead if stays else (self._packing.n_sets,)
        self.kept.append(Kept((*lead, *core), dtype, stays))

    def start(self, taken: Sequence[KernelValue], out: Handle, kept: KeptPlaces) -> None:
        """Start the pass: `taken` are the values of the parameters' slots, `kept` the places of its kept results."""
        runtime, segments, n_sums, n_sets = self._runtime, self.made.segments, self._n_sums, self._packing.n_sets
        layout, partial, offset = self.made.layout, out, self._offset
        if n_sums and (self._blocks > 1 or isinstance(layout, ProductsLayout)):
            partial = runtime.scratch(8 * n_sums * self._blocks)
        values: list[KernelValue] = [partial]
        if not isinstance(layout, ProductsLayout):
            last_adds = n_sums and self._blocks > 1 and self._adder is None
            values = [out, offset, partial, runtime.zeroed_counters(n_sets) if last_adds else out]
        values += [self._n_rows, n_sets]
        own, to_add = iter(kept), list[tuple["Handle", int, "Handle", int]]()
        if segments:
            values += [*segments.starts, *self.made.tile_starts]
            for first, columns, of_kept in self._tables:
                handle, first = (out, first) if of_kept is None else next(own)
                if not segments.alone:
                    sums = runtime.scratch(8 * n_sets * segments.n_segments * columns)
                    to_add.append((handle, first, sums, columns))
                    handle, first = sums, 0
                values += [handle, first]
        values += [*self._n_segments, *leaf_values(self.made.sheet, self._packing, taken, out)]
        if self.made.tapes:
            dealt = self.made.sheet.dealt
            assert dealt is not None
            length = n_sets * len(self.made.tapes) * dealt.size
            values += [runtime.scratch(self.made.sheet.dtype.itemsize * length), dealt.size]
        shifted = self._rows(values, own)
        self.made.kernel((-(-n_sets // layout.sets), self._blocks), *values)
        if isinstance(layout, ProductsLayout):
            if n_sums:
                add_block_sums(
                    runtime, out, offset, partial, n_sums, self._blocks, threads=layout.adders, side=layout.side
                )
        elif self._adder is not None:
            self._adder.kernel((-(-n_sums // self._adder.together), 1), out, offset, partial, n_sums, self._blocks)
        if segments:
            for handle, first, sums, columns in to_add:
                segments.add_groups(handle, first, sums, self.made.sheet.dtype, n_sets, columns)
        for length, given in shifted:
            kernel = _SHIFTED.kernel(
                runtime, "add_shifted", 64, dtype=self.made.sheet.dtype.name, threads=64, count=len(given[4:]) // 2
            )  # fmt: skip
            kernel((-(-length // 64), n_sets), *given)

    def _rows(self, values: list[KernelValue], kept: Iterator[tuple[Handle, int]]) -> list[tuple[int, list[KernelValue]]]:
        """Add the memory for each row's results to the kernel's values.

        Returns the arguments of the kernel that adds up each array which is a sum of several.
        """
        runtime, made, n_sets = self._runtime, self.made, self._packing.n_sets
        shifted: list[tuple[int, list[KernelValue]]] = []
        for (places, _), names in zip(self.rows, made.of_rows.values(), strict=True):
            (handle, first), length = next(kept), places.shape[1]
            if len(names) <= 1 and length == self._n_rows:
                values += [handle, first]
                continue
            given: list[KernelValue] = [handle, first, length, self._n_rows]
            for name in names:
                leaf = made.leaves[name]
                assert isinstance(leaf, PerRow)
                of_leaf = runtime.scratch(made.sheet.dtype.itemsize * n_sets * self._n_rows)
                values += [of_leaf, 0]
                given += [of_leaf, leaf.offset]
            shifted.append((length, given))
        return shifted


def leaf_values(sheet: Sheet, packing: Packing, taken: Sequence[KernelValue], out: Handle) -> list[KernelValue]:
    """Kernel's values for the leaves, from those of the parameters' slots: numbers of the call first."""
    at, by_value = packing.at, taken[: packing.n_by_value]
    values = [*(by_value if packing.by_value else taken[at[""]] if "" in at else (out, 0, 0))]
    for value in sheet.values:
        if isinstance(value, str):
            values += taken[at[value]]
        elif isinstance(value, tuple):
            values.append(packing.cores[value[0]][value[1]])
        else:
            values.append(value)
    return values


def _shaped(shape: Shape) -> np.ndarray:
    """Array of a shape, without memory of its own."""
    return np.broadcast_to(0, shape)
