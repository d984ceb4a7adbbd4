"""Passes: a kernel goes through the rows in one order, sums what it can sum there, and writes what each row has of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..evaluation.results import output
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
    from .parameters import Packed
    from .sheet import KernelLeaf, Sheet

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


class Launched(NamedTuple):
    """What a pass that was started leaves: where its sums lie among those of the call, and what it writes for each row."""

    sums: slice
    tables: slice
    rows: dict[str, Array]


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

    Attributes
    ----------
    source : str
        Of its kernel.
    sums, tables, rows : tuple of str
        The function's results that are summed over all rows, over those of each group, and written for each row.
    """

    row: RowFunction
    leaves: Mapping[str, Leaf]
    sheet: Sheet
    task: Task
    _alive: list[Any] = field(default_factory=list)

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
        code.at_hand = {n: f"parameters[{i}]" for i, n in enumerate(scalars)}
        code.at_hand |= {n: leaf.here for n, leaf in by_name.items()}
        slopes, place = [], len(self.sums)
        for name in task.slopes:
            slopes.append((by_name[name], derivative_name(name), place))
            place += by_name[name].columns
        code.n_sums = self.n_sums = place
        self._compile(code, slopes)

    def _compile(self, code: KernelCode, slopes: Sequence[Any]) -> None:
        sheet, runtime, row = self.sheet, self.sheet.runtime, self.row
        segments = sheet.groups.segments if sheet.groups else None
        mean = len(segments.order) / segments.n_segments if segments else None
        self.layout = layout = layout_for(runtime.device, code, mean)
        name = f"{row.function.name}_rows"
        self.source = _ROWS.source_of(
            code, name, layout, sheet.dtype.name, runtime.dialect, grouped=segments is not None, tables=self.tables,
            sheet=_Shown(tuple(sheet.leaves), tuple(sheet.declared), tuple(sheet.begun)), slopes=tuple(slopes),
        )  # fmt: skip
        try:
            self._kernel = runtime.kernel(self.source, name, layout.threads)
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    def numbers(self, n_sets: int) -> tuple[int, int]:
        """How many sums it leaves, and how many elements of tables."""
        n_tables = self.sheet.groups.segments.n * len(self.tables) if self.sheet.groups else 0
        return n_sets * self.n_sums, n_sets * n_tables

    def launch(self, packed: Packed, parameters: tuple[Handle, int], n_rows: int, out: Handle, offset: int) -> Launched:
        """Start it; its sums begin behind `offset` numbers of `out`, and the elements of tables behind these."""
        sheet, layout, runtime = self.sheet, self.layout, self.sheet.runtime
        n_sets = packed.numbers.shape[0]
        n_sums, n_tables = self.numbers(n_sets)
        segments = sheet.groups.segments if sheet.groups else None
        n_segments = segments.n_segments if segments else -(-n_rows // layout.segment)
        blocks = row_blocks(runtime.device, layout, n_segments, 1)
        partial = counters = out
        adder = adder_of(runtime, layout.threads, blocks, n_sums) if n_sums else None
        if n_sums and blocks > 1:
            partial = runtime.scratch(8 * n_sums * blocks)
            if adder is None:
                counters = runtime.zeroed_counters(n_sets)
        values: list[Any] = [out, offset, partial, counters, n_rows, n_sets]
        tables, place = out, offset + n_sums
        columns = len(self.tables)
        if segments:
            if columns and not segments.alone:
                tables, place = runtime.scratch(8 * n_sets * segments.n_segments * columns), 0
            values += [*segments.starts, tables, place]
        values += [n_segments, *parameters, packed.numbers.shape[1]]
        values += [self._number(value, packed) for value in sheet.values]
        rows: dict[str, Array] = {}
        for name in self.rows:
            rows[name], *place_of = output(runtime, (n_sets, n_rows), sheet.dtype, not runtime.host_visible)
            values += place_of
        self._kernel((n_sets, blocks), *values)
        if adder is not None:
            adder.kernel((-(-n_sums // adder.together), 1), out, offset, partial, n_sums, blocks)
        if columns and segments and not segments.alone:
            segments.add_groups(out, offset + n_sums, tables, sheet.dtype, n_sets, columns)
        return Launched(slice(offset, offset + n_sums), slice(offset + n_sums, offset + n_sums + n_tables), rows)

    def _number(self, value: Any, packed: Packed) -> Any:
        """What the kernel takes for a leaf: the places of parameters and the extents of tables are those of the call."""
        if isinstance(value, str):
            return packed.starts[value]
        if isinstance(value, tuple):
            name, axis = value
            return packed.cores[name][axis]
        return value

    def split(self, launched: Launched, fetched: np.ndarray, n_sets: int) -> tuple[np.ndarray, np.ndarray]:
        """The sums, (sets, sums), and the elements of tables, (sets, groups, tables), among all numbers of a call."""
        sums = fetched[launched.sums].reshape(n_sets, self.n_sums)
        return sums, fetched[launched.tables].reshape(n_sets, -1, max(len(self.tables), 1))

    def slopes_of(self) -> dict[str, slice]:
        """Where among the sums those of the columns of each dot product are."""
        found, place = {}, len(self.sums)
        for name in self.task.slopes:
            leaf = self.leaves[name]
            assert isinstance(leaf, Dot)
            found[name] = slice(place, place + leaf.X.shape[1])
            place = found[name].stop
        return found


class _Shown(NamedTuple):
    """A sheet as the template has it, told apart from others by all that is written of it."""

    leaves: tuple[KernelLeaf, ...]
    declared: tuple[str, ...]
    begun: tuple[str, ...]
