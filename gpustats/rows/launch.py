"""Launches: a pass for calls of one kind, with the memory for its results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.repeated import Kept, KeptPlaces
from ..evaluation.sums import add_block_sums, adder_of
from ..kernels.layout import MOST_BLOCKS_Y
from ..kernels.products import ProductsLayout
from ..kernels.template import Template
from ..runtime import thresholds
from .layout import blocks_of_rows
from .leaves import PerRow
from .sparse_product import RowProducts
from .steps import StepTable

if TYPE_CHECKING:
    from ..runtime.types import DType, Handle, KernelValue, Shape
    from .parameters import Packing
    from .passes import Pass
    from .sheet import Sheet

#: Numbers of a table that lies beside the sums; a larger one has an array of its own.
MOST_BESIDE_SUMS = thresholds.ROWS_MOST_BESIDE_SUMS.value

_SHIFTED, _IN_ORDER = Template.beside(__file__, "shifted"), Template.beside(__file__, "in_order")


class Launch:
    """Launch of a pass for calls of one kind.

    Parameters
    ----------
    made : Pass
    packing : Packing
    n_rows : int
    offset, n_kept : int
        Numbers, and kept results, of the passes before this one.
    stream : sequence of int
        Place of the first draw, where the pass draws: see `Stream`. Each row of each set has a draw.

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
    gathered : list of (ndarray of int, int or None)
        The same for each table that steps gather.
    products : list of (ndarray of int, int or None)
        The same for the coefficients of each sparse matrix, (sets, columns).
    rows : list of (ndarray of int, int)
        The same for each parameter with numbers of the rows, (sets, length); or for the values.

    Outputs by step are kept results behind these, in the order in which the numbers came.
    """

    def __init__(
        self, made: Pass, packing: Packing, n_rows: int, offset: int = 0, n_kept: int = 0, stream: Sequence[int] = ()
    ):  # fmt: skip
        self._stream = stream
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
        for parameter, columns in made.written:
            first, core = offset + self.size, (segments.n if segments else 0, *([columns] if columns else []))
            self.tables.append(self._placed(parameter, core, n_kept))
            self._tables.append((first, columns or 1, self.tables[-1][1]))
        self.gathered: list[tuple[np.ndarray, int | None]] = []
        self._gathered: list[tuple[str, int]] = []
        for name in made.task.gathered:
            self._gathered.append((name, offset + self.size))
            self.gathered.append(self._placed(made.made_of[name], (made.sheet.step_tables[name].groups.segments.n,), n_kept))
        columns_of = {n: (made.sheet.products[n].n_columns,) for n in made.task.products}
        self.products = [self._placed(made.made_of[n], core, n_kept) for n, core in columns_of.items()]
        self.rows: list[tuple[np.ndarray, int]] = []
        for parameter in made.of_rows:
            length = packing.cores[parameter][0] if parameter in packing.cores else n_rows
            self.rows.append((_shaped((n_sets, length)), n_kept + len(self.kept)))
            self._keep((length,), made.sheet.dtype, parameter in packing.on_device or made.task.second is not None)
        for _ in made.task.steps:
            self._keep((made.sheet.n_steps,), made.sheet.dtype, False)

    def _placed(self, parameter: str, core: Shape, n_kept: int) -> tuple[np.ndarray, int | None]:
        """Places of the derivatives in elements of a table, and which kept result has them, if any."""
        n_sets, stays = self._packing.n_sets, parameter in self._packing.on_device
        length = n_sets * math.prod(core)
        if stays or length > MOST_BESIDE_SUMS:
            self._keep(core, np.dtype(np.float64), stays)
            return _shaped((n_sets, *core)), n_kept + len(self.kept) - 1
        places = self._offset + self.size + np.arange(length).reshape(n_sets, *core)
        self.size += length
        return places, None

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
        tapes, width = None, 0  # of a set
        if self.made.tapes:
            dealt = self.made.sheet.dealt
            assert dealt is not None
            width = len(self.made.tapes) * dealt.size
            tapes = runtime.scratch(self.made.sheet.dtype.itemsize * n_sets * width)
            values += [tapes, dealt.size, *(self._stream if self.made.streams else ())]
        if self.made.checkpoints:
            size, starts = self.made.sheet.checkpoints
            length = n_sets * len(self.made.checkpoints) * size
            values += [runtime.scratch(self.made.sheet.dtype.itemsize * length), size, *starts]
        of_tables = iter([next(own) for _, of_kept in self.gathered if of_kept is not None])
        of_products = [next(own) if of_kept is not None else (out, int(places[0, 0])) for places, of_kept in self.products]
        shifted = self._rows(values, own)
        slopes = [runtime.scratch(self.made.sheet.dtype.itemsize * n_sets * self._n_rows) for _ in self.products]
        for handle in slopes:
            values += [handle, 0]
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
        for (name, first), (_, of_kept) in zip(self._gathered, self.gathered, strict=True):
            handle, first = (out, first) if of_kept is None else next(of_tables)
            table = self.made.sheet.step_tables[name]
            table.add(handle, first, tapes, self.made.tape_of_steps(name) * table.size, width, n_sets)
        for name, rows, (handle, first) in zip(self.made.task.products, slopes, of_products, strict=True):
            self.made.sheet.products[name].add(handle, first, rows, n_sets)
        for length, given in shifted:
            kernel = _SHIFTED.kernel(
                runtime, "add_shifted", 64, dtype=self.made.sheet.dtype.name, threads=64, count=len(given[4:]) // 2
            )  # fmt: skip
            kernel((-(-length // 64), n_sets), *given)
        for name, (handle, first) in zip(self.made.task.steps, own, strict=True):
            in_order(self.made.sheet, handle, first, n_sets, tapes, self.made.tapes.index(name), len(self.made.tapes))

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


def in_order(sheet: Sheet, out: Handle, first: int, n_sets: int, tapes: Handle, place: int, n_tapes: int) -> None:
    """Start the copy of an output by step, one of the tapes, into the order in which the numbers came."""
    assert sheet.dealt is not None
    kernel = _IN_ORDER.kernel(sheet.runtime, "in_order", 64, dtype=sheet.dtype.name, threads=64)
    grid, size = (-(-sheet.n_steps // 64), min(n_sets, MOST_BLOCKS_Y)), sheet.dealt.size
    kernel(grid, out, first, sheet.n_steps, n_sets, tapes, place * size, n_tapes * size, *sheet.places)


def leaf_values(sheet: Sheet, packing: Packing, taken: Sequence[KernelValue], out: Handle) -> list[KernelValue]:
    """Kernel's values for the leaves, from those of the parameters' slots: numbers of the call first."""
    at, by_value = packing.at, taken[: packing.n_by_value]
    values = [*(by_value if packing.by_value else taken[at[""]] if "" in at else (out, 0, 0))]
    for value in sheet.values:
        if isinstance(value, StepTable | RowProducts):
            values += [value.gather(packing.n_sets, taken[at[value.parameter]], packing.cores[value.parameter]), value.size]
        elif isinstance(value, str):
            values += taken[at[value]]
        elif isinstance(value, tuple):
            values.append(packing.cores[value[0]][value[1]])
        else:
            values.append(value)
    return values


def _shaped(shape: Shape) -> np.ndarray:
    """Array of a shape, without memory of its own."""
    return np.broadcast_to(0, shape)
