"""Groups of observations that share an intercept, and sums over them on the device."""

from __future__ import annotations

import numpy as np

from ..evaluation.results import as_host
from ..rows.segments import Segments
from ..runtime.base import Runtime
from ..runtime.types import Array, DType, Handle


class Groups(Segments):
    """The group of each observation, from 0 to n - 1, and the rows of each of the n groups."""

    def __init__(self, groups: np.ndarray, n: int, runtime: Runtime):
        super().__init__(groups, n, runtime)
        self.values = self.placed(groups)  # kernel's values for the group of each observation
        self._groups = self.kept.arrays[-1]
        self._order = self.placed(self.order)

    def on_host(self) -> np.ndarray:
        """Group of each observation, on the host."""
        return as_host(self._runtime, self._groups)

    def sums(self, rows: Array, dtype: DType, n_sets: int, n_rows: int, columns: int) -> np.ndarray:
        """Sums over the rows of each group, (n_sets, groups, columns) in float64, of `rows`, (n_sets, N, columns)."""
        if not n_sets * self.n:
            return np.zeros((n_sets, self.n, columns))
        runtime = self._runtime
        result = runtime.result(8 * n_sets * self.n * columns)
        self.add(runtime.memory(rows), dtype, n_sets, n_rows, columns, result.handle, 0)
        return runtime.fetch(result).view(np.float64).reshape(n_sets, self.n, columns).copy()

    def add(
        self, rows: tuple[Handle, int], dtype: DType, n_sets: int, n_rows: int, columns: int, out: Handle, offset: int
    ) -> None:
        """Start the kernels that add `rows`, a handle and an offset, up into `out`, (n_sets, groups, columns) float64."""
        n = self.n_segments
        sums = (out, offset) if self.alone else (self._runtime.scratch(8 * n_sets * n * columns), 0)
        add_segments = self.kernel("add_segments", dtype)
        add_segments((self.blocks(), n_sets), *sums, *rows, n_rows, *self._order, *self.starts, n, columns)
        if not self.alone:
            self.add_groups(out, offset, sums[0], dtype, n_sets, columns)
