"""Groups of observations that share an intercept, and sums over them on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import codegen

if TYPE_CHECKING:
    from ..runtime.base import Runtime

_SEGMENT = 512  # rows that a block adds at most, so that a few large groups fill a device, too


class Groups:
    """The group of each observation.

    Parameters
    ----------
    groups : (N,) array of int
        From 0 to the number of groups minus one.
    runtime : Runtime
    """

    def __init__(self, groups: np.ndarray, runtime: Runtime):
        self.n = int(groups.max(initial=-1)) + 1
        counts = np.bincount(groups, minlength=self.n)
        segments = -(-counts // _SEGMENT)  # of each group
        first = np.concatenate([[0], np.cumsum(segments)])
        self.n_segments = int(first[-1])
        ends = np.cumsum(counts)
        own = np.repeat(np.arange(self.n), segments)  # the group of each segment
        starts = (ends - counts)[own] + _SEGMENT * (np.arange(self.n_segments) - first[own])
        self._runtime = runtime
        self._alive: list[Any] = []
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
        threads = 8 if runtime.device.type == "cpu" else 32
        source = codegen.render_plain("segments", dtype.name, runtime.dialect, threads=threads)
        add_segments = runtime.kernel(source, "add_segments", "PPqqPPqi", threads)
        add_groups = runtime.kernel(source, "add_groups", "PPPqqi", threads)
        handle, offset = runtime.memory(rows)
        partial = runtime.scratch(8 * n_sets * self.n_segments * columns)
        result = runtime.result(8 * n_sets * self.n * columns)
        add_segments(
            (self.n_segments, n_sets), partial, handle, offset // dtype.itemsize, n_rows, self._order, self._starts,
            self.n_segments, columns,
        )  # fmt: skip
        add_groups(
            (-(-self.n * columns // threads), n_sets), result.handle, partial, self._first_segments, self.n_segments, self.n,
            columns,
        )  # fmt: skip
        return runtime.fetch(result).view(np.float64).reshape(n_sets, self.n, columns).copy()
