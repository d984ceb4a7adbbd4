"""Parts of few long sequences: threads go through them side by side, from states that are found for that.

The state in which a part begins is found by multiple shooting: each part is gone through from a guess, with the derivatives of
its end in its beginning, and a step of Newton's method makes the ends those beginnings (Bellen & Zennaro, 1989, Parallel
algorithms for initial value problems; Lim et al., 2024, Parallelizing non-linear sequential models over the sequence length).
It takes one step where the states are linear in those before, and few where they are not; where they are not found in
`MOST_ROUNDS`, a thread goes through the sequence step by step. What is done takes an order that depends on lengths alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draws.generator import RANDOM
from ..errors import CompileError
from ..evaluation.diagnosis import explained
from ..kernels.code import KernelCode
from ..kernels.layout import Layout
from ..kernels.separated import BOTH
from ..rewriting.differentiate import VALUE, derivative_name, gradient
from ..rewriting.stepwise import NotStepwise
from ..runtime import thresholds
from .leaves import Column, Gather, Leaf, PerRow, Scalar, Sequences
from .spans import Spans

if TYPE_CHECKING:
    from ..kernels.template import Template
    from ..language.nodes import Function
    from ..runtime.types import Handle, KernelValue
    from .binding import RowFunction
    from .sheet import Sheet

LEAST_STEPS = thresholds.ROWS_LEAST_LONG_STEPS.value  # of the longest sequence, by the type of the device
MOST_SEQUENCES = thresholds.ROWS_MOST_LONG.value
LEAST_SPAN = thresholds.ROWS_LEAST_SPAN.value  # steps that a thread goes through
SPANS_OF_UNIT = thresholds.ROWS_SPANS_OF_UNIT.value  # for each multiprocessor or core, by the type of the device
MOST_STATE = thresholds.ROWS_MOST_STATE.value  # numbers in whose directions ends are differentiated
MOST_ROUNDS = 24

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



def slope_of(by: str, result: str = VALUE) -> str:
    """Name of the derivative of a result of a function, or of the result where `by` is empty."""
    return derivative_name(by, result) if by else result


@dataclass(frozen=True)
class States:
    """States with which parts begin, in a loop of a function, as the template has them.

    Attributes
    ----------
    name : str
        With which the names of its kernels begin.
    state, real, before : tuple of str
        Numbers that a step hands on, those of them that are no whole numbers, and those of the loop before, with which the
        first one is computed.
    start, turn : KernelCode or None
        Code of the first state, and of the end of a part and its derivatives, where there is a state. That of the first state
        may do other things before the loop, too.
    drawn_before, drawn_before_turn : str
        C for the blocks of random words that are drawn before the first state, and before the element `begin`.
    """

    name: str
    state: tuple[str, ...]
    real: tuple[str, ...]
    before: tuple[str, ...] = ()
    start: KernelCode | None = None
    turn: KernelCode | None = None
    drawn_before: str = "0"
    drawn_before_turn: str = "0"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kernels that find the states."""
        kinds = [*(["start"] if self.start else []), *(["begin", "turn", "compose", "descend", "move"] if self.state else [])]
        return tuple(f"{self.name}_{kind}" for kind in kinds)

    def __repr__(self) -> str:
        """Text of all that a template writes of the states, but for their code."""
        return repr((self.name, self.state, self.real, self.before, self.drawn_before, self.drawn_before_turn))


class Parts:
    """Parts into which few long sequences are cut, and kernels that go through them.

    Parameters
    ----------
    row : RowFunction
    leaves : mapping
        Argument, as in C -> leaf.
    sheet : Sheet
        With sequences one after another.
    by_value : bool
        Whether kernels take numbers by value.

    Attributes
    ----------
    spans : Spans
    longest : int
        The most steps of a span.
    threads : int
        Of a block.
    kernels : dict
        Name -> kernel.
    """

    def __init__(self, row: RowFunction, leaves: Mapping[str, Leaf], sheet: Sheet, by_value: bool):
        self._row, self._leaves, self._sheet, self.runtime = row, leaves, sheet, sheet.runtime
        self._scalars = [n for n, leaf in leaves.items() if isinstance(leaf, Scalar)]
        self._by_value = by_value
        device = self.runtime.device
        threads = device.compute_units * SPANS_OF_UNIT[device.type]
        self.longest = Spans.longest(sheet.lengths, LEAST_SPAN, threads)
        self.spans = Spans(sheet.lengths, self.longest, self.runtime)
        self._layout = Layout(min(_THREADS, device.max_threads))
        self.threads = self._layout.threads

    @property
    def described(self) -> str:
        """Words for the parts."""
        return f"{self.spans.n} parts of {self.longest} steps at most, side by side"

    @staticmethod
    def refuse(state: Sequence[str]) -> None:
        """Refuse loops that hand many numbers on."""
        if len(state) > MOST_STATE:
            raise NotStepwise(f"a step hands {len(state)} numbers on, and {MOST_STATE} are the most")

    @staticmethod
    def code(function: Function, functions: Mapping[str, Function]) -> KernelCode:
        """Code of a function that depends on rows and numbers together."""
        return KernelCode(function, (), functions.get, {p.name: BOTH for p in function.parameters})

    def turn_code(self, steps: Function, real: Sequence[str], functions: dict[str, Function]) -> KernelCode:
        """Code of steps with the derivatives of their end in the state before them."""
        return self.code(gradient(steps, real, functions), functions)

    def compile(
        self, template: Template, codes: Sequence[KernelCode], bounds: Sequence[str], given: Sequence[str],
        kinds: Sequence[str], tapes: Sequence[str] = (), stream: str = "", **constants: Any,
    ) -> None:  # fmt: skip
        """Compile the kernels of some names.

        `bounds` and `given` are parameters of the functions, for the elements of a part and for states and sums. `tapes` are
        outputs by step, and `stream` is the C for the row that has a stream of random numbers of its own.
        """
        sheet, runtime, row = self._sheet, self.runtime, self._row
        number = "number{}" if self._by_value else "numbers[{}]"
        at_hand = {n: number.format(i) for i, n in enumerate(self._scalars)} | {leaf.name: leaf.here for leaf in sheet.leaves}
        at_hand |= dict(zip(bounds, ("begin", "end"), strict=True)) | {n: f"{n}_now" for n in given}
        at_hand |= {tape: f"{tape}_here" for tape in tapes}
        for code in codes:
            code.at_hand = at_hand
        self.source = template.source_of(
            codes[0], self.name, self._layout, sheet.dtype.name, runtime.dialect, others=codes[1:],
            before=(RANDOM,) if stream else (), by_value=len(self._scalars) if self._by_value else None, rounds=MOST_ROUNDS,
            shown=tuple(sheet.leaves), declared=tuple(sheet.declared), begins_with=tuple(sheet.begun), starts=sheet.starts,
            tapes=tuple(tapes), stream=stream, **constants,
        )  # fmt: skip
        try:
            self.kernels = {kind: runtime.kernel(self.source, kind, self.threads) for kind in kinds}
        except CompileError as error:
            raise explained(error, runtime, row.name, row.source, row.functions, row.functions.get) from error

    @property
    def name(self) -> str:
        """Name with which those of the kernels begin."""
        return f"{self._row.function.name}_long"


