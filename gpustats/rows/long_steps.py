"""Outputs by step of few long sequences, parallel in time: see `parts`.

A function that writes by step is gone through in stages, a loop each. The states with which the parts of a loop begin are
found, and each part writes what belongs to its own elements; the next loop, forth or back, may read that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.repeated import Kept, KeptPlaces, RepeatedCall, Work
from ..evaluation.sums import add_block_sums
from ..kernels.code import KernelCode
from ..kernels.template import Template
from ..language.nodes import OUTPUT, RNG
from ..rewriting.random_words import blocks_of
from ..rewriting.stages import Stage, stages
from .launch import in_order, leaf_values
from .leaves import Leaf
from .parts import Parts, PartsLaunch, States

if TYPE_CHECKING:
    from ..runtime.types import Array, Handle, KernelValue
    from .binding import RowFunction
    from .parameters import Packing
    from .sheet import Sheet

_TEMPLATE = Template.beside(__file__, "long_steps")


class LongSteps(Parts):
    """Kernels for outputs by step of few long sequences.

    Parameters
    ----------
    row : RowFunction
        Function that writes the outputs.
    leaves : mapping
        Argument, as in C -> leaf.
    sheet : Sheet
        With sequences one after another.
    by_value : bool
        Whether kernels take numbers by value.
    only : Stage, optional
        Stage that the function consists of, where that is known.

    Attributes
    ----------
    tapes : tuple of str
        Outputs of the function, as in C.

    Raises
    ------
    NotStepwise
        Where the function is not for that, with the reason.
    """

    def __init__(self, row: RowFunction, leaves: Mapping[str, Leaf], sheet: Sheet, by_value: bool, only: Stage | None = None):
        super().__init__(row, leaves, sheet, by_value)
        functions = dict(row.functions)
        found = stages(row.function, functions.get) if only is None else [only]
        self.tapes = tuple(p.name for p in row.function.parameters if p.type == OUTPUT)
        self._draws = any(p.type == RNG for p in row.function.parameters)
        self.stages, codes, writers = list[States](), list[KernelCode](), list[KernelCode]()
        blocks = "0"  # of random words that are drawn before
        for i, stage in enumerate(found):
            self.refuse(stage.state)
            real = tuple(s for s in stage.state if s not in stage.whole)
            before, each = self._blocks(stage.drawn_before), self._blocks(stage.drawn)
            begun = f"{blocks} + {before}" if before else blocks
            first, last = stage.left_out
            turns, all_turns = _less("begin", first), _less("dim_here", first + last)
            start = None if stage.start is None else self.code(stage.start, functions)
            turn = None if stage.steps is None else self.turn_code(stage.steps, real, functions)
            codes += [code for code in (start, turn) if code is not None]
            self.stages.append(
                States(
                    f"{self.name}_{i}", stage.state, real, stage.before, start, turn, blocks,
                    f"{begun} + {each} * {turns}" if each else begun,
                )
            )  # fmt: skip
            writers.append(self.code(stage.write, functions))
            blocks = f"{begun} + {each} * {all_turns}" if each else begun
        kinds = [kind for at in self.stages for kind in (*at.kinds, f"{at.name}_write")]
        states = dict.fromkeys(s for stage in found for s in stage.state)
        self.compile(
            _TEMPLATE, [*codes, *writers], found[0].bounds, tuple(states), [*kinds, f"{self.name}_fill"], self.tapes,
            sheet.row if self._draws else "", stages=tuple(self.stages), first_writer=len(codes),
        )  # fmt: skip

    def _blocks(self, kinds: Sequence[str]) -> int:
        """Blocks of random words that numbers of some kinds take."""
        return blocks_of(kinds, self._sheet.dtype.itemsize == 8)

    @property
    def n_loops(self) -> int:
        """Number of loops that it goes through."""
        return len(self.stages)

    @property
    def described(self) -> str:
        """Sentence of how the sequences are gone through."""
        handed = ", then ".join(str(len(at.state)) for at in self.stages)
        return f"{super().described}; a step hands {handed} numbers on"

    @property
    def stored(self) -> int:
        """Bytes that a call stores for each set of parameters, but for what is a small part of them, and for the outputs."""
        return 8 * self.spans.n * sum(len(at.state) * (len(at.state) + 5) for at in self.stages)

    # -- a call

    def call(self, packing: Packing, names: Sequence[str], stream: Sequence[int]) -> RepeatedCall[Sequence[Array]]:
        """Repeated call of some of the outputs, (sets, T) each; `stream` is the place of the first draw."""
        sheet = self._sheet
        kept = [Kept((packing.n_sets, sheet.n_steps), sheet.dtype, False) for _ in names]

        def start(found: Handle, taken: list[KernelValue], places: KeptPlaces) -> None:
            tapes = self._launch(packing, taken, found, stream)
            for name, (handle, first) in zip(names, places, strict=True):
                in_order(sheet, handle, first, packing.n_sets, tapes, self.tapes.index(name), len(self.tapes))

        return RepeatedCall(
            packing.slots(self.runtime), Work(0, start), lambda numbers, kept: kept, tuple(packing.shapes), kept=kept
        )

    def rounds(self, packing: Packing) -> RepeatedCall[tuple[int, int]]:
        """Repeated call of the number of rounds of all loops and sequences together, and of those gone through step by step."""
        width, n_rows = packing.n_sets * 2 * len(self.stages), self.spans.n_sequences

        def start(found: Handle, taken: list[KernelValue], kept: KeptPlaces) -> None:
            counts = self.runtime.scratch(8 * width * n_rows)
            self._launch(packing, taken, found, (1, 0, 0), counts)
            add_block_sums(self.runtime, found, 0, counts, width, n_rows, threads=self.threads, side=1)

        def read(numbers: np.ndarray, kept: Sequence[Array]) -> tuple[int, int]:
            rounds, left = numbers[:width].reshape(-1, 2).sum(0)
            return int(rounds), int(left)

        return RepeatedCall(packing.slots(self.runtime), Work(width, start), read)

    def _launch(
        self, packing: Packing, taken: Sequence[KernelValue], out: Handle, stream: Sequence[int], counts: Handle | None = None
    ) -> Handle:  # fmt: skip
        """Start all kernels; memory for the outputs, as sequences lie one after another."""
        sheet, runtime, n_sets = self._sheet, self.runtime, packing.n_sets
        assert sheet.dealt is not None
        size = sheet.dealt.size
        tapes = runtime.scratch(sheet.dtype.itemsize * n_sets * len(self.tapes) * size)
        if counts is None:
            counts = runtime.scratch(16 * n_sets * len(self.stages) * self.spans.n_sequences)
        given = [*leaf_values(sheet, packing, taken, out), tapes, size, *(stream if self._draws else ())]
        PartsLaunch(self, n_sets, given).write(self.stages, tapes, size * len(self.tapes), counts)
        return tapes


def _less(count: str, by: int) -> str:
    """C for a count, less a number, but not below 0."""
    return f"(word_t)({count} > {by} ? {count} - {by} : 0)" if by else f"(word_t){count}"
