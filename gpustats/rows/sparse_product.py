"""Products of a sparse matrix on a device: with coefficients, for each row, and with numbers of the rows, for each column."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime import thresholds
from ..runtime.cached import cached_property
from .blocks import BlockLayout, Blocks, Chunk
from .tiles import Numbers, Tiles

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import DType, Handle, KernelValue
    from .leaves import SparseDot
    from .sparse_matrix import SparseMatrix

_BAND_BYTES = thresholds.ROWS_SPARSE_BAND_BYTES.value  # of numbers of the rows that a GPU keeps at hand


class SparseProduct:
    """Products of a matrix, both of whose copies, by rows and by columns, lie on a device.

    Large matrices lie in blocks on a GPU, others in tiles.
    """

    def __init__(self, matrix: SparseMatrix, dtype: DType, runtime: Runtime):
        self._matrix, self._dtype, self._runtime = matrix, dtype, runtime
        self.n_rows, self.n_columns = matrix.shape

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
        self._by_row.add(out, 0, coefficients, n_sets)
        return out

    def add(self, out: Handle, offset: int, rows: Handle, n_sets: int) -> None:
        """Start the sums of numbers of the rows, (n_sets, n_rows), times the entries of each column, to (n_sets, n_columns)."""
        self._by_column.add(out, offset, Numbers(rows, 0, self.n_rows), n_sets)

    @cached_property
    def _by_row(self) -> Tiles | Blocks:
        n, k, matrix = self.n_rows, self.n_columns, self._matrix
        layout = BlockLayout.of(self._runtime, self._dtype, n, k, matrix.n_entries)
        if layout is None:
            return Tiles(
                np.diff(matrix.offsets), n, self._dtype, self._runtime, indices=matrix.columns, values=matrix.values,
                n_numbers=k, result="real",
            )  # fmt: skip
        whole, at_once = matrix.as_scipy(), layout.at_once(n, matrix.n_entries)

        def rows(first: int) -> Chunk:
            part = whole[first : first + at_once]
            return Chunk(part.indptr, part.indices, self._of(part), first_group=first)

        chunks = [functools.partial(rows, first) for first in range(0, n, at_once)]
        return Blocks(chunks, n, k, layout, self._dtype, self._runtime, "real")

    @cached_property
    def _by_column(self) -> Tiles | Blocks:
        """Entries by band of rows and column."""
        n, k, whole = self.n_rows, self.n_columns, self._matrix.as_scipy()
        layout = BlockLayout.of(self._runtime, self._dtype, k, n, self._matrix.n_entries, in_bands=True)
        n_bands = 1
        if layout is not None:
            n_bands = layout.bands
        elif self._runtime.device.type != "cpu":  # numbers of a band stay in the cache
            n_bands = max(-(-n * self._dtype.itemsize // _BAND_BYTES), 1)
        ends = np.linspace(0, n, n_bands + 1).astype(int)

        def columns(first: int, end: int) -> Chunk:
            band = whole[first:end].tocsc()
            return Chunk(band.indptr, band.indices, self._of(band), first_number=first)

        chunks = [functools.partial(columns, *its) for its in itertools.pairwise(ends.tolist())]
        if layout is not None:
            return Blocks(chunks, k, n, layout, self._dtype, self._runtime)
        bands = [chunk() for chunk in chunks]
        values = None if bands[0].values is None else np.concatenate([band.values for band in bands if band.values is not None])
        return Tiles(
            np.concatenate([np.diff(band.offsets) for band in bands]), k, self._dtype, self._runtime, values=values,
            indices=np.concatenate([band.indices.astype(np.int32) + band.first_number for band in bands]), n_numbers=n,
        )  # fmt: skip

    def _of(self, part: Any) -> np.ndarray | None:
        """Values of a part of the matrix, None where all are one."""
        return None if self._matrix.values is None else part.data


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
