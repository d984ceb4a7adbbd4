"""Passes: a kernel goes through the rows in one order, sums what it can sum there, and writes what each row has of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..evaluation.results import as_host, output
from ..evaluation.sums import adder_of
from ..kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from ..kernels.layout import row_blocks
from ..kernels.template import Template
from ..rewriting.differentiate import VALUE, derivative_name, gradient
from .layout import layout_for
from .leaves import Dot, Leaf, Scalar

if TYPE_CHECKING:
    from ..runtime.types import Array, Handle
    from .binding import RowFunction
    from .parameters import Packing, Sent
    from .sheet import KernelLeaf, Sheet

SMALL = 1 << 15  # numbers of tables that kernels write to where the sums are; more have an array of their own

_ROWS = Template.beside(__file__, "rows")


@dataclass(frozen=True)
class Task:
    """What one pass computes: the names of arguments, as in C, in which it takes derivatives, by what becomes of these.

    Attributes
    ----------
    value : bool
        Whether it sums the values, too.
    sums, slopes, tables, rows : tuple of str
        Arguments that are numbers; dot products; elements of the table by whose groups the rows stand; numbers of the rows.
    terms : bool
        Whether the value of each row is written.
    """

    value: bool = True
    sums: tuple[str, ...] = ()
    slopes: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    terms: bool = False
    second: bool = False  # the derivatives in `sums` of derivatives in `sums` instead


@dataclass(eq=False)
class Pass:
    """A compiled pass.

    Parameters
    ----------
    row : RowFunction
    leaves : mapping
        Argument, as in C -> leaf.
    sheet : Sheet
    task : Task
    by_value : bool
        Whether the kernel takes numbers by value: see `Packing`.

    Attributes
    ----------
    source : str
        Of its kernel.
    n_sums : int
        For each set of parameters.
    sums, tables, rows : tuple of str
        The function's results that are summed over all rows, over those of each group, and written for each row.
    """

    row: RowFunction
    leaves: Mapping[str, Leaf]
    sheet: Sheet
    task: Task
    by_value: bool = False

    def __post_init__(self) -> None:
        task, sheet, row = self.task, self.sheet, self.row
        wrt = (*task.sums, *task.slopes, *task.tables, *task.rows)
        functions = dict(row.functions)
        function = gradient(row.function, wrt, functions)
        if task.second:
            function = gradient(function, wrt, functions)
        scalars = [n for n, leaf in self.leaves.items() if isinstance(leaf, Scalar)]
        operands = [Operand(n, PER_SET if n in scalars else PER_ROW) for n in self.leaves]
        if task.second:
            self.sums = tuple(derivative_name(b, derivative_name(a)) for i, a in enumerate(wrt) for b in wrt[: i + 1])
        else:
            self.sums = (*([VALUE] if task.value else []), *map(derivative_name, task.sums))
        self.tables = tuple(map(derivative_name, task.tables))
        self.rows = (*([VALUE] if task.terms else []), *map(derivative_name, task.rows))
        code = KernelCode(function, operands, functions.get, (), self.sums, self.rows)
        by_name = {leaf.name: leaf for leaf in sheet.leaves}
        code.at_hand = {n: f"number{i}" if self.by_value else f"numbers[{i}]" for i, n in enumerate(scalars)}
        code.at_hand |= {n: leaf.here for n, leaf in by_name.items()}
        slopes, place = [], len(self.sums)
        for name in task.slopes:
            slopes.append((by_name[name], derivative_name(name), place))
            place += by_name[name].columns
        code.n_sums = self.n_sums = place
        self._compile(code, slopes, len(scalars))

    def _compile(self, code: KernelCode, slopes: Sequence[Any], n_numbers: int) -> None:
        sheet, runtime, row = self.sheet, self.sheet.runtime, self.row
        segments = sheet.groups.segments if sheet.groups else None
        held = sum(leaf.columns or 1 for leaf in sheet.leaves)
        mean = len(segments.order) / segments.n_segments if segments else None
        self.layout = layout = layout_for(runtime.device, code, held, mean, sheet.dtype.itemsize)
        name = f"{row.function.name}_rows"
        self.source = _ROWS.source_of(
            code, name, layout, sheet.dtype.name, runtime.dialect, grouped=segments is not None, tables=self.tables,
            by_value=n_numbers if self.by_value else None,
            sheet=_Shown(tuple(sheet.leaves), tuple(sheet.declared), tuple(sheet.begun)), slopes=tuple(slopes),
        )  # fmt: skip
        try:
            self.kernel = runtime.kernel(self.source, name, layout.threads)
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    def slopes_of(self) -> dict[str, slice]:
        """Where among the sums those of the columns of each dot product are."""
        found, place = {}, len(self.sums)
        for name in self.task.slopes:
            leaf = self.leaves[name]
            assert isinstance(leaf, Dot)
            found[name] = slice(place, place + leaf.X.shape[1])
            place = found[name].stop
        return found


class Launch:
    """A pass for calls of one kind.

    Parameters
    ----------
    made : Pass
    packing : Packing
    n_rows : int
    native : bool
        Whether tables and numbers of the rows may stay on the device.

    Attributes
    ----------
    size : int
        How many numbers it leaves in the memory that a call reads.
    """

    def __init__(self, made: Pass, packing: Packing, n_rows: int, native: bool = False):
        self.made, self._packing, self._n_rows, self._native = made, packing, n_rows, native
        sheet, layout, n_sets = made.sheet, made.layout, packing.n_sets
        runtime = self._runtime = sheet.runtime
        segments = self._segments = sheet.groups.segments if sheet.groups else None
        self._n_segments = segments.n_segments if segments else -(-n_rows // layout.segment)
        self._blocks = row_blocks(runtime.device, layout, self._n_segments, 1)  # whatever other sets there are
        self._n_sums = n_sets * made.n_sums
        self._adder = adder_of(runtime, layout.threads, self._blocks, self._n_sums) if self._n_sums else None
        self._tables = (len(made.tables), n_sets, segments.n) if segments and made.tables else (0, 0, 0)
        self._apart = math.prod(self._tables) > SMALL
        self.size = self._n_sums + (0 if self._apart else math.prod(self._tables))

    def start(self, sent: Sent, out: Handle, offset: int) -> Started:
        """Start it; what it leaves in `out` begins behind `offset` numbers."""
        runtime, segments, n_sums, n_sets = self._runtime, self._segments, self._n_sums, self._packing.n_sets
        partial = counters = out
        if n_sums and self._blocks > 1:
            partial = runtime.scratch(8 * n_sums * self._blocks)
            if self._adder is None:
                counters = runtime.zeroed_counters(n_sets)
        values: list[Any] = [out, offset, partial, counters, self._n_rows, n_sets]
        array, handle, place = None, out, offset + n_sums
        if segments:
            if self._apart:
                array, handle, place = output(runtime, self._tables, np.dtype(np.float64), not runtime.host_visible)
            of_segments = handle, place
            if self._tables[0] and not segments.alone:
                of_segments = runtime.scratch(8 * self._tables[0] * n_sets * segments.n_segments), 0
            values += [*segments.starts, *of_segments]
        values += [self._n_segments, *(sent.numbers if self._packing.by_value else sent.places.get("", (out, 0, 0)))]
        for value in self.made.sheet.values:
            if isinstance(value, str):
                values += sent.places[value]
            elif isinstance(value, tuple):
                values.append(self._packing.cores[value[0]][value[1]])
            else:
                values.append(value)
        rows: dict[str, Array] = {}
        for name in self.made.rows:
            rows[name], *place_of = output(runtime, (n_sets, self._n_rows), self.made.sheet.dtype, not runtime.host_visible)
            values += place_of
        self.made.kernel((n_sets, self._blocks), *values)
        if self._adder is not None:
            self._adder.kernel((-(-n_sums // self._adder.together), 1), out, offset, partial, n_sums, self._blocks)
        if self._tables[0] and segments and not segments.alone:
            segments.add_groups(handle, place, of_segments[0], self.made.sheet.dtype, self._tables[0] * n_sets, 1)
        return Started(array, rows)

    def left(self, numbers: np.ndarray, started: Started) -> Left:
        """What it has left, once it is done; `numbers` are those in the memory that the call reads."""
        sums = numbers[: self._n_sums].reshape(self._packing.n_sets, -1).copy()
        if started.tables is None:
            tables = numbers[self._n_sums : self.size].reshape(self._tables).copy()
        else:
            tables = started.tables if self._native else as_host(self._runtime, started.tables)
        rows = [array if self._native else as_host(self._runtime, array) for array in started.rows.values()]
        return Left(sums, tables, rows)


class Started(NamedTuple):
    """What a pass writes apart: the elements of large tables, and what each row has of its own."""

    tables: Array | None
    rows: dict[str, Array]


class Left(NamedTuple):
    """What a pass leaves: sums, (sets, sums), elements of tables, (tables, sets, groups), and arrays of (sets, N) for rows."""

    sums: np.ndarray
    tables: Array
    rows: list[Array]


class _Shown(NamedTuple):
    """A sheet as the template has it, told apart from others by all that is written of it."""

    leaves: tuple[KernelLeaf, ...]
    declared: tuple[str, ...]
    begun: tuple[str, ...]
