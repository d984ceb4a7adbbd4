"""Sparse design matrices: the entries of each row, as SciPy stores them, checked."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parallel.ragged import Ragged
from ..runtime.host_memory import contiguous

if TYPE_CHECKING:
    from ..runtime.types import DType, Shape, Value


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """Matrix whose row n has entries from `offsets[n]` up to `offsets[n + 1]`, in increasing columns, no column twice.

    Without `values` all entries are one.
    """

    columns: np.ndarray  # of the entries, int32
    offsets: np.ndarray  # int64
    values: np.ndarray | None  # float32 or float64
    n_columns: int
    dtype: DType  # as it was given; kernels have that of the computation
    #: what kernels have of the matrix, by runtime and type
    placed: dict[object, Any] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return SparseMatrix, (self.columns, self.offsets, self.values, self.n_columns, self.dtype)

    @property
    def shape(self) -> Shape:
        return self.offsets.size - 1, self.n_columns

    @property
    def n_entries(self) -> int:
        return self.columns.size

    def row_bytes(self, dtype: DType) -> np.ndarray:
        """Bytes of each row on a device, where entries lie by rows and by columns, and numbers of the rows beside them."""
        entry = 2 * (4 + (0 if self.values is None else dtype.itemsize))
        found: np.ndarray = entry * np.diff(self.offsets) + 8 + 2 * dtype.itemsize
        return found

    def parts(self) -> dict[str, Ragged]:
        """Columns, and values where there are any, of the entries of each row: what is divided where rows are."""
        found = {"columns": Ragged(self.columns, self.offsets)}
        return found if self.values is None else {**found, "values": Ragged(self.values, self.offsets)}

    def without_entries(self) -> SparseMatrix:
        """Matrix of as many columns and of the same type without rows."""
        return SparseMatrix(self.columns[:0], np.zeros(1, np.int64), None, self.n_columns, self.dtype)

    def of_parts(self, columns: Ragged, values: Ragged | None) -> SparseMatrix:
        """Matrix of as many columns and of the same type with other rows."""
        numbers = None if values is None else values.numbers
        return SparseMatrix(columns.numbers, columns.offsets, numbers, self.n_columns, self.dtype)

    def as_scipy(self) -> Any:
        """CSR array of SciPy; values that are all one have a byte each."""
        from scipy import sparse

        values = np.ones(self.n_entries, np.int8) if self.values is None else self.values
        return sparse.csr_array((values, self.columns, self.offsets), self.shape)


def is_sparse(value: Value) -> bool:
    """True for sparse matrices, SciPy's among them; SciPy's package is not imported for the question."""
    if isinstance(value, SparseMatrix):
        return True
    package = sys.modules.get("scipy.sparse")
    return package is not None and bool(package.issparse(value))


def sparse_matrix(given: Value, name: str) -> SparseMatrix:
    """Matrix itself, or a copy of SciPy's, which nobody else changes: entries in order, those of one place added up.

    ValueError, about `name`, where there is no column, an index lies outside, or a value is not finite; TypeError for numbers
    that are not real.
    """
    if isinstance(given, SparseMatrix):
        return given
    if given.ndim != 2 or not given.shape[1]:
        raise ValueError(f"{name} has shape {tuple(given.shape)}: a design must be (N, k) with one column at least")
    if given.nnz >= 2**31 - 1:
        raise ValueError(f"{name} has {given.nnz} entries, and one model takes 2**31 - 2: divide the rows among several")
    if given.dtype.kind not in "fiub":
        raise TypeError(f"{name} has numbers of {given.dtype}: give it real ones")
    try:
        if hasattr(given, "check_format"):
            given.check_format(full_check=True)
        csr = given.tocsr()
    except ValueError as fault:
        raise ValueError(f"{name} of shape {tuple(given.shape)} is no valid sparse matrix: {fault}") from None
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    dtype = np.dtype(np.float32 if csr.dtype == np.float32 else np.float64)
    if not np.isfinite(csr.data).all():
        place = int(np.flatnonzero(~np.isfinite(csr.data))[0])
        row = int(np.searchsorted(csr.indptr, place, "right")) - 1
        raise ValueError(
            f"{name} has {csr.data[place]} at row {row}, column {csr.indices[place]}: values must be finite; "
            f"leave out such rows, or give them weights of 0 and other values"
        )
    values = None if (csr.data == 1).all() else contiguous(csr.data, dtype, copy=True)
    columns = contiguous(csr.indices, np.dtype(np.int32), copy=True)
    return SparseMatrix(columns, csr.indptr.astype(np.int64), values, int(given.shape[1]), csr.dtype)
