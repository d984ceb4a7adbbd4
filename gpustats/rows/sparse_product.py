"""Products of a sparse matrix on a device: with coefficients, for each row, and with numbers of the rows, for each column."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..runtime import thresholds
from .tiles import Entries, Numbers, Tiles

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import DType, Handle, KernelValue
    from .leaves import SparseDot
    from .sparse_matrix import SparseMatrix

_BAND_BYTES = thresholds.ROWS_SPARSE_BAND_BYTES.value  # of numbers of the rows that a GPU keeps at hand


class SparseProduct:
    """Products of a matrix, both of whose copies, by rows and by columns, lie on a device.

    Columns are gone through band by band of rows, so that the numbers of a band's rows stay in the cache.
    """

    def __init__(self, matrix: SparseMatrix, dtype: DType, runtime: Runtime):
        self._matrix, self._dtype, self._runtime = matrix, dtype, runtime
        self.n_rows, self.n_columns = matrix.shape
        self._by_row = Tiles(np.diff(matrix.offsets), self.n_rows, runtime)
        self._of_rows = self._entries(self._by_row, matrix.columns, matrix.values)

    @classmethod
    def of(cls, matrix: SparseMatrix, dtype: DType, runtime: Runtime) -> SparseProduct:
        """Products that all users of a matrix share."""
        key = runtime, np.dtype(dtype).name
        if key not in matrix.placed:
            matrix.placed[key] = cls(matrix, dtype, runtime)
        found: SparseProduct = matrix.placed[key]
        return found

    def multiply(self, coefficients: Numbers, n_sets: int) -> Handle:
        """Start the products with coefficients of each set, (n_sets, n_rows); the memory for the next kernels."""
        out = self._runtime.scratch(self._dtype.itemsize * max(n_sets * self.n_rows, 1))
        self._by_row.add(out, 0, coefficients, n_sets, self._dtype, "real", n_numbers=self.n_columns, entries=self._of_rows)
        return out

    def add(self, out: Handle, offset: int, rows: Handle, n_sets: int) -> None:
        """Start the sums of numbers of the rows, (n_sets, n_rows), times the entries of each column, to (n_sets, n_columns)."""
        by_column, entries = self._by_column
        by_column.add(out, offset, Numbers(rows, 0, self.n_rows), n_sets, self._dtype, n_numbers=self.n_rows, entries=entries)

    @functools.cached_property
    def _by_column(self) -> tuple[Tiles, Entries]:
        """Entries by band of rows and column."""
        n, whole = self.n_rows, self._matrix.as_scipy()
        n_bands = 1
        if self._runtime.device.type != "cpu":
            n_bands = max(-(-n * self._dtype.itemsize // _BAND_BYTES), 1)
        ends = np.linspace(0, n, n_bands + 1).astype(int)
        bands = [whole[a:b].tocsc() for a, b in zip(ends, ends[1:], strict=False)]
        tiles = Tiles(np.concatenate([np.diff(band.indptr) for band in bands]), self.n_columns, self._runtime)
        rows = np.concatenate([band.indices.astype(np.int32) + first for band, first in zip(bands, ends, strict=False)])
        values = None if self._matrix.values is None else np.concatenate([band.data for band in bands])
        return tiles, self._entries(tiles, rows, values)

    def _entries(self, tiles: Tiles, indices: np.ndarray, values: np.ndarray | None) -> Entries:
        """Kernel's arguments for the entries."""
        return Entries(tiles.placed(indices), () if values is None else tiles.placed(values, self._dtype))


class RowProducts(NamedTuple):
    """Argument of a row function that is a row's product with coefficients, which are elements of a parameter."""

    product: SparseProduct
    parameter: str
    leaf: SparseDot

    @property
    def size(self) -> int:
        """Number of products of a set."""
        return self.product.n_rows

    def gather(self, n_sets: int, table: Sequence[KernelValue], extents: Sequence[int]) -> Handle:
        """Start the products: see `SparseProduct.multiply`; `table` are kernel's arguments for the parameter."""
        handle, offset, stride = table
        leaf = self.leaf
        return self.product.multiply(Numbers(handle, offset, stride, leaf.element, leaf.elements or 1), n_sets)
