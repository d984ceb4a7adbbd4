"""Spans: the parts into which long sequences are cut, and groups of spans, of groups, and so on, up to whole sequences."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.types import Handle
from .placed import Placed

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
        self._placed = Placed(runtime)  # which keeps arrays alive
        counts, self.n_sequences = np.maximum(-(-steps // longest), 1), len(steps)
        self.n = int(counts.sum())
        self.of, self.firsts = self._placed.whole(self._owners(counts)), self._placed.whole(_ends(counts))
        self.levels: list[Level] = []
        while not self.levels or counts.max() > 1:
            below, counts = counts, -(-counts // FOLDED)
            owners = self._owners(counts)
            within = np.arange(len(owners)) - _ends(counts)[owners]
            starts = np.append(_ends(below)[owners] + FOLDED * within, below.sum())
            self.levels.append(Level(len(owners), self._placed.whole(starts), self._placed.whole(owners)))

    @staticmethod
    def longest(steps: np.ndarray, least: int, threads: int) -> int:
        """The most steps of a span, `least` or more, so that about as many threads have one."""
        return max(least, math.ceil(int(steps.sum()) / threads))

    def _owners(self, counts: np.ndarray) -> np.ndarray:
        return np.repeat(np.arange(len(counts)), counts)


def _ends(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])
