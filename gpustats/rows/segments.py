"""Segments of rows by group: kernels add up the rows of each segment, then the segments of each group."""

from __future__ import annotations

import copy

import numpy as np

from ..kernels.layout import power_of_two
from ..kernels.template import Template
from ..runtime.base import Kernel, Runtime
from ..runtime.types import DType, Handle
from .placed import Placed

_SEGMENTS = Template.beside(__file__, "segments")


class Segments:
    """Segments of the rows of each group, of limited and like length, so that a few large groups fill a device, too.

    The rows are of `n` groups, from 0 to n - 1; a segment has `longest` rows at most. A group without rows has no segment.
    """

    def __init__(self, groups: np.ndarray, n: int, runtime: Runtime, longest: int = 512):
        self.n, self._runtime = n, runtime
        self.counts = counts = np.bincount(groups, minlength=n)  #: rows of each group
        segments = np.maximum(-(-counts // longest), 1)  # of each group
        first = np.concatenate([[0], np.cumsum(segments)])
        self._group_begins = np.concatenate([[0], np.cumsum(counts)])
        own = np.repeat(np.arange(n), segments)  # the group of each segment
        begins = self._group_begins[own] + counts[own] * (np.arange(len(own)) - first[own]) // segments[own]
        cpu = runtime.device.type == "cpu"
        self._threads = 8 if cpu else min(128, runtime.device.max_threads)
        #: the rows, those of each group one after another
        self.order = np.argsort(groups.astype(np.uint16) if n <= 1 << 16 else groups, kind="stable")  # by radix where it can
        self._cut(begins, first)

    def _cut(self, begins: np.ndarray, first: np.ndarray) -> None:
        """Set the rows at which segments begin, and the segments at which groups begin."""
        self.kept = Placed(self._runtime)
        self.placed = self.kept.whole
        self.n_segments = len(begins)
        self.alone = np.array_equal(first, np.arange(self.n + 1))  # whether each group is one segment
        #: threads of a kernel of this class that share a segment
        self.lanes = min(power_of_two(len(self.order) // max(8 * self.n_segments, 1)), self._threads)
        #: threads that share a group, whose segments they add up
        self.lanes_of_groups = min(power_of_two(self.n_segments // max(2 * self.n, 1)), self._threads)
        #: for kernels: the place in `order` where each segment begins, and the end of the last one
        self.starts = self.placed(np.append(begins, len(self.order)))
        self._first_segments = self.placed(first)

    def in_tiles(self, rows: int) -> tuple[Segments, tuple[Handle, int]]:
        """Segments of the same groups, none of which lies in two tiles of so many rows, and the first segment of each tile."""
        tiles = np.arange(0, len(self.order), rows)
        begins = np.union1d(self._group_begins[self._group_begins < len(self.order)], tiles)
        made = copy.copy(self)
        made._cut(begins, np.searchsorted(begins, self._group_begins))
        return made, made.placed(np.append(np.searchsorted(begins, tiles), len(begins)))

    def add_groups(self, out: Handle, offset: int, sums: Handle, dtype: DType, n_sets: int, columns: int) -> None:
        """Start the kernel that adds the sums of segments, (n_sets, segments, columns), to `out`, (n_sets, groups, columns)."""
        blocks = -(-self.n * columns // (self._threads // self.lanes_of_groups))
        kernel = self.kernel("add_groups", dtype)
        first, start = self._first_segments
        kernel((blocks, n_sets), out, offset, sums, first, start, self.n_segments, self.n, columns)

    def kernel(self, name: str, dtype: DType) -> Kernel:
        """Kernel of the template for the threads that this object has chosen."""
        threads = self._threads
        return _SEGMENTS.kernel(
            self._runtime, name, threads, dtype=dtype.name, threads=threads, lanes=self.lanes,
            lanes_of_groups=self.lanes_of_groups,
        )  # fmt: skip

    def blocks(self) -> int:
        """Number of blocks of a kernel of which `lanes` threads share a segment."""
        return -(-self.n_segments // (self._threads // self.lanes))
