"""Groups of observations that share an intercept, and sums over them on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen
from ..kernels.layout import power_of_two

if TYPE_CHECKING:
    from ..runtime.base import Runtime

_SEGMENT = 512  # rows that are added together at most, so that a few large groups fill a device, too


class Groups:
    """The group of each observation.

    Parameters
    ----------
    groups : (N,) array of int
        From 0 to the number of groups minus one.
    n : int
        The number of groups.
    runtime : Runtime
    """

    def __init__(self, groups: np.ndarray, n: int, runtime: Runtime):
        self.n = n
        counts = np.bincount(groups, minlength=self.n)
        segments = np.maximum(-(-counts // _SEGMENT), 1)  # of each group
        first = np.concatenate([[0], np.cumsum(segments)])
        self.n_segments = int(first[-1])
        ends = np.cumsum(counts)
        own = np.repeat(np.arange(self.n), segments)  # the group of each segment
        starts = (ends - counts)[own] + _SEGMENT * (np.arange(self.n_segments) - first[own])
        self._runtime = runtime
        self._alive: list[Any] = []
        cpu = runtime.device.type == "cpu"
        self._threads = 8 if cpu else min(128, runtime.device.max_threads)
        self._lanes = min(power_of_two(len(groups) // max(8 * self.n_segments, 1)), self._threads)
        self.values = self._moved(groups)
        self._order = self._moved(np.argsort(groups, kind="stable"))[0]
        self._starts = self._moved(np.append(starts, len(groups)))[0]
        self._first_segments = self._moved(first)[0]

    def _moved(self, array: np.ndarray) -> tuple[Any, int]:
        array = np.ascontiguousarray(array, np.int32)
        kept = array if self._runtime.host_visible else self._runtime.to_device(array)
        handle, offset = self._runtime.memory(kept)
        self._alive += [kept, handle]
        return handle, offset // 4

    def sums(self, rows: Any, dtype: np.dtype, n_rows: int, n_sets: int, columns: int) -> np.ndarray:
        """The sums over the rows of each group, (n_sets, groups, columns) in float64, of `rows`, (n_sets, N, columns)."""
        if not n_sets * self.n:
            return np.zeros((n_sets, self.n, columns))
        runtime = self._runtime
        handle, offset = runtime.memory(rows)
        result = runtime.result(8 * n_sets * self.n * columns)
        self.add((handle, offset // dtype.itemsize), dtype, n_sets, n_rows, columns, result.handle, 0)
        return runtime.fetch(result).view(np.float64).reshape(n_sets, self.n, columns).copy()

    def add(
        self, rows: tuple[Any, int], dtype: np.dtype, n_sets: int, n_rows: int, columns: int, out: Any, offset: int
    ) -> None:
        """Start to add `rows`, a handle and an offset, up into `out`, (n_sets, groups, columns) float64."""
        runtime, threads, n = self._runtime, self._threads, self.n_segments
        source = codegen.render_plain("glm/segments", dtype.name, runtime.dialect, threads=threads, lanes=self._lanes)
        add_segments = runtime.kernel(source, "add_segments", threads)
        alone = n == self.n  # each group is one segment
        sums = (out, offset) if alone else (runtime.scratch(8 * n_sets * n * columns), 0)
        add_segments(
            (-(-n // (threads // self._lanes)), n_sets), *sums, *rows, n_rows, self._order, self._starts, n, columns
        )
        if not alone:
            add_groups = runtime.kernel(source, "add_groups", threads)
            blocks = -(-self.n * columns // threads)
            add_groups((blocks, n_sets), out, offset, sums[0], self._first_segments, n, self.n, columns)
