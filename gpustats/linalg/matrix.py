"""Matrices: parts of arrays as kernels and libraries take them, and codes of the faults that an examination may find."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.types import Array, DType, Handle

#: What an examination of a matrix finds, from the least to the worst.
SOUND, ZERO_ON_DIAGONAL, ASYMMETRIC, INFINITE = range(4)


@functools.cache
def asymmetry_tolerance(dtype: DType) -> float:
    """Tolerance of |a_ij - a_ji|, relative to |a_ij| + sqrt(|a_ii a_jj|): the root of the precision."""
    return math.sqrt(np.finfo(dtype).eps)


class Memory:
    """Array that matrices are parts of, as kernels and as the host find it.

    Parameters
    ----------
    runtime : Runtime or None
        None: the host alone, where no kernel runs.
    array : ndarray or device array
        C-contiguous. A NumPy array only where the memory is `host_visible`; then nothing is copied.
    """

    def __init__(self, runtime: Runtime | None, array: Array) -> None:
        self.runtime, self.array, self.itemsize = runtime, array, int(array.dtype.itemsize)

    @cached_property
    def _place(self) -> tuple[Handle, int]:
        assert self.runtime is not None
        return self.runtime.memory(self.array)

    @property
    def handle(self) -> Handle:
        """Handle of the array for kernels (an address on CUDA, a buffer in OpenCL)."""
        return self._place[0]

    @property
    def offset(self) -> int:
        """Offset of the array behind the handle, in numbers."""
        return self._place[1]

    @cached_property
    def host(self) -> np.ndarray:
        """View of the memory as a flat NumPy array; only where it is `host_visible`."""
        if isinstance(self.array, np.ndarray):
            return self.array.reshape(-1)
        return self.array.map_to_host().reshape(-1)  # a view, which unmaps the memory when it is gone

    @cached_property
    def address(self) -> int:
        """Address of the first number: the host's where the memory is `host_visible`, the device's on CUDA."""
        if self.runtime is None or self.runtime.host_visible:
            return int(self.host.ctypes.data)
        return int(self.handle) + self.offset * self.itemsize


class PlacedMemory(Memory):
    """Memory that only kernels know, by its handle.

    Parameters
    ----------
    handle
    offset : int
        Offset of the memory behind the handle, in numbers.
    """

    def __init__(self, handle: Handle, offset: int, dtype: DType) -> None:
        super().__init__(None, np.empty(0, dtype))
        self._placed = handle, offset

    @property
    def _place(self) -> tuple[Handle, int]:
        return self._placed


@dataclass(slots=True)
class Matrix:
    """Matrix in device memory, a batch of equal ones, a part of one, or the transpose of any of these. Nothing is copied.

    Number (i, j) of matrix b lies ``offset + b * batch_stride + i * stride + j`` behind `handle`, or, where `transposed`,
    ``offset + b * batch_stride + j * stride + i``. So what is stored is row-major. A matrix is never changed, only its numbers.
    """

    memory: Memory  # kept alive by the matrix
    # as the matrix is seen: of the transpose, where `transposed`
    rows: int
    columns: int
    stride: int  # numbers from one stored row to the next, at least as many as a stored row has
    start: int = 0  # offset of the matrix in `memory`, in numbers
    transposed: bool = False
    # Number of matrices, and their distance in numbers. A `batch_stride` of 0 is one matrix for all, and only read.
    batch: int = 1
    batch_stride: int = 0

    @classmethod
    def over(cls, runtime: Runtime | None, array: Array) -> Matrix:
        """Matrix, or batch (all leading axes together), over a C-contiguous array of two or more axes."""
        *leading, rows, columns = array.shape
        memory, batch = Memory(runtime, array), math.prod(leading)
        return cls(memory, rows, columns, max(columns, 1), batch=batch, batch_stride=rows * columns)

    @property
    def dtype(self) -> DType:
        return np.dtype(self.memory.array.dtype)

    @property
    def handle(self) -> Handle:
        """Handle of the memory for kernels."""
        return self.memory.handle

    @property
    def offset(self) -> int:
        """Offset of the first number behind `handle`, in numbers."""
        return self.memory.offset + self.start

    @property
    def strides(self) -> tuple[int, int]:
        """Numbers from one row to the next, and from one column to the next."""
        return (1, self.stride) if self.transposed else (self.stride, 1)

    @property
    def as_stored(self) -> tuple[Handle, int, int, int]:
        """Arguments of a kernel compiled for one value of `transposed`: handle, offset, and strides.

        The strides are those of the batch and of the stored rows.
        """
        return self.memory.handle, self.memory.offset + self.start, self.batch_stride, self.stride

    @property
    def as_seen(self) -> tuple[Handle, int, int, int, int]:
        """Arguments of a kernel for any matrix: handle, offset, and the strides of the batch, of rows and of columns."""
        return self.memory.handle, self.memory.offset + self.start, self.batch_stride, *self.strides

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def T(self) -> Matrix:
        """Transpose, over the same memory."""
        return self._part(self.columns, self.rows, self.start, not self.transposed)

    def __getitem__(self, part: tuple[slice, slice]) -> Matrix:
        """Part ``m[i0:i1, j0:j1]``, of every matrix of a batch."""
        (i, i_end, _), (j, j_end, _) = part[0].indices(self.rows), part[1].indices(self.columns)
        start = self.start + (j * self.stride + i if self.transposed else i * self.stride + j)
        return self._part(max(i_end - i, 0), max(j_end - j, 0), start, self.transposed)

    def _part(self, rows: int, columns: int, start: int, transposed: bool) -> Matrix:
        return Matrix(self.memory, rows, columns, self.stride, start, transposed, self.batch, self.batch_stride)

    @property
    def flat(self) -> Array:
        """Numbers of a whole matrix as they are stored, as an array of one axis over the same memory."""
        return self.memory.array.reshape(-1)[self.start : self.start + self.rows * self.columns]

    def batches(self, first: int, end: int) -> Matrix:
        """Matrices `first` to ``end - 1`` of a batch."""
        start, batch = self.start + first * self.batch_stride, end - first
        return Matrix(
            self.memory, self.rows, self.columns, self.stride, start, self.transposed, batch, self.batch_stride
        )

    def diagonal_blocks(self, size: int) -> Matrix:
        """Blocks (size, size) on the diagonal, the whole ones, as a batch; those of a batch only where they lie `in_line`."""
        step, count = size * (self.stride + 1), self.rows // size * self.batch
        return Matrix(self.memory, size, size, self.stride, self.start, self.transposed, count, step)

    def in_line(self, size: int) -> bool:
        """True if the (size, size) blocks on the diagonals lie equally far apart, also from one matrix to the next."""
        return self.batch == 1 or (self.rows % size == 0 and self.batch_stride == self.rows * (self.stride + 1))

    @property
    def view(self) -> np.ndarray:
        """Numbers as a NumPy array over the same memory, (batch, rows, columns); only where it is `host_visible`.

        The caller sees to it that no kernel is still at work on them.
        """
        itemsize, shape = self.dtype.itemsize, (self.batch, self.rows, self.columns)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        strides = tuple(itemsize * s for s in (self.batch_stride, *self.strides))
        return np.lib.stride_tricks.as_strided(self.memory.host[self.start :], shape, strides)