class PartsLaunch:
    """Launch of kernels of parts for some number of sets of parameters; `given` are their values for the leaves."""

    def __init__(self, parts: Parts, n_sets: int, given: Sequence[KernelValue]):
        self._parts, self._n_sets, self._runtime, self._spans = parts, n_sets, parts.runtime, parts.spans
        spans = parts.spans
        self._of_spans = spans.n, spans.n_sequences, *spans.of, *spans.firsts, *given

    def find(self, at: States, before: Handle | None) -> tuple[Handle, Handle, Handle]:
        """Start the search for the states; memory for the states, for the ends of parts, and for whether states moved.

        `before` is that for the ends of the loop before.
        """
        spans, k = self._spans, len(at.state)
        state, ends = self._doubles(k * spans.n), self._doubles(k * spans.n)
        moved = self._runtime.scratch(4 * self._n_sets * (MOST_ROUNDS + 1) * spans.n_sequences)
        first = self._doubles(k * spans.n_sequences)
        if at.start:
            self.run(f"{at.name}_start", spans.n_sequences, first, first if before is None else before, *self._of_spans)
        if k:
            sizes = [spans.n, *(level.n for level in spans.levels)]
            maps, changes = ([self._doubles(per * size) for size in sizes] for per in (k * (k + 1), k))
            earlier = ends if len(at.real) == k else self._doubles(k * spans.n)
            self.run(
                f"{at.name}_begin", spans.n, state, moved, first, spans.n, spans.n_sequences, *spans.of, *spans.firsts
            )
            for i in range(MOST_ROUNDS):
                self.run(f"{at.name}_turn", spans.n, maps[0], ends, state, earlier, moved, i, *self._of_spans)
                self._step(at, state, ends, maps, changes, [moved, i, spans.n_sequences])
        return state, ends, moved

    def write(self, stages: Sequence[States], tapes: Handle, size: int, counts: Handle) -> None:
        """Start the kernels that write outputs by step, in one loop after another: `size` numbers of each set."""
        self.run(f"{self._parts.name}_fill", size, tapes, size)
        before = None
        for at in stages:
            state, ends, moved = self.find(at, before)
            self.run(f"{at.name}_write", self._spans.n, ends, state, moved, counts, *self._of_spans)
            before = ends

    def _step(
        self, at: States, state: Handle, ends: Handle, maps: Sequence[Handle], changes: Sequence[Handle],
        turn: Sequence[KernelValue],
    ) -> None:  # fmt: skip
        """Start a step of Newton's method: the maps of larger and larger groups, then the changes of smaller ones."""
        levels, k = self._spans.levels, len(at.state)
        below = [self._spans.n, *(level.n for level in levels)]
        for i, level in enumerate(levels[:-1]):
            of_level = *level.of, *level.starts
            self.run(f"{at.name}_compose", level.n * (k + 1), maps[i + 1], maps[i], level.n, below[i], *turn, *of_level)
        for i, level in reversed(list(enumerate(levels))):
            of_level = *turn, level.n, below[i], int(level is levels[-1]), *level.of, *level.starts
            if i:
                self.run(f"{at.name}_descend", level.n, changes[i], changes[i + 1], maps[i], *of_level)
            else:
                self.run(f"{at.name}_move", level.n, state, changes[1], maps[0], ends, *of_level)

    def run(self, kernel: str, n_threads: int, *values: KernelValue) -> None:
        self._parts.kernels[kernel]((-(-n_threads // self._parts.threads), self._n_sets), *values)

    def _doubles(self, n: int) -> Handle:
        """Memory for so many numbers of each set."""
        return self._runtime.scratch(8 * self._n_sets * max(n, 1))
