"""Few long sequences, parallel in time: threads go through parts of a sequence side by side.

The state in which a part begins is found by multiple shooting: each part is gone through from a guess, with the derivatives of
its end in its beginning, and a step of Newton's method makes the ends those beginnings (Bellen & Zennaro, 1989, Parallel
algorithms for initial value problems; Lim et al., 2024, Parallelizing non-linear sequential models over the sequence length).
It takes one step where the states are linear in those before, and few where they are not; where they are not found in
`MOST_ROUNDS`, a thread goes through the sequence step by step. All sums are taken in an order that depends on lengths alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..evaluation.repeated import KeptPlaces, RepeatedCall, Result, Results, Work
from ..evaluation.sums import add_block_sums
from ..kernels.code import KernelCode
from ..kernels.layout import Layout
from ..kernels.separated import BOTH
from ..kernels.template import Template
from ..language.nodes import Call, Return
from ..rewriting.activity import Activity
from ..rewriting.differentiate import gradient
from ..rewriting.liveness import names_in
from ..rewriting.stepwise import NotStepwise, of_results, stepwise
from ..runtime import thresholds
from .launch import leaf_values
from .leaves import Dot, Leaf, Scalar, Sequences
from .spans import Spans

if TYPE_CHECKING:
    from ..language.nodes import Function
    from ..runtime.types import Array, Handle, KernelValue, Value
    from .binding import RowFunction
    from .parameters import Packing
    from .sheet import Sheet

LEAST_STEPS = thresholds.ROWS_LEAST_LONG_STEPS.value  # of the longest sequence, by the type of the device
MOST_SEQUENCES = thresholds.ROWS_MOST_LONG.value
LEAST_SPAN = thresholds.ROWS_LEAST_SPAN.value  # steps that a thread goes through
SPANS_OF_UNIT = thresholds.ROWS_SPANS_OF_UNIT.value  # for each multiprocessor or core, by the type of the device
MOST_STATE = thresholds.ROWS_MOST_STATE.value  # numbers in whose directions ends are differentiated
MOST_DIRECTIONS = 64  # of the last pass: compilers take long for more
MOST_ROUNDS = 24

_TEMPLATE = Template.beside(__file__, "long_sequences")
_THREADS = 64


def reason_against(leaves: Mapping[str, Leaf], wrt: Collection[str], packing: Packing, device_type: str) -> str:
    """Why the sequences of a model are not gone through in parts, whatever its function is; empty where they may be."""
    lengths = next((leaf.lengths for leaf in leaves.values() if isinstance(leaf, Sequences)), np.zeros(0, int))
    if (longest := lengths.max(initial=0)) < (least := LEAST_STEPS[device_type]):
        few = f"the longest has {longest} numbers, and parts are for {least:g} and more"
        return few if least < np.inf else f"a {device_type} has too few threads for parts"
    if lengths.size > MOST_SEQUENCES:
        return f"there are {lengths.size} sequences, and parts are for {MOST_SEQUENCES} at most"
    if packing.lead:
        return "there are several sets of parameters"
    if any(isinstance(leaf, Dot) for leaf in leaves.values()):
        return "the function has a dot product"
    if others := [n for n in wrt if not isinstance(leaves[n], Scalar)]:
        return f"it is differentiated in {others[0]}, which is {leaves[others[0]].kind}"
    return ""


class LongSequences:
    """Kernels for the sum over few long sequences, and its derivatives in numbers.

    Parameters
    ----------
    row : RowFunction
    leaves : mapping
        Argument, as in C -> leaf.
    wrt : sequence of str
        Arguments that are numbers.
    by_value : bool
        Whether kernels take numbers by value.
    sheet : Sheet
        With sequences one after another.

    Attributes
    ----------
    split : Stepwise
    spans : Spans
    longest : int
        The most steps of a span.

    Raises
    ------
    NotStepwise
        Where the function is not for that, with the reason.
    """

    def __init__(self, row: RowFunction, leaves: Mapping[str, Leaf], wrt: Sequence[str], by_value: bool, sheet: Sheet):
        self._row, self._sheet, self._runtime = row, sheet, sheet.runtime
        self.wrt = tuple(p.name for p in row.function.parameters if p.name in wrt)
        functions = dict(row.functions)
        self.split = split = stepwise(row.function, functions.get)
        self.real = tuple(s for s in split.state if s not in split.whole)
        if len(split.state) > MOST_STATE:
            raise NotStepwise(f"a step hands {len(split.state)} numbers on, and {MOST_STATE} are the most")
        if len(self.real) + len(self.wrt) > MOST_DIRECTIONS:
            raise NotStepwise(f"there are more than {MOST_DIRECTIONS} derivatives in parameters and states")
        wanted = self.real + self.wrt
        #: parameters on which the steps depend themselves
        self.slopes = tuple(n for n in self.wrt if any(n in found for found in _directions(split.steps, wanted).values()))
        begins = _directions(split.start, self.wrt) if split.start else {}
        self._codes = self._made_codes(functions, bool(begins))
        scalars = [n for n, leaf in leaves.items() if isinstance(leaf, Scalar)]
        self._compile(scalars, by_value, begins)
        steps = np.maximum(sheet.lengths - split.first - split.left_out, 0)
        threads = self._runtime.device.compute_units * SPANS_OF_UNIT[self._runtime.device.type]
        self.longest = Spans.longest(steps, LEAST_SPAN, threads)
        self.spans = Spans(steps, self.longest, self._runtime)

    def _made_codes(self, functions: dict[str, Function], begins: bool) -> list[KernelCode]:
        """Code of the functions: of the last pass, the finish, the whole, the start, and the steps alone."""
        split, real = self.split, self.real
        read = names_in(*split.finish.body)
        #: what the value depends on, of the states and the sums at the end
        self.read = tuple(n for n in (*real, *split.sums) if n in read)
        made = [
            gradient(split.steps, (*real, *self.slopes) if self.wrt else (), functions),
            gradient(split.finish, (*self.wrt, *self.read) if self.wrt else (), functions),
            gradient(self._row.function, self.wrt, functions),
        ]
        if split.start:
            alone = of_results(split.steps, split.state)
            functions[alone.name] = alone
            made += [gradient(split.start, self.wrt, functions), gradient(alone, real, functions)]
        return [KernelCode(f, (), functions.get, {p.name: BOTH for p in f.parameters}) for f in made]

    def _compile(self, scalars: Sequence[str], by_value: bool, begins: Mapping[str, Collection[str]]) -> None:
        split, sheet, runtime, row = self.split, self._sheet, self._runtime, self._row
        number = "number{}" if by_value else "numbers[{}]"
        at_hand = {n: number.format(i) for i, n in enumerate(scalars)} | {leaf.name: leaf.here for leaf in sheet.leaves}
        at_hand |= dict(zip(split.bounds, ("begin", "end"), strict=True))
        at_hand |= {n: f"{n}_now" for n in (*split.state, *split.sums)}
        for code in self._codes:
            code.at_hand = at_hand
        layout, name = Layout(min(_THREADS, runtime.device.max_threads)), f"{row.function.name}_long"
        self._threads = layout.threads
        self.source = _TEMPLATE.source_of(
            self._codes[0], name, layout, sheet.dtype.name, runtime.dialect, others=self._codes[1:],
            state=split.state, real=self.real, sums=split.sums, wrt=self.wrt, slopes=self.slopes, read=self.read,
            begins=tuple((s, by) for s in self.real for by in self.wrt if by in begins.get(s, ())), first=split.first,
            left_out=split.left_out, rounds=MOST_ROUNDS, by_value=len(scalars) if by_value else None,
            shown=tuple(sheet.leaves), declared=tuple(sheet.declared), begins_with=tuple(sheet.begun),
        )  # fmt: skip
        rounds = ("begin", "turn", "compose", "descend", "move") if split.state else ()
        self._fold = bool(split.sums or (self.real and self.wrt))
        kinds = (*rounds, "last", *(("fold",) if self._fold else ()), "finish")
        try:
            self.kernels = {kind: runtime.kernel(self.source, f"{name}_{kind}", layout.threads) for kind in kinds}
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    @property
    def described(self) -> str:
        """Sentence of how the sequences are gone through."""
        handed = len(self.split.state)
        return f"{self.spans.n} parts of {self.longest} steps at most, side by side; a step hands {handed} numbers on"

    # -- a call

    def call(self, packing: Packing, made_of: Mapping[str, str], wrt: Sequence[str]) -> RepeatedCall[Value]:
        """Repeated call of the sum, and of its derivatives in the parameters `wrt`."""
        places = {made_of[n]: 1 + i for i, n in enumerate(self.wrt)}
        read = Results([Result(n, np.array([places[n]]), (1,)) for n in wrt], np.zeros(1, int))
        results = None if any(kernel.endless for kernel in self.kernels.values()) else read
        return RepeatedCall(packing.slots(self._runtime), self._work(packing), read, tuple(packing.shapes), results=results)

    def rounds(self, packing: Packing) -> RepeatedCall[tuple[int, int]]:
        """Repeated call of the number of rounds of all sequences together, and of the sequences gone through step by step."""

        def read(numbers: np.ndarray, kept: Sequence[Array]) -> tuple[int, int]:
            return int(numbers[-2]), int(numbers[-1])

        return RepeatedCall(packing.slots(self._runtime), self._work(packing), read)

    def _work(self, packing: Packing) -> Work:
        def start(found: Handle, taken: list[KernelValue], kept: KeptPlaces) -> None:
            self._start(found, packing, taken)

        return Work(3 + len(self.wrt), start)

    def _start(self, out: Handle, packing: Packing, taken: Sequence[KernelValue]) -> None:
        spans, given = self.spans, leaf_values(self._sheet, packing, taken, out)
        n, n_sequences, k, r = spans.n, spans.n_sequences, len(self.split.state), len(self.real)
        state, ends = self._doubles(k * n), self._doubles(k * n)
        moved = self._runtime.scratch(4 * (MOST_ROUNDS + 1) * n_sequences)
        of_spans = (*spans.of, *spans.firsts, *given)
        if k:
            sizes = [n, *(level.n for level in spans.levels)]
            maps, changes = ([self._doubles(per * size) for size in sizes] for per in (k * (k + 1), k))
            self._run("begin", n, state, moved, n, n_sequences, *of_spans)
            for i in range(MOST_ROUNDS):
                self._run("turn", n, maps[0], ends, state, moved, i, n, n_sequences, *of_spans)
                self._round(i, state, ends, moved, maps, changes)
        inner = r if self.wrt else 0
        rows, columns = inner + len(self.split.sums), inner + 1 + len(self.slopes)
        map_ = self._doubles(rows * columns * n)
        self._run("last", n, map_, ends, state, n, *of_spans)
        for level in spans.levels if self._fold else ():
            below, map_ = map_, self._doubles(rows * columns * level.n)
            self._run("fold", level.n * columns, map_, below, level.n, *level.of, *level.starts)
        n_found = 3 + len(self.wrt)
        found = self._doubles(n_found * n_sequences)
        self._run("finish", n_sequences, found, map_, ends, moved, n_sequences, *of_spans)
        add_block_sums(self._runtime, out, 0, found, n_found, n_sequences, threads=self._threads, side=1)

    def _round(
        self, i: int, state: Handle, ends: Handle, moved: Handle, maps: Sequence[Handle], changes: Sequence[Handle]
    ) -> None:  # fmt: skip
        """Start a step of Newton's method: the maps of larger and larger groups, then the changes of smaller ones."""
        levels, n_sequences, k = self.spans.levels, self.spans.n_sequences, len(self.split.state)
        for place, level in enumerate(levels[:-1]):
            these = maps[place + 1], maps[place]
            self._run("compose", level.n * (k + 1), *these, level.n, moved, i, n_sequences, *level.of, *level.starts)
        for place, level in reversed(list(enumerate(levels))):
            given = n_sequences, level.n, int(level is levels[-1]), *level.of, *level.starts
            if place:
                self._run("descend", level.n, changes[place], changes[place + 1], maps[place], moved, i, *given)
            else:
                self._run("move", level.n, state, changes[1], maps[0], ends, moved, i, *given)

    def _run(self, kind: str, n_threads: int, *values: KernelValue) -> None:
        self.kernels[kind]((-(-n_threads // self._threads), 1), *values)

    def _doubles(self, n: int) -> Handle:
        return self._runtime.scratch(8 * max(n, 1))


def _directions(function: Function, wrt: Sequence[str]) -> dict[str, frozenset[str]]:
    """Result of a function -> the parameters, of `wrt`, on which it depends."""
    activity, end = Activity(function, tuple(wrt)), function.body[-1]
    assert isinstance(end, Return) and isinstance(end.value, Call)
    return {r: activity.of(value) for r, value in zip(function.results, end.value.arguments, strict=True)}
