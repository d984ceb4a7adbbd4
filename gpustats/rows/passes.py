"""Passes: a kernel goes through the rows in one order, adds up the sums of that order, and writes each row's own results."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from ..draws.generator import RANDOM
from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from ..kernels.layout import REGISTERS, copies
from ..kernels.products import Predictor, ProductsLayout, products_layout
from ..kernels.separated import BOTH, ROW, SET
from ..kernels.template import Template
from ..language.nodes import OUTPUT, RNG, For, Function, statements
from ..rewriting.differentiate import CHECKPOINT, gradient, steps_name, swept
from ..runtime import thresholds
from ..runtime.base import Kernel, Runtime
from ..runtime.types import KernelValue
from .binding import RowFunction
from .layout import RowsLayout, layout_for, layout_of_sequences
from .leaves import Column, Leaf, Scalar, Sequences, StepGather
from .parameters import Packing
from .sheet import KernelLeaf, Sheet
from .tasks import Task

_ROWS, _PRODUCTS = Template.beside(__file__, "rows"), Template.beside(__file__, "rows_products")


#: Derivatives from which a loop goes back through a sequence.
LEAST_SWEPT = thresholds.ROWS_LEAST_SWEPT.value
LEAST_SWEPT_OF_LOOPS = thresholds.ROWS_LEAST_SWEPT_OF_LOOPS.value


class Sweeps(Enum):
    """What reverse sweeps through sequences store, where there are many derivatives."""

    NONE = "there are none"
    OF_TURNS = "the variables of each turn"
    OF_CHECKPOINTS = "the variables of some turns"


class Sets(Enum):
    """Number of sets of parameters that a kernel is for."""

    BY_VALUE = "one set, whose numbers it takes by value"
    ONE = "one set"
    FEW = "a stack of up to eight sets"
    MANY = "a stack of more"

    @classmethod
    def of_stack(cls, n_sets: int) -> Sets:
        """Kind for a stack of so many sets; the result of a set does not depend on their number."""
        return cls.FEW if n_sets <= 8 else cls.MANY

    @classmethod
    def of(cls, packing: Packing) -> Sets:
        """Kind for the sets of a call."""
        if packing.lead:
            return cls.of_stack(packing.n_sets)
        return cls.BY_VALUE if packing.by_value else cls.ONE


@dataclass(eq=False)
class Pass:
    """Compiled pass."""

    row: RowFunction
    leaves: Mapping[str, Leaf]  # argument, as in C -> leaf
    made_of: Mapping[str, str]  # argument -> parameter
    sheet: Sheet
    task: Task
    sets: Sets = Sets.ONE
    sweeps: Sweeps = Sweeps.NONE

    def __post_init__(self) -> None:
        task, sheet, row = self.task, self.sheet, self.row
        of_one = *task.sums, *task.slopes, *task.tables, *task.rows, *task.products, *task.gathered
        wrt = of_one if task.second is None else task.second.arguments
        least = LEAST_SWEPT_OF_LOOPS if _holds_loops_in_loops(row.function) else LEAST_SWEPT
        many = (len(wrt) >= least or task.gathered) and not task.second
        if task.steps:
            differentiated = _Differentiated(row.function, row.functions)
        else:
            differentiated = _differentiated(row, wrt, self.sweeps if many else Sweeps.NONE, task.second is not None)
        function = differentiated.function
        outputs = [p.name for p in function.parameters if p.type == OUTPUT]
        #: for the kernel: parameters of the function for numbers of each step, which it stores for itself or as outputs
        self.tapes = tuple(name for name in outputs if not name.startswith(CHECKPOINT))
        self.checkpoints = tuple(name for name in outputs if name.startswith(CHECKPOINT))  # and for numbers of some steps
        self.streams = tuple(p.name for p in function.parameters if p.type == RNG)  # at most one
        used = task.used() if task.second is None else task.second.used()
        self.sums = used.sums  # the function's results that are summed over all rows
        by_name = {leaf.name: leaf for leaf in sheet.leaves}
        #: those that are summed over the rows of each group, and C for what they are multiplied by
        self.tables: list[tuple[str, str]] = []
        for result, dot in used.tables:
            factors = [f" * {by_name[dot].matrix}_here[{c}]" for c in range(by_name[dot].columns)] if dot else [""]
            self.tables += [(result, factor) for factor in factors]
        self.rows = used.rows  # those that are written for each row
        self.runs = runs(task.tables, self.leaves)  # the arguments of `task.tables`, those of a vector together
        #: for each table that is written: its parameter, and its columns; 0 of numbers. Second derivatives are in one for all
        self.written = [(self.made_of[run[0]], len(run) if self.leaves[run[0]].elements else 0) for run in self.runs]
        if task.second is not None and self.tables:
            self.written = [("", len(self.tables))]
        #: parameter -> its arguments of `task.rows`; before these "" -> the value of each row, where that is written. Of second
        #: derivatives the results
        self.of_rows: dict[str, list[str]] = {"": []} if task.terms else {}
        for name in task.rows:
            self.of_rows.setdefault(self.made_of[name], []).append(name)
        if task.second is not None:
            self.of_rows = {name: [] for name in self.rows}
        #: dot product, the result that the columns of its matrix are multiplied by, and the place of the first sum
        self.slopes: list[tuple[KernelLeaf, str, int]] = []
        place = len(self.sums)
        for name, result in used.slopes:
            self.slopes.append((by_name[name], result, place))
            place += by_name[name].columns
        self.n_sums = place  # for each set of parameters
        #: numbers of columns of the matrices of dot products, by name
        self.matrices = {leaf.matrix: leaf.columns for leaf in sheet.leaves if leaf.columns}
        self._scalars = [n for n, leaf in self.leaves.items() if isinstance(leaf, Scalar)]
        self._shown: dict[str, Any] = dict(
            tables=tuple(self.tables), columns=tuple(n or 1 for _, n in self.written), slopes=tuple(self.slopes),
            sheet=_Shown(
                tuple(sheet.leaves), tuple(sheet.declared), tuple(sheet.begun), sheet.own_row, sheet.starts,
                sheet.side_by_side, sheet.even, self.tapes, self.checkpoints,
                sheet.dealt.side if sheet.dealt and task.steps else 0, sheet.row if self.streams else "",
            ),
        )  # fmt: skip
        self.layout: RowsLayout | ProductsLayout
        #: whose sums the kernel writes, or by which it takes the rows
        self.segments = sheet.groups.segments if sheet.groups else None
        #: for the kernel: where each tile's segments begin, if it takes the rows by tiles; else ()
        self.tile_starts: tuple[KernelValue, ...] = ()
        if not self._multiplied(differentiated):
            self._one_by_one(differentiated)

    def _multiplied(self, differentiated: _Differentiated) -> bool:
        """Compile a kernel that reads matrices once for several sets; False if the pass is not one for such a kernel."""
        sheet, device = self.sheet, self.sheet.runtime.device
        dots = [leaf for leaf in sheet.leaves if leaf.columns]
        if self.sets not in (Sets.FEW, Sets.MANY) or not device.products or not dots or sheet.dealt:
            return False
        operands = [Operand(n, PER_SET) for n in self._scalars]
        operands += [Operand(n, PER_ROW) for n, leaf in self.leaves.items() if isinstance(leaf, Column)]
        of_both = [leaf.name for leaf in sheet.leaves if leaf.by_set]
        code = differentiated.code(tuple(operands), dict.fromkeys(of_both, BOTH), self.sums, self.rows)
        matrices = list(self.matrices)
        layout = products_layout(
            device, list(self.matrices.values()),
            [Predictor(matrices.index(leaf.matrix), leaf.name in self.task.slopes) for leaf in dots],
            sheet.dtype.itemsize, len(self.sums), 8 if self.sets is Sets.FEW else 16, n_kept=len(self.tables),
            of_set=code.struct_bytes(SET, sheet.dtype.itemsize), most_turns=copies(code, 8),
        )  # fmt: skip
        if layout is None:
            return False
        if self.tables:
            assert self.segments is not None
            self.segments, self.tile_starts = self.segments.in_tiles(layout.tile)
        else:
            self.segments = None
        self._compile(_PRODUCTS, code, layout, "numbers[s * numbers_stride + {}]", 8 * layout.shared_doubles)
        return True

    def _one_by_one(self, differentiated: _Differentiated) -> None:
        """Compile a kernel whose blocks read all data for one set."""
        sheet, segments, by_value = self.sheet, self.segments, self.sets is Sets.BY_VALUE
        operands = [
            Operand(n, PER_SET if n in self._scalars else PER_ROW, int(isinstance(leaf, Sequences | StepGather)))
            for n, leaf in self.leaves.items()
        ]
        own = (*self.tapes, *self.checkpoints, *self.streams)
        computed = {"dim": ROW, **dict.fromkeys(own, BOTH)} if sheet.dealt else {}
        code = differentiated.code(tuple(operands), computed, self.sums, self.rows)
        code.n_sums = self.n_sums  # which the layout asks for
        held = sum(leaf.columns or 1 for leaf in sheet.leaves)
        mean = len(segments.order) / segments.n_segments if segments else None
        if sheet.dealt and mean is None:
            layout = layout_of_sequences(sheet.runtime.device, sheet.lengths.size)
        else:
            layout = layout_for(sheet.runtime.device, code, held, mean, sheet.dtype.itemsize, sheet.n_rows)
            layout = replace(layout, unroll=1) if sheet.dealt else layout
        self._compile(
            _ROWS, code, layout, "number{}" if by_value else "numbers[{}]", grouped=segments is not None,
            by_value=len(self._scalars) if by_value else None,
        )  # fmt: skip

    def _compile(
        self, template: Template, code: KernelCode, layout: RowsLayout | ProductsLayout, number: str, shared: int = 0,
        **constants: Any,
    ) -> None:  # fmt: skip
        """Compile a kernel; `number`: the C for one of the numbers, `shared`: bytes of dynamic shared memory."""
        sheet, runtime, row = self.sheet, self.sheet.runtime, self.row
        code.n_sums, self.layout = self.n_sums, layout
        code.at_hand = {n: number.format(i) for i, n in enumerate(self._scalars)}
        code.at_hand |= {leaf.name: leaf.here for leaf in sheet.leaves} | {
            tape: f"{tape}_here" for tape in (*self.tapes, *self.checkpoints)
        }
        name = f"{row.function.name}_rows"
        try:
            for least in 1, 2:  # blocks of a multiprocessor
                self.source = template.source_of(
                    code, name, layout, sheet.dtype.name, runtime.dialect, before=(RANDOM,) * len(self.streams),
                    stride=sheet.dealt.side if sheet.dealt else 1, least=least, **self._shown, **constants,
                )
                self.kernel = runtime.kernel(self.source, name, layout.threads, shared)
                if template is not _ROWS or not _takes_few_too_many(runtime, layout, self.kernel):
                    break
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    def stored(self, n_sets: int) -> int:
        """Bytes that reverse sweeps store of the sequences, for so many sets of parameters."""
        if (dealt := self.sheet.dealt) is None:
            return 0
        numbers = len(self.tapes) * dealt.size
        if self.checkpoints:
            numbers += len(self.checkpoints) * self.sheet.checkpoints.size
        return n_sets * numbers * self.sheet.dtype.itemsize

    def tape_of_steps(self, name: str) -> int:
        """Place among the tapes of the derivatives in the elements that steps gather for an argument."""
        return self.tapes.index(steps_name(name))

    def slopes_of(self) -> dict[str, slice]:
        """Places among the sums of the columns that each dot product's derivative is multiplied by; of pairs by the result."""
        return {
            result if self.task.second else leaf.name: slice(place, place + leaf.columns) for leaf, result, place in self.slopes
        }


