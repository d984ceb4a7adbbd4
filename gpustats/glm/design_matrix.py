"""Design matrix X on a device, laid out for the kernels of the glm shape."""

from __future__ import annotations

import math

import numpy as np

from ..evaluation.placement import gather
from ..evaluation.results import as_host
from ..rows.column_products import lanes_of
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.types import Array, Value

_MOST_GROUPS_AT_ONCE = 8  # of rows, in a CPU's kernel
_CHUNK_BYTES = 1 << 24  # bytes that are laid out at a time


class DesignMatrix:
    """Design matrix X, (N, k), as a kernel reads it.

    A device array in row-major order is used as it lies on a GPU; everything else is copied once: by rows for a GPU, whose
    blocks read whole rows; for a CPU groups of rows are interleaved, one row for each lane of a register.
    """

    def __init__(self, X: Value, runtime: Runtime, dtype: np.dtype):
        (self.n_rows, self.columns), self.runtime, self.dtype = X.shape, runtime, dtype
        self.lanes = lanes = lanes_of(runtime.device, dtype.itemsize)
        on_device = arrays.is_device_array(X)
        if lanes > 1:
            host = runtime.to_host(X) if on_device else X
            shape = (math.ceil(self.n_rows / lanes / _MOST_GROUPS_AT_ONCE) * _MOST_GROUPS_AT_ONCE, self.columns, lanes)
            # Where matrices come and go, fresh memory would cost as much as the copy.
            laid = runtime.host_result(shape, dtype)[0] if runtime.host_visible else np.empty(shape, dtype)
            _interleave(host, laid)
            self._array: Array = laid if runtime.host_visible else runtime.to_device(laid)
        elif not on_device:
            self._array = runtime.to_device(X, dtype)
        elif X.dtype != dtype or not arrays.is_contiguous(X):
            self._array = gather(runtime, X, dtype)
        else:
            self._array = X
        self.values = handle, offset = runtime.memory(self._array)
        self.aligned = (offset * dtype.itemsize + (handle if isinstance(handle, int) else 0)) % 16 == 0

    @property
    def as_it_came(self) -> Array:
        """Device array of X in row-major order; None where X is laid out otherwise."""
        return None if self.lanes > 1 else self._array

    def on_host(self) -> np.ndarray:
        """Matrix X on the host, in row-major order."""
        found = as_host(self.runtime, self._array)
        if self.lanes == 1:
            return found
        return found.transpose(0, 2, 1).reshape(-1, self.columns)[: self.n_rows]


def _interleave(X: Value, result: np.ndarray) -> None:
    """Matrix in the order [rows / lanes][column][lane], filled up with rows of zeros; rows of a file are read on the way."""
    (n, k), lanes = X.shape, result.shape[2]
    whole = n // lanes
    step = max(_CHUNK_BYTES // max(k * lanes * result.itemsize, 1), 1)
    for start in range(0, whole, step):
        end = min(start + step, whole)
        result[start:end] = X[start * lanes : end * lanes].reshape(end - start, lanes, k).transpose(0, 2, 1)
    result[whole:] = 0
    if n % lanes:
        result[whole, :, : n % lanes] = X[whole * lanes :].T
