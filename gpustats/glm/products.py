"""Products of the columns of a design matrix with one another and weights, and with vectors, where the matrix lies."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.placement import as_read
from ..evaluation.results import as_host
from ..evaluation.sums import add_block_sums
from ..kernels.template import Template
from ..rows.assembly import Design, members
from ..runtime import thresholds
from ..runtime.types import Array, Doubles

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix

_TILES, _LANES = (Template.beside(__file__, name) for name in ("column_products", "column_products_lanes"))
#: Groups of rows of a CPU that stay in its cache while all columns are multiplied; blocks for each of its processors.
GROUPS_TOGETHER, BLOCKS_OF_CPU = thresholds.GLM_GROUPS_TOGETHER.value, thresholds.GLM_BLOCKS_OF_CPU.value
#: Threads of a block of a GPU, bytes of the rows that it shares, and blocks for each multiprocessor.
THREADS, SHARED_BYTES, BLOCKS_OF_GPU = thresholds.GLM_PRODUCTS_TILE.value
ADDED_TOGETHER = 8  # neighbouring sums that a block adds up


class ColumnProducts:
    """Design matrix, (N, k), whose columns kernels multiply."""

    def __init__(self, design: DesignMatrix):
        self.columns, self._design, self._runtime = design.columns, design, design.runtime
        self._n, self._dtype, self._lanes, device = design.n_rows, design.dtype, design.lanes, design.runtime.device
        across = -(-self.columns // 4)
        self._tiles = across * (across + 1) // 2
        if self._lanes > 1:
            self._threads, rows = self._lanes, GROUPS_TOGETHER
            most, self._blocks_of_tiles = BLOCKS_OF_CPU * device.compute_units, 1
            n_parts = -(-self._n // (rows * self._lanes))
        else:
            self._threads = min(THREADS, device.max_threads)
            rows = max(min(32, SHARED_BYTES // (4 * across * self._dtype.itemsize)), 1)
            self._blocks_of_tiles = -(-self._tiles // self._threads)
            most, n_parts = max(BLOCKS_OF_GPU * device.compute_units // self._blocks_of_tiles, 1), -(-self._n // rows)
        self._blocks, self._rows = max(min(most, n_parts), 1), rows
        self._last: tuple[Callable[[], Array | None], Doubles] = lambda: None, np.zeros(0)

    def gram(self, weights: Array, other: Design) -> Doubles:
        assert other is self
        sums = self._sums("gram", (self._blocks_of_tiles, self._blocks), self._tiles * 16, weights)
        across, k = -(-self.columns // 4), self.columns
        down, right = np.tril_indices(across)
        found = np.zeros((across, 4, across, 4))
        tiles = sums.reshape(-1, 4, 4)
        found[right, :, down] = tiles.swapaxes(1, 2)
        found[down, :, right] = tiles
        whole = found.reshape(4 * across, 4 * across)[:k, :k]
        return (whole + whole.T) / 2  # to the last bit the same on both sides

    def times(self, weights: Array) -> Doubles:
        return self._with_total(weights)[:-1]

    def total(self, weights: Array) -> float:
        """Sum of an array (N,), which may lie on the device."""
        return float(self._with_total(weights)[-1])

    def _with_total(self, weights: Array) -> Doubles:
        """Products of the columns with an array, and its sum: one pass for both, which are asked for one after the other."""
        before, sums = self._last
        if before() is not weights:
            sums = self._sums("times", (1, self._blocks), self.columns + 1, weights)
            self._last = weakref.ref(weights), sums
        return sums

    def by_group(self, weights: Array, groups: np.ndarray, n: int) -> Doubles:
        found: Doubles = members(as_host(self._runtime, weights), groups, n).T @ self._on_host
        return found

    @functools.cached_property
    def _on_host(self) -> np.ndarray:
        return self._design.on_host()

    def _sums(self, name: str, grid: tuple[int, int], n: int, weights: Array) -> Doubles:
        """Sums over the rows, of which a kernel leaves n for each block, and for each lane."""
        runtime = self._runtime
        if not self._n:
            return np.zeros(n)
        weights = as_read(runtime, weights, self._dtype)
        if isinstance(weights, np.ndarray) and not runtime.host_visible:
            weights = runtime.to_device(weights)
        template = _LANES if self._lanes > 1 else _TILES
        kernel = template.kernel(
            runtime, name, self._threads, dtype=self._dtype.name, threads=self._threads, rows=self._rows, columns=self.columns
        )
        size, place = self._blocks * n * self._lanes, runtime.memory(weights)
        if self._lanes == 1:
            partial, result = runtime.scratch(8 * size), runtime.result(8 * n)
            kernel(grid, partial, *self._design.values, *place, self._n)
            add_block_sums(runtime, result.handle, 0, partial, n, self._blocks, threads=self._threads, side=ADDED_TOGETHER)
            return runtime.fetch(result).view(np.float64)[:n].copy()
        result = runtime.result(8 * size)
        kernel(grid, result.handle, *self._design.values, *place, self._n)
        left = runtime.fetch(result).view(np.float64)[:size].reshape(self._blocks, n, self._lanes)
        found: Doubles = np.add.reduce(left, (0, 2))
        return found
