"""Sums over few long sequences, parallel in time, and their derivatives: see `parts`.

Sums are taken in an order that depends on lengths alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.repeated import Elements, KeptPlaces, RepeatedCall, Result, Results, Work
from ..evaluation.sums import add_block_sums
from ..kernels.template import Template
from ..language.liveness import names_in
from ..language.nodes import Call, Return
from ..rewriting.activity import Activity
from ..rewriting.differentiate import gradient
from ..rewriting.stepwise import NotStepwise, of_results, stepwise
from .launch import leaf_values
from .leaves import Gather, Leaf, PerRow, Scalar
from .parts import Parts, PartsLaunch, States

if TYPE_CHECKING:
    from ..language.nodes import Function
    from ..runtime.types import Array, Handle, KernelValue, Value
    from .binding import RowFunction
    from .parameters import Packing
    from .sheet import Sheet

MOST_DIRECTIONS = 64  # of the last pass: compilers take long for more

_TEMPLATE = Template.beside(__file__, "long_sequences")


class LongSequences(Parts):
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
        super().__init__(row, leaves, sheet, by_value)
        self._made_of = made_of
        self.wrt = tuple(p.name for p in row.function.parameters if p.name in wrt)
        functions = dict(row.functions)
        self.split = split = stepwise(row.function, functions.get)
        self.real = tuple(s for s in split.state if s not in split.whole)
        self.refuse(split.state)
        if len(self.real) + len(self.wrt) > MOST_DIRECTIONS:
            raise NotStepwise(f"there are more than {MOST_DIRECTIONS} derivatives in parameters and states")
        wanted = self.real + self.wrt
        #: parameters on which the steps depend themselves
        self.slopes = tuple(n for n in self.wrt if any(n in found for found in _directions(split.steps, wanted).values()))
        begins = _directions(split.start, self.wrt) if split.start else {}
        self._summed = tuple(n for n in self.wrt if isinstance(leaves[n], Scalar))
        self._own = tuple(n for n in self.wrt if n not in self._summed)  # arguments of which each sequence has its own number
        self._compile_all(functions, begins)

    def _compile_all(self, functions: dict[str, Function], begins: Mapping[str, Collection[str]]) -> None:
        """Compile the kernels: of the states, of the last pass and of the finish, which has the function as a whole, too."""
        split, real = self.split, self.real
        read = names_in(*split.finish.body)
        #: what the value depends on, of the states and the sums at the end
        self.read = tuple(n for n in (*real, *split.sums) if n in read)
        made = [
            gradient(split.steps, (*real, *self.slopes) if self.wrt else (), functions),
            gradient(split.finish, (*self.wrt, *self.read) if self.wrt else (), functions),
            gradient(self._row.function, self.wrt, functions),
        ]
        start = turn = None
        if split.start:
            alone = of_results(split.steps, split.state)
            functions[alone.name] = alone
            start = self.code(gradient(split.start, self.wrt, functions), functions)
            turn = self.turn_code(alone, real, functions)
        self.at = at = States(self.name, split.state, real, start=start, turn=turn)
        codes = [*(self.code(f, functions) for f in made), *(code for code in (start, turn) if code)]
        kinds = (*at.kinds, *(f"{self.name}_{kind}" for kind in ("last", *(["fold"] if self.shape[0] else []), "finish")))
        self.compile(
            _TEMPLATE, codes, split.bounds, (*split.state, *split.sums), kinds, at=at, sums=split.sums, wrt=self.wrt,
            slopes=self.slopes, read=self.read, summed=self._summed,
            begins=tuple((s, by) for s in real for by in self.wrt if by in begins.get(s, ())),
        )  # fmt: skip

    n_loops = 1

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
        return f"{super().described}; a step hands {len(self.split.state)} numbers on"

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


class _Launch(PartsLaunch):
    def __init__(self, long: LongSequences, n_sets: int, given: Sequence[KernelValue]):
        super().__init__(long, n_sets, given)
        self._long = long

    def start(self, out: Handle) -> None:
        long, spans = self._long, self._spans
        state, ends, moved = self.find(long.at, None)
        rows, columns = long.shape
        map_, below = self._doubles(rows * columns * spans.n), spans.n
        self.run(f"{long.name}_last", spans.n, map_, ends, state, *self._of_spans)
        for level in spans.levels if rows else ():
            folded = self._doubles(rows * columns * level.n)
            of_level = *level.of, *level.starts
            self.run(f"{long.name}_fold", level.n * columns, folded, map_, level.n, below, *of_level)
            map_, below = folded, level.n
        width = self._n_sets * long.width
        sums = self._doubles(long.width * spans.n_sequences)
        self.run(f"{long.name}_finish", spans.n_sequences, sums, out, width, map_, ends, moved, *self._of_spans)
        add_block_sums(self._runtime, out, 0, sums, width, spans.n_sequences, threads=long.threads, side=1)


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
