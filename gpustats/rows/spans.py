"""Spans: the parts into which long sequences are cut, and groups of spans, of groups, and so on, up to whole sequences."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.types import Array, Handle

FOLDED = thresholds.ROWS_FOLDED.value  # neighbours whose maps a thread composes


class Level(NamedTuple):
    """Groups of neighbouring spans, or groups of such, none of which belong to two sequences."""

    n: int
    starts: tuple[Handle, int]  # kernel's arguments: where each begins among what it is of, and the end of the last one
    of: tuple[Handle, int]  # the sequence of each


class Spans:
    """Spans of about as many steps each, in the order of the sequences; each sequence has one at least.

    Parameters
    ----------
    steps : (N,) ndarray of int
        Of each sequence.
    longest : int
        The most steps of a span.
    runtime : Runtime

    Attributes
    ----------
    n, n_sequences : int
        Number of spans, and of sequences.
    of, firsts : (handle, int)
        Kernel's arguments: the sequence of each span, and the first span of each sequence, with the number of all at the end.
    levels : list of Level
        Groups of spans, then groups of these, up to one for each sequence.
    """

    def __init__(self, steps: np.ndarray, longest: int, runtime: Runtime):
        self._runtime, self._alive = runtime, list[object]()
        counts, self.n_sequences = np.maximum(-(-steps // longest), 1), len(steps)
        self.n = int(counts.sum())
        self.of, self.firsts = self._placed(self._owners(counts)), self._placed(_ends(counts))
        self.levels: list[Level] = []
        while not self.levels or counts.max() > 1:
            below, counts = counts, -(-counts // FOLDED)
            owners = self._owners(counts)
            within = np.arange(len(owners)) - _ends(counts)[owners]
            starts = np.append(_ends(below)[owners] + FOLDED * within, below.sum())
            self.levels.append(Level(len(owners), self._placed(starts), self._placed(owners)))

    @staticmethod
    def longest(steps: np.ndarray, least: int, threads: int) -> int:
        """The most steps of a span, `least` or more, so that about as many threads have one."""
        return max(least, math.ceil(int(steps.sum()) / threads))

    def _owners(self, counts: np.ndarray) -> np.ndarray:
        return np.repeat(np.arange(len(counts)), counts)

    def _placed(self, array: np.ndarray) -> tuple[Handle, int]:
        """Kernel's arguments for an array of whole numbers, which this object keeps alive."""
        array = np.ascontiguousarray(array, np.int32)
        kept: Array = array if self._runtime.host_visible else self._runtime.to_device(array)
        handle, offset = self._runtime.memory(kept)
        self._alive += [kept, handle]
        return handle, offset


def _ends(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])
