"""Evaluations by compiled code: which numbers of a call it gives to a device, and where it puts what the device finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..runtime.replay import Replay
from .repeated import SumReplay


class Run(NamedTuple):
    """Run of numbers that are copied: `length` of them, from the place `source` to the place `target`."""

    source: int
    target: int
    length: int


class Evaluation(NamedTuple):
    """Evaluation of an operation by compiled code."""

    replay: Replay
    #: numbers that are given to the device, each with its input; a run's source is counted in that input
    given: Sequence[tuple[int, Run]]
    #: numbers that the device finds, to the outputs, one after another; what several runs bring to a place is added
    found: Sequence[Run]
    n_out: int  # number of numbers in all outputs
    #: place of the number that says that the parameters are valid: they are where the first number found is finite
    valid: int = -1


def runs(sources: np.ndarray, targets: np.ndarray) -> list[Run]:
    """Runs of numbers to copy, from each place of `sources` to that of `targets`; neighbours are copied together."""
    if not sources.size:
        return []
    starts = np.flatnonzero((np.diff(sources, prepend=-2) != 1) | (np.diff(targets, prepend=-2) != 1))
    lengths = np.diff(starts, append=sources.size)
    return [Run(*map(int, its)) for its in zip(sources[starts], targets[starts], lengths, strict=True)]


def evaluation_of(
    replay: SumReplay, inputs: Iterable[tuple[int, str, np.ndarray]], outputs: Iterable[tuple[str, np.ndarray]], n_out: int,
    valid: int = -1,
) -> Evaluation:  # fmt: skip
    """Evaluation, by compiled code, of a sum and its derivatives; the sum is the first output.

    `inputs` come with the arguments that are made of them, and for each number of the argument which of the input it is.
    `outputs` are arguments in which there are derivatives, and where among the outputs those in each number belong.
    """
    given = [(i, run) for i, name, elements in inputs for run in runs(elements, replay.arguments[name])]
    found = [Run(0, 0, 1)]
    for name, targets in outputs:
        for elements, sources in replay.derivatives[name]:
            found += runs(sources, targets[elements])
    return Evaluation(replay.replay, given, found, n_out, valid)
