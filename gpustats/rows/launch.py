"""Launches: a pass for calls of one kind, with the memory for its results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.results import as_host, output
from ..evaluation.sums import add_block_sums, adder_of
from ..kernels.products import ProductsLayout
from ..kernels.template import Template
from .layout import blocks_of_rows
from .leaves import PerRow

if TYPE_CHECKING:
    from ..runtime.types import Array, Handle, Shape
    from .parameters import Packing, Sent
    from .passes import Pass

MOST_BESIDE_SUMS = 1 << 15  # numbers of a table that lies beside the sums; a larger one has an array of its own

_SHIFTED = Template.beside(__file__, "shifted")


class Launch:
    """Launch of a pass for calls of one kind.

    Parameters
    ----------
    made : Pass
    packing : Packing
    n_rows : int

    Attributes
    ----------
    size : int
        Number of results in the memory that a call reads.
    """

    def __init__(self, made: Pass, packing: Packing, n_rows: int):
        self.made, self._packing, self._n_rows = made, packing, n_rows
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
        self._tables: list[tuple[Shape, bool, bool]] = []  # the shape, and whether it is an array of its own, which stays
        self.size = self._n_sums
        for run in made.runs:
            shape = (n_sets, segments.n if segments else 0, *([len(run)] if made.leaves[run[0]].elements else []))
            if stays := made.made_of[run[0]] in packing.on_device:
                shape = (*packing.lead, *shape[1:])  # as its user has it: device arrays are slow to reshape
            apart = stays or (math.prod(shape) > MOST_BESIDE_SUMS and not packing.together)
            self._tables.append((shape, apart, stays))
            self.size += 0 if apart else math.prod(shape)

    @property
    def writes_apart(self) -> bool:
        """True if the pass writes to more than the memory that a call reads."""
        return bool(self.made.of_rows) or any(apart for _, apart, _ in self._tables)

    def start(self, sent: Sent, out: Handle, offset: int) -> Started:
        """Start the pass; its results in `out` begin behind `offset` numbers."""
        runtime, segments, n_sums, n_sets = self._runtime, self.made.segments, self._n_sums, self._packing.n_sets
        layout, partial = self.made.layout, out
        if n_sums and (self._blocks > 1 or isinstance(layout, ProductsLayout)):
            partial = runtime.scratch(8 * n_sums * self._blocks)
        values: list[Any] = [partial]
        if not isinstance(layout, ProductsLayout):
            last_adds = n_sums and self._blocks > 1 and self._adder is None
            values = [out, offset, partial, runtime.zeroed_counters(n_sets) if last_adds else out]
        values += [self._n_rows, n_sets]
        tables: list[Array | None] = []
        to_add: list[tuple[Handle, int, Handle, int]] = []
        if segments:
            values += [*segments.starts, *self.made.tile_starts]
            place = offset + n_sums
            for shape, apart, stays in self._tables:
                array, handle, first = None, out, place
                if apart:
                    array, handle, first = output(runtime, shape, np.dtype(np.float64), stays or not runtime.host_visible)
                else:
                    place += math.prod(shape)
                tables.append(array)
                if not segments.alone:
                    columns = math.prod(shape) // (n_sets * segments.n)
                    sums = runtime.scratch(8 * n_sets * segments.n_segments * columns)
                    to_add.append((handle, first, sums, columns))
                    handle, first = sums, 0
                values += [handle, first]
        values += [*self._n_segments, *(sent.numbers if self._packing.by_value else sent.places.get("", (out, 0, 0)))]
        for value in self.made.sheet.values:
            if isinstance(value, str):
                values += sent.places[value]
            elif isinstance(value, tuple):
                values.append(self._packing.cores[value[0]][value[1]])
            else:
                values.append(value)
        rows, shifted = self._rows(values)
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
        return Started(tables, rows)

    def _rows(self, values: list[Any]) -> tuple[list[Array], list[tuple[int, list[Any]]]]:
        """Add the memory for each row's results to the kernel's values.

        Returns the arrays of these results, and the arguments of the kernel that adds up each array which is a sum of several.
        """
        runtime, packing, made, n_sets = self._runtime, self._packing, self.made, self._packing.n_sets
        rows: list[Array] = []
        shifted: list[tuple[int, list[Any]]] = []
        for parameter, names in made.of_rows.items():
            stays, native = parameter in packing.on_device, not runtime.host_visible
            length = packing.cores[parameter][0] if parameter else self._n_rows
            shape = (*(packing.lead if stays else (n_sets,)), length)
            array, handle, first = output(runtime, shape, made.sheet.dtype, stays or native)
            rows.append(array)
            if len(names) <= 1 and length == self._n_rows:
                values += [handle, first]
                continue
            given: list[Any] = [handle, first, length, self._n_rows]
            for name in names:
                leaf = made.leaves[name]
                assert isinstance(leaf, PerRow)
                of_leaf = runtime.scratch(made.sheet.dtype.itemsize * n_sets * self._n_rows)
                values += [of_leaf, 0]
                given += [of_leaf, leaf.offset]
            shifted.append((length, given))
        return rows, shifted

    def left(self, numbers: np.ndarray, started: Started) -> Left:
        """Results of the pass, once it is done; `numbers` are those in the memory that the call reads."""
        sums, place = numbers[: self._n_sums].reshape(self._packing.n_sets, -1).copy(), self._n_sums
        tables: list[Array] = []
        for (shape, apart, stays), array in zip(self._tables, started.tables, strict=False):
            if not apart:
                tables.append(numbers[place : place + math.prod(shape)].reshape(shape).copy())
                place += math.prod(shape)
            else:
                tables.append(array if stays else as_host(self._runtime, array))
        on_device = (parameter in self._packing.on_device for parameter in self.made.of_rows)
        rows = [a if stays else as_host(self._runtime, a) for a, stays in zip(started.rows, on_device, strict=True)]
        return Left(sums, tables, rows)


class Started(NamedTuple):
    """Arrays of their own to which a pass writes: elements of tables, or None where they are with the sums, and rows."""

    tables: list[Array | None]
    rows: list[Array]


class Left(NamedTuple):
    """Results of a pass.

    Attributes
    ----------
    sums : ndarray
        (sets, sums).
    tables : list of ndarray or device array
        (sets, groups), of vectors (sets, groups, d).
    rows : list of ndarray or device array
        (sets, N): the values; for each parameter with numbers of the rows (sets, length).

    Device arrays have the axes of the sets as the call has them.
    """

    sums: np.ndarray
    tables: list[Array]
    rows: list[Array]