def _takes_few_too_many(runtime: Runtime, layout: RowsLayout | ProductsLayout, kernel: Kernel) -> bool:
    """True if two blocks would share a multiprocessor of CUDA if a thread had up to a quarter fewer registers."""
    share = REGISTERS // (2 * layout.threads)
    return runtime.dialect == "cuda" and kernel.registers is not None and share < kernel.registers <= share * 4 // 3


class _Differentiated:
    """Function with derivatives, all functions that it calls, and its code in kernels, of each kind once."""

    def __init__(self, function: Function, functions: Mapping[str, Function]):
        self.function, self._functions = function, functions
        self._codes: dict[object, KernelCode] = {}

    def code(
        self, operands: tuple[Operand, ...], computed: Mapping[str, int], sums: tuple[str, ...], rows: tuple[str, ...]
    ) -> KernelCode:
        """Code for kernels, which belongs to the caller."""
        kind = operands, tuple(computed.items()), sums, rows
        if kind not in self._codes:
            self._codes[kind] = KernelCode(self.function, operands, self._functions.get, computed, sums, rows)
        return copy.copy(self._codes[kind])


@functools.lru_cache(maxsize=32)  # for pieces of a stream, which are made anew in each call
def _differentiated(row: RowFunction, wrt: tuple[str, ...], sweeps: Sweeps, second: bool) -> _Differentiated:
    """Function of a row with its derivatives in some arguments, or those of its derivatives."""
    functions = dict(row.functions)
    back = None if sweeps is Sweeps.NONE else swept(row.function, wrt, functions, sweeps is Sweeps.OF_CHECKPOINTS)
    function = back or gradient(row.function, wrt, functions)
    return _Differentiated(gradient(function, wrt, functions) if second else function, functions)


def _holds_loops_in_loops(function: Function) -> bool:
    loops = [node for node in statements(function) if isinstance(node, For)]
    return any(isinstance(node, For) for loop in loops for part in loop.body for node in statements(part))


def runs(names: Sequence[str], leaves: Mapping[str, Leaf]) -> list[list[str]]:
    """Arguments in lists; elements of one vector share a list."""
    found: list[list[str]] = []
    for name in names:
        if leaves[name].element:
            found[-1].append(name)
        else:
            found.append([name])
    return found


class _Shown(NamedTuple):
    """Sheet as the template has it, told apart from others by all that is written of it."""

    leaves: tuple[KernelLeaf, ...]
    declared: tuple[str, ...]
    begun: tuple[str, ...]
    own_row: str
    starts: str
    side_by_side: bool
    even: bool
    tapes: tuple[str, ...]
    checkpoints: tuple[str, ...]
    filled: int  # distance of the numbers of tapes that are nan unless the function writes others; 0 where they are its own
    stream: str  # C for the row as it came, by which it has a stream of random numbers; empty where it has none
