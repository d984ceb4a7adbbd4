"""Few long sequences, parallel in time: threads go through parts of a sequence side by side.

The state in which a part begins is found by multiple shooting: each part is gone through from a guess, with the derivatives of
its end in its beginning, and a step of Newton's method makes the ends those beginnings (Bellen & Zennaro, 1989, Parallel
algorithms for initial value problems; Lim et al., 2024, Parallelizing non-linear sequential models over the sequence length).
It takes one step where the states are linear in those before, and few where they are not; where they are not found in
`MOST_ROUNDS`, a thread goes through the sequence step by step. All sums are taken in an order that depends on lengths alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..evaluation.repeated import Elements, KeptPlaces, RepeatedCall, Result, Results, Work
from ..evaluation.sums import add_block_sums
from ..kernels.code import KernelCode
from ..kernels.layout import Layout
from ..kernels.separated import BOTH
from ..kernels.template import Template
from ..language.liveness import names_in
from ..language.nodes import Call, Return
from ..rewriting.activity import Activity
from ..rewriting.differentiate import gradient
from ..rewriting.stepwise import NotStepwise, of_results, stepwise
from ..runtime import thresholds
from .launch import leaf_values
from .leaves import Column, Gather, Leaf, PerRow, Scalar, Sequences
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
MOST_SETS = 65535  # of parameters: blocks along the second axis of a grid

_TEMPLATE = Template.beside(__file__, "long_sequences")
_THREADS = 64


def reason_against(leaves: Mapping[str, Leaf], device_type: str) -> str:
    """Why the sequences of a model are not gone through in parts, whatever its function is; empty where they may be."""
    lengths = next((leaf.lengths for leaf in leaves.values() if isinstance(leaf, Sequences)), np.zeros(0, int))
    if (longest := lengths.max(initial=0)) < (least := LEAST_STEPS[device_type]):
        few = f"the longest has {longest} numbers, and parts are for {least:g} and more"
        return few if least < np.inf else f"a {device_type} has too few threads for parts"
    if lengths.size > MOST_SEQUENCES:
        return f"there are {lengths.size} sequences, and parts are for {MOST_SEQUENCES} at most"
    if not lengths.all():
        return f"sequence {int((lengths == 0).argmax())} has no numbers"
    if others := [n for n, leaf in leaves.items() if leaf.elements]:
        return f"parts do not take {others[0]}, an element of a vector"
    if others := [n for n, leaf in leaves.items() if type(leaf) not in (Scalar, Column, Sequences, Gather, PerRow)]:
        return f"parts do not take {others[0]}, which is {leaves[others[0]].kind}"
    return ""


class LongSequences:
    """Kernels for the sum over few long sequences, and its derivatives.

    Parameters
    ----------
    row : RowFunction
    leaves : mapping
        Argument, as in C -> leaf.
    made_of : mapping
        Argument -> parameter.
    sheet : Sheet
        With sequences one after another.
    wrt : sequence of str
        Arguments.
    by_value : bool
        Whether kernels take numbers by value.

    Attributes
    ----------
    split : Stepwise
    spans : Spans
    longest : int
        The most steps of a span.
    width : int
        Number of sums over the sequences: of values, derivatives, rounds, and sequences gone through step by step.
    shape : tuple of int
        Rows and columns of the maps of the last pass.

    Raises
    ------
    NotStepwise
        Where the function is not for that, with the reason.
    """

    def __init__(
        self, row: RowFunction, leaves: Mapping[str, Leaf], made_of: Mapping[str, str], sheet: Sheet, wrt: Sequence[str],
        by_value: bool,
    ):  # fmt: skip
        self._row, self._leaves, self._made_of, self._sheet, self.runtime = row, leaves, made_of, sheet, sheet.runtime
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
        self._codes = self._made_codes(functions)
        self._summed = tuple(n for n in self.wrt if isinstance(leaves[n], Scalar))
        self._own = tuple(n for n in self.wrt if n not in self._summed)  # arguments of which each sequence has its own number
        scalars = [n for n, leaf in leaves.items() if isinstance(leaf, Scalar)]
        self._compile(scalars, by_value, begins)
        steps = np.maximum(sheet.lengths - split.first - split.left_out, 0)
        threads = self.runtime.device.compute_units * SPANS_OF_UNIT[self.runtime.device.type]
        self.longest = Spans.longest(steps, LEAST_SPAN, threads)
        self.spans = Spans(steps, self.longest, self.runtime)

    def _made_codes(self, functions: dict[str, Function]) -> list[KernelCode]:
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
        split, sheet, runtime, row = self.split, self._sheet, self.runtime, self._row
        number = "number{}" if by_value else "numbers[{}]"
        at_hand = {n: number.format(i) for i, n in enumerate(scalars)} | {leaf.name: leaf.here for leaf in sheet.leaves}
        at_hand |= dict(zip(split.bounds, ("begin", "end"), strict=True))
        at_hand |= {n: f"{n}_now" for n in (*split.state, *split.sums)}
        for code in self._codes:
            code.at_hand = at_hand
        layout, name = Layout(min(_THREADS, runtime.device.max_threads)), f"{row.function.name}_long"
        self.threads = layout.threads
        self.source = _TEMPLATE.source_of(
            self._codes[0], name, layout, sheet.dtype.name, runtime.dialect, others=self._codes[1:],
            state=split.state, real=self.real, sums=split.sums, wrt=self.wrt, slopes=self.slopes, read=self.read,
            summed=self._summed, begins=tuple((s, by) for s in self.real for by in self.wrt if by in begins.get(s, ())),
            first=split.first, left_out=split.left_out, rounds=MOST_ROUNDS, by_value=len(scalars) if by_value else None,
            shown=tuple(sheet.leaves), declared=tuple(sheet.declared), begins_with=tuple(sheet.begun),
        )  # fmt: skip
        rounds = ("begin", "turn", "compose", "descend", "move") if split.state else ()
        kinds = (*rounds, "last", *(("fold",) if self.shape[0] else ()), "finish")
        try:
            self.kernels = {kind: runtime.kernel(self.source, f"{name}_{kind}", layout.threads) for kind in kinds}
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    @property
    def stored(self) -> int:
        """Bytes that a call stores for each set of parameters, but for what is a small part of them."""
        k = len(self.split.state)
        return 8 * self.spans.n * (k * (k + 4) + math.prod(self.shape))

    @property
    def shape(self) -> tuple[int, int]:
        inner = len(self.real) if self.wrt else 0
        return inner + len(self.split.sums), inner + 1 + len(self.slopes)

    @property
    def described(self) -> str:
        """Sentence of how the sequences are gone through."""
        handed = len(self.split.state)
        return f"{self.spans.n} parts of {self.longest} steps at most, side by side; a step hands {handed} numbers on"

    # -- a call

    def call(self, packing: Packing, wrt: Sequence[str]) -> RepeatedCall[Value]:
        """Repeated call of the sum, and of its derivatives in the parameters `wrt`."""
        n_sets, width, n_own, n_rows = packing.n_sets, self.width, len(self._own), self.spans.n_sequences
        sums = np.arange(n_sets * width).reshape(n_sets, width)
        of_rows = np.empty((n_sets, n_rows, n_own), int)
        of_rows[:, self._sheet.order] = sums.size + np.arange(of_rows.size).reshape(of_rows.shape)
        found: list[Result] = []
        for name in wrt:
            shape = n_sets, *packing.cores[name]
            found += [Result(name, sums[:, 1 + i], shape) for i, n in enumerate(self._summed) if self._made_of[n] == name]
            for i, n in enumerate(self._own):
                if self._made_of[n] == name:
                    its = _of_each(self._leaves[n], n_rows)
                    found += [Result(name, of_rows[:, rows, i], shape, elements) for rows, elements in its]
        read = Results(found, sums[:, 0], packing.lead or None)
        results = None if any(kernel.endless for kernel in self.kernels.values()) else read
        return RepeatedCall(packing.slots(self.runtime), self._work(packing), read, tuple(packing.shapes), results=results)

    def rounds(self, packing: Packing) -> RepeatedCall[tuple[int, int]]:
        """Repeated call of the number of rounds of all sequences together, and of the sequences gone through step by step."""

        def read(numbers: np.ndarray, kept: Sequence[Array]) -> tuple[int, int]:
            sums = numbers[: packing.n_sets * self.width].reshape(-1, self.width).sum(0)
            return int(sums[-2]), int(sums[-1])

        return RepeatedCall(packing.slots(self.runtime), self._work(packing), read)

    @property
    def width(self) -> int:
        return 3 + len(self._summed)

    def _work(self, packing: Packing) -> Work:
        def start(found: Handle, taken: list[KernelValue], kept: KeptPlaces) -> None:
            _Launch(self, packing.n_sets, leaf_values(self._sheet, packing, taken, found)).start(found)

        return Work(packing.n_sets * (self.width + self.spans.n_sequences * len(self._own)), start)


class _Launch:
    """Launch for some number of sets of parameters; `given` are the kernels' values for the leaves."""

    def __init__(self, long: LongSequences, n_sets: int, given: Sequence[KernelValue]):
        self._long, self._n_sets, self._runtime = long, n_sets, long.runtime
        spans = self._spans = long.spans
        self._of_spans = spans.n, spans.n_sequences, *spans.of, *spans.firsts, *given

    def start(self, out: Handle) -> None:
        long, spans, k = self._long, self._spans, len(self._long.split.state)
        state, ends = self._doubles(k * spans.n), self._doubles(k * spans.n)
        moved = self._runtime.scratch(4 * self._n_sets * (MOST_ROUNDS + 1) * spans.n_sequences)
        if k:
            sizes = [spans.n, *(level.n for level in spans.levels)]
            maps, changes = ([self._doubles(per * size) for size in sizes] for per in (k * (k + 1), k))
            self._run("begin", spans.n, state, moved, *self._of_spans)
            for i in range(MOST_ROUNDS):
                self._run("turn", spans.n, maps[0], ends, state, moved, i, *self._of_spans)
                self._find(state, ends, maps, changes, [moved, i, spans.n_sequences])
        rows, columns = long.shape
        map_, below = self._doubles(rows * columns * spans.n), spans.n
        self._run("last", spans.n, map_, ends, state, *self._of_spans)
        for level in spans.levels if rows else ():
            folded = self._doubles(rows * columns * level.n)
            self._run("fold", level.n * columns, folded, map_, level.n, below, *level.of, *level.starts)
            map_, below = folded, level.n
        width = self._n_sets * long.width
        sums = self._doubles(long.width * spans.n_sequences)
        self._run("finish", spans.n_sequences, sums, out, width, map_, ends, moved, *self._of_spans)
        add_block_sums(self._runtime, out, 0, sums, width, spans.n_sequences, threads=long.threads, side=1)

    def _find(
        self, state: Handle, ends: Handle, maps: Sequence[Handle], changes: Sequence[Handle], turn: Sequence[KernelValue]
    ) -> None:  # fmt: skip
        """Start a step of Newton's method: the maps of larger and larger groups, then the changes of smaller ones."""
        levels, k = self._spans.levels, len(self._long.split.state)
        below = [self._spans.n, *(level.n for level in levels)]
        for i, level in enumerate(levels[:-1]):
            of_level = *level.of, *level.starts
            self._run("compose", level.n * (k + 1), maps[i + 1], maps[i], level.n, below[i], *turn, *of_level)
        for i, level in reversed(list(enumerate(levels))):
            of_level = *turn, level.n, below[i], int(level is levels[-1]), *level.of, *level.starts
            if i:
                self._run("descend", level.n, changes[i], changes[i + 1], maps[i], *of_level)
            else:
                self._run("move", level.n, state, changes[1], maps[0], ends, *of_level)

    def _run(self, kind: str, n_threads: int, *values: KernelValue) -> None:
        self._long.kernels[kind]((-(-n_threads // self._long.threads), self._n_sets), *values)

    def _doubles(self, n: int) -> Handle:
        """Memory for so many numbers of each set."""
        return self._runtime.scratch(8 * self._n_sets * max(n, 1))


def _of_each(leaf: Leaf, n_rows: int) -> Iterator[tuple[np.ndarray, Elements]]:
    """Rows, and the elements of a parameter that a leaf has for them, none of them twice."""
    if isinstance(leaf, PerRow):
        yield np.arange(n_rows), (slice(leaf.offset, leaf.offset + n_rows),)
        return
    assert isinstance(leaf, Gather)
    seen = Counter[tuple[int, ...]]()
    turns: list[int] = []
    for place in zip(*(index.tolist() for index in leaf.indices), strict=True):
        turns.append(seen[place])
        seen[place] += 1
    for turn in range(max(turns, default=-1) + 1):
        rows = np.flatnonzero(np.equal(turns, turn))
        yield rows, tuple(index[rows] for index in leaf.indices)


def _directions(function: Function, wrt: Sequence[str]) -> dict[str, frozenset[str]]:
    """Result of a function -> the parameters, of `wrt`, on which it depends."""
    activity, end = Activity(function, tuple(wrt)), function.body[-1]
    assert isinstance(end, Return) and isinstance(end.value, Call)
    return {r: activity.of(value) for r, value in zip(function.results, end.value.arguments, strict=True)}
