"""Evaluations by compiled code: which numbers of a call it gives to a device, and where it puts what the device finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.cached import cached_property
from ..runtime.types import Shape
from .compiled import RepeatedSum


class Run(NamedTuple):
    """Run of numbers that are copied: `length` of them, from the place `source` to the place `target`."""

    source: int
    target: int
    length: int


class Places(NamedTuple):
    """Places of numbers of an array, (m,), and those of the same numbers among the device's, (sets, m)."""

    own: np.ndarray
    device: np.ndarray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of an operation by compiled code, for one set of inputs or several.

    Attributes
    ----------
    sum : RepeatedSum
    inputs : sequence of (int, Places)
        Numbers that are given to the device, each with its input.
    outputs : sequence of Places
        Numbers that the device finds, and their places in the outputs of a set, one after another. What several bring to a
        place is added.
    n_out : int
        Number of numbers in all outputs of a set.
    valid : int
        Place of the number that says that the parameters are valid: they are where the first number found is finite.
        -1 where there is none.
    """

    sum: RepeatedSum
    inputs: Sequence[tuple[int, Places]]
    outputs: Sequence[Places]
    n_out: int
    valid: int = -1

    @cached_property
    def given(self) -> list[tuple[int, Run]]:
        """Runs of the numbers that are given to the device, of one set, each with its input."""
        return [(i, run) for i, places in self.inputs for run in runs(places.own, places.device[0])]

    @cached_property
    def found(self) -> list[Run]:
        """Runs of the numbers that the device finds, of one set, to the outputs."""
        return [run for places in self.outputs for run in runs(places.device[0], places.own)]


def runs(sources: np.ndarray, targets: np.ndarray) -> list[Run]:
    """Runs of numbers to copy, from each place of `sources` to that of `targets`; neighbours are copied together."""
    if not sources.size:
        return []
    starts = np.flatnonzero((np.diff(sources, prepend=-2) != 1) | (np.diff(targets, prepend=-2) != 1))
    lengths = np.diff(starts, append=sources.size)
    return [Run(*map(int, its)) for its in zip(sources[starts], targets[starts], lengths, strict=True)]


def evaluation_of(
    found: RepeatedSum, inputs: Iterable[tuple[int, str, np.ndarray]], outputs: Iterable[tuple[str, np.ndarray]], n_out: int,
    valid: int = -1,
) -> Evaluation:  # fmt: skip
    """Evaluation, by compiled code, of a sum and its derivatives; the sum, if it is found, is the first output.

    `inputs` come with the arguments that are made of them, and for each number of the argument which of the input it is.
    `outputs` are arguments in which there are derivatives, and where among the outputs those in each number belong.
    """
    values = found.values.reshape(found.n_sets, -1)
    given, left = list[tuple[int, Places]](), [Places(np.arange(values.shape[1]), values)]
    for i, name, places in inputs:
        elements, device = found.arguments[name]
        given.append((i, Places(places[elements], device)))
    for name, places in outputs:
        left += [Places(places[elements], device) for elements, device in found.derivatives[name]]
    return Evaluation(found, given, left, n_out, valid)


def spread(shape: Shape, n_sets: int | None) -> np.ndarray | float:
    """Value of a shape, for the making of a `RepeatedSum`; of a stack of sets, with a first axis of these."""
    lead = () if n_sets is None else (n_sets,)
    return np.ones((*lead, *shape)) if shape or lead else 1.0
