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
from .leaves import Dot, Leaf, PerRow, Scalar

if TYPE_CHECKING:
    from ..runtime.types import Array, Handle, Shape
    from .binding import RowFunction
    from .parameters import Packing, Sent
    from .sheet import KernelLeaf, Sheet

SMALL = 1 << 15  # numbers of a table that kernels write to where the sums are; more have an array of their own

_ROWS, _SHIFTED = Template.beside(__file__, "rows"), Template.beside(__file__, "shifted")


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
    made_of : mapping
        Argument -> parameter.
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
    runs : list of list of str
        The arguments of `task.tables`, those of a vector together.
    of_rows : dict
        Parameter -> its arguments of `task.rows`; before these "" -> the value of each row, where that is written.
    """

    row: RowFunction
    leaves: Mapping[str, Leaf]
    made_of: Mapping[str, str]
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
        self.runs = runs(task.tables, self.leaves)
        self.of_rows: dict[str, list[str]] = {"": []} if task.terms else {}
        for name in task.rows:
            self.of_rows.setdefault(self.made_of[name], []).append(name)
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
            columns=tuple(map(len, self.runs)),
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


def runs(names: Sequence[str], leaves: Mapping[str, Leaf]) -> list[list[str]]:
    """Arguments, those together that are elements of one vector."""
    found: list[list[str]] = []
    for name in names:
        if leaves[name].element:
            found[-1].append(name)
        else:
            found.append([name])
    return found


class Launch:
    """A pass for calls of one kind.

    Parameters
    ----------
    made : Pass
    packing : Packing
    n_rows : int

    Attributes
    ----------
    size : int
        How many numbers it leaves in the memory that a call reads.
    """

    def __init__(self, made: Pass, packing: Packing, n_rows: int):
        self.made, self._packing, self._n_rows = made, packing, n_rows
        sheet, layout, n_sets = made.sheet, made.layout, packing.n_sets
        runtime = self._runtime = sheet.runtime
        segments = self._segments = sheet.groups.segments if sheet.groups else None
        self._n_segments = segments.n_segments if segments else -(-n_rows // layout.segment)
        self._blocks = row_blocks(runtime.device, layout, self._n_segments, 1)  # whatever other sets there are
        self._n_sums = n_sets * made.n_sums
        self._adder = adder_of(runtime, layout.threads, self._blocks, self._n_sums) if self._n_sums else None
        self._tables: list[tuple[Shape, bool, bool]] = []  # the shape, and whether it is an array of its own, which stays
        self.size = self._n_sums
        for run in made.runs:
            shape = (n_sets, segments.n if segments else 0, *([len(run)] if made.leaves[run[0]].elements else []))
            if stays := made.made_of[run[0]] in packing.on_device:
                shape = (*packing.lead, *shape[1:])  # as its user has it: device arrays are slow to reshape
            apart = stays or (math.prod(shape) > SMALL and not packing.together)
            self._tables.append((shape, apart, stays))
            self.size += 0 if apart else math.prod(shape)

    def start(self, sent: Sent, out: Handle, offset: int) -> Started:
        """Start it; what it leaves in `out` begins behind `offset` numbers."""
        runtime, segments, n_sums, n_sets = self._runtime, self._segments, self._n_sums, self._packing.n_sets
        partial = counters = out
        if n_sums and self._blocks > 1:
            partial = runtime.scratch(8 * n_sums * self._blocks)
            if self._adder is None:
                counters = runtime.zeroed_counters(n_sets)
        values: list[Any] = [out, offset, partial, counters, self._n_rows, n_sets]
        tables: list[Array | None] = []
        to_add: list[tuple[Handle, int, Handle, int]] = []
        if segments:
            values += segments.starts
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
        values += [self._n_segments, *(sent.numbers if self._packing.by_value else sent.places.get("", (out, 0, 0)))]
        for value in self.made.sheet.values:
            if isinstance(value, str):
                values += sent.places[value]
            elif isinstance(value, tuple):
                values.append(self._packing.cores[value[0]][value[1]])
            else:
                values.append(value)
        rows, shifted = self._rows(values)
        self.made.kernel((n_sets, self._blocks), *values)
        if self._adder is not None:
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
        """Add what the kernel writes to for each row to its values.

        Returns the arrays in which that is found, and for each of those that are sums of several what adds these up.
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
        """What it has left, once it is done; `numbers` are those in the memory that the call reads."""
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
    """What a pass writes apart: elements of tables, or None where they are with the sums, and what rows have of their own."""

    tables: list[Array | None]
    rows: list[Array]


class Left(NamedTuple):
    """What a pass leaves.

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


class _Shown(NamedTuple):
    """A sheet as the template has it, told apart from others by all that is written of it."""

    leaves: tuple[KernelLeaf, ...]
    declared: tuple[str, ...]
    begun: tuple[str, ...]
