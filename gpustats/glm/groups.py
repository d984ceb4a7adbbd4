"""Groups of observations that share an intercept, and sums over them on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import at
from ..evaluation.results import as_host
from ..kernels.layout import power_of_two
from ..kernels.template import Template
from ..runtime.types import Array, DType, Handle

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

_SEGMENTS = Template.beside(__file__, "segments")
_SEGMENT = 512  # rows that are added together at most, so that a few large groups fill a device, too


class Groups:
    """The group of each observation.

    The rows of each group are listed, in segments of at most `_SEGMENT` rows: a kernel adds the rows of each segment, and
    another the segments of each group.

    Parameters
    ----------
    groups : (N,) array of int
        From 0 to the number of groups minus one.
    n : int
        The number of groups.
    runtime : Runtime

    Attributes
    ----------
    values : (handle, int)
        What a kernel takes for the group of each observation.
    """

    def __init__(self, groups: np.ndarray, n: int, runtime: Runtime):
        self.n, self._runtime = n, runtime
        counts = np.bincount(groups, minlength=n)
        segments = np.maximum(-(-counts // _SEGMENT), 1)  # of each group
        first = np.concatenate([[0], np.cumsum(segments)])
        self.n_segments = int(first[-1])
        ends = np.cumsum(counts)
        own = np.repeat(np.arange(n), segments)  # the group of each segment
        starts = (ends - counts)[own] + _SEGMENT * (np.arange(self.n_segments) - first[own])
        cpu = runtime.device.type == "cpu"
        self._threads = 8 if cpu else min(128, runtime.device.max_threads)
        self._lanes = min(power_of_two(len(groups) // max(8 * self.n_segments, 1)), self._threads)
        self._alive: list[Any] = []
        self.values = self._placed(groups)
        self._groups = self._alive[0]
        self._order = self._placed(np.argsort(groups, kind="stable"))[0]
        self._starts = self._placed(np.append(starts, len(groups)))[0]
        self._first_segments = self._placed(first)[0]

    def _placed(self, array: np.ndarray) -> tuple[Handle, int]:
        """Whole numbers as a kernel takes them, for as long as this object lives."""
        array = np.ascontiguousarray(array, np.int32)
        kept = array if self._runtime.host_visible else self._runtime.to_device(array)
        handle, offset = at(self._runtime, kept)
        self._alive += [kept, handle]
        return handle, offset

    def on_host(self) -> np.ndarray:
        """The group of each observation again."""
        return as_host(self._runtime, self._groups)

    def sums(self, rows: Array, dtype: DType, n_sets: int, n_rows: int, columns: int) -> np.ndarray:
        """The sums over the rows of each group, (n_sets, groups, columns) in float64, of `rows`, (n_sets, N, columns)."""
        if not n_sets * self.n:
            return np.zeros((n_sets, self.n, columns))
        runtime = self._runtime
        result = runtime.result(8 * n_sets * self.n * columns)
        self.add(at(runtime, rows), dtype, n_sets, n_rows, columns, result.handle, 0)
        return runtime.fetch(result).view(np.float64).reshape(n_sets, self.n, columns).copy()

    def add(
        self, rows: tuple[Handle, int], dtype: DType, n_sets: int, n_rows: int, columns: int, out: Handle, offset: int
    ) -> None:
        """Start to add `rows`, a handle and an offset, up into `out`, (n_sets, groups, columns) float64."""
        runtime, threads, n = self._runtime, self._threads, self.n_segments
        blocks = -(-n // (threads // self._lanes))
        alone = n == self.n  # each group is one segment
        sums = (out, offset) if alone else (runtime.scratch(8 * n_sets * n * columns), 0)
        add_segments = self._kernel("add_segments", dtype)
        add_segments((blocks, n_sets), *sums, *rows, n_rows, self._order, self._starts, n, columns)
        if not alone:
            blocks = -(-self.n * columns // threads)
            add_groups = self._kernel("add_groups", dtype)
            add_groups((blocks, n_sets), out, offset, sums[0], self._first_segments, n, self.n, columns)

    def _kernel(self, name: str, dtype: DType) -> Kernel:
        threads = self._threads
        return _SEGMENTS.kernel(self._runtime, name, threads, dtype=dtype.name, threads=threads, lanes=self._lanes)
