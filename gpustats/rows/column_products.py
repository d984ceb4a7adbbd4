"""Products of the columns of a matrix with one another and weights, and with vectors, where the matrix lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..evaluation.placement import as_read
from ..evaluation.sums import add_block_sums
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.types import Array, Doubles

if TYPE_CHECKING:
    from ..runtime.base import Device, Runtime
    from ..runtime.types import DType, KernelValue

_TILES, _LANES = (Template.beside(__file__, name) for name in ("column_products", "column_products_lanes"))
#: Groups of rows of a CPU that stay in its cache while all columns are multiplied; blocks for each of its processors.
GROUPS_TOGETHER, BLOCKS_OF_CPU = thresholds.GLM_GROUPS_TOGETHER.value, thresholds.GLM_BLOCKS_OF_CPU.value
#: Threads of a block of a GPU, bytes of the rows that it shares, and blocks for each multiprocessor.
THREADS, SHARED_BYTES, BLOCKS_OF_GPU = thresholds.GLM_PRODUCTS_TILE.value
ADDED_TOGETHER = 8  # neighbouring sums that a block adds up


def lanes_of(device: Device, itemsize: int) -> int:
    """Number of rows of a matrix that a block takes side by side: those of a vector register of a CPU, else 1."""
    return 64 // itemsize if device.type == "cpu" else 1


class Matrix(NamedTuple):
    """Matrix (N, k) as kernels read it."""

    values: Sequence[KernelValue]  # kernel's arguments for the array: handle, and offset
    n_rows: int
    columns: int
    dtype: DType
    lanes: int  # number of rows that a block takes side by side: more than one on a CPU
    by_columns: bool = False  # whether columns lie one after another; else rows do, or groups of as many as there are lanes


class ColumnProducts:
    """Products of the columns of a matrix (N, k), which kernels make."""

    def __init__(self, matrix: Matrix, runtime: Runtime):
        self.columns, self._matrix, self._runtime = matrix.columns, matrix, runtime
        device, itemsize = runtime.device, matrix.dtype.itemsize
        across = self.columns // 4 + 1  # tiles of four columns, of which the last is of ones
        self._tiles = across * (across + 1) // 2
        row, column = np.indices((self.columns + 1, self.columns + 1))
        left, right = np.maximum(row, column), np.minimum(row, column)
        #: where each product stands among the tiles, above the diagonal as below
        self._places = 16 * ((left // 4) * (left // 4 + 1) // 2 + right // 4) + 4 * (left % 4) + right % 4
        if matrix.lanes > 1:
            self._threads, rows = matrix.lanes, GROUPS_TOGETHER
            most, self._blocks_of_tiles = BLOCKS_OF_CPU * device.compute_units, 1
            n_parts = -(-matrix.n_rows // (rows * matrix.lanes))
        else:
            self._threads = min(THREADS, device.max_threads)
            rows = max(min(32, SHARED_BYTES // (4 * across * itemsize)), 1)
            self._blocks_of_tiles = -(-self._tiles // self._threads)
            most, n_parts = max(BLOCKS_OF_GPU * device.compute_units // self._blocks_of_tiles, 1), -(-matrix.n_rows // rows)
        self._blocks, self._rows = max(min(most, n_parts), 1), rows

    def weighted(self, weights: Array) -> Doubles:
        """Products X' diag(weights) X, (k, k), for weights (N,), which may lie on the device."""
        return self.with_ones(weights)[:-1, :-1]

    def with_ones(self, weights: Array) -> Doubles:
        """Products of X with a column of ones behind it, (k + 1, k + 1): the last row is `with_total`."""
        sums = self._sums("gram", (self._blocks_of_tiles, self._blocks), self._tiles * 16, weights)
        found: Doubles = sums[self._places]
        return found

    def with_total(self, weights: Array) -> Doubles:
        """Products X' weights with an array (N,), which may lie on the device, and behind them its sum, (k + 1,)."""
        return self._sums("times", (1, self._blocks), self.columns + 1, weights)

    def _sums(self, name: str, grid: tuple[int, int], n: int, weights: Array) -> Doubles:
        """Sums over the rows, of which a kernel leaves n for each block, and for each lane."""
        runtime, matrix = self._runtime, self._matrix
        if not matrix.n_rows:
            return np.zeros(n)
        weights = as_read(runtime, weights, matrix.dtype)
        if isinstance(weights, np.ndarray) and not runtime.host_visible:
            weights = runtime.to_device(weights)
        template = _LANES if matrix.lanes > 1 else _TILES
        kernel = template.kernel(
            runtime, name, self._threads, dtype=matrix.dtype.name, threads=self._threads, rows=self._rows, columns=self.columns,
            by_columns=matrix.by_columns,
        )  # fmt: skip
        size, place = self._blocks * n * matrix.lanes, runtime.memory(weights)
        if matrix.lanes == 1:
            partial, result = runtime.scratch(8 * size), runtime.result(8 * n)
            kernel(grid, partial, *matrix.values, *place, matrix.n_rows)
            add_block_sums(runtime, result.handle, 0, partial, n, self._blocks, threads=self._threads, side=ADDED_TOGETHER)
            return runtime.fetch(result).view(np.float64)[:n].copy()
        result = runtime.result(8 * size)
        kernel(grid, result.handle, *matrix.values, *place, matrix.n_rows)
        left = runtime.fetch(result).view(np.float64)[:size].reshape(self._blocks, n, matrix.lanes)
        found: Doubles = np.add.reduce(left, (0, 2))
        return found
