"""Matrices in device memory, and the five operations that all of gpustats' linear algebra is made of.

A provider computes these five for one kind of device: cuBLAS and cuSOLVER on CUDA, BLAS and LAPACK where the memory is the
host's, kernels of our own elsewhere. All algorithms above them are written once (`blocked`).
"""

from __future__ import annotations

import functools
import importlib.util
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..runtime.base import Runtime

#: What an examination finds; the largest counts.
SOUND, ZERO_ON_DIAGONAL, ASYMMETRIC, INFINITE = range(4)


def asymmetry_tolerance(dtype: np.dtype) -> float:
    """How far a_ij and a_ji may lie apart, relative to |a_ij| + sqrt(|a_ii a_jj|): the root of the precision."""
    return math.sqrt(np.finfo(dtype).eps)


class Memory:
    """An array that matrices are parts of, as kernels and as the host find it.

    Parameters
    ----------
    runtime : Runtime or None
        None: the host alone, where no kernel runs.
    array : ndarray or device array
        C-contiguous. A NumPy array only where the memory is `host_visible`; then nothing is copied.
    """

    def __init__(self, runtime: Runtime | None, array: Any) -> None:
        self.runtime, self.array, self.itemsize = runtime, array, int(array.dtype.itemsize)

    @cached_property
    def _placed(self) -> tuple[Any, int]:
        assert self.runtime is not None
        return self.runtime.memory(self.array)

    @property
    def handle(self) -> Any:
        """What a kernel takes (an address on CUDA, a buffer in OpenCL)."""
        return self._placed[0]

    @property
    def offset(self) -> int:
        """Where the array begins behind the handle, in numbers."""
        return self._placed[1] // self.itemsize

    @cached_property
    def host(self) -> np.ndarray:
        """The same memory as a flat NumPy array; only where it is `host_visible`."""
        if isinstance(self.array, np.ndarray):
            return self.array.reshape(-1)
        return self.array.map_to_host().reshape(-1)  # a view, which unmaps the memory when it is gone

    @cached_property
    def address(self) -> int:
        """Of the first number: the host's where the memory is `host_visible`, the device's on CUDA."""
        if self.runtime is None or self.runtime.host_visible:
            return int(self.host.ctypes.data)
        return int(self.handle) + self._placed[1]


@dataclass(slots=True)
class Matrix:
    """A matrix in device memory, a batch of equal ones, a part of one, or the transpose of any of these. Nothing is copied.

    Number (i, j) of matrix b lies ``offset + b * batch_stride + i * stride + j`` behind `handle`, or, where `transposed`,
    ``offset + b * batch_stride + j * stride + i``. So what is stored is row-major. A matrix is never changed, only its numbers.

    Attributes
    ----------
    memory : Memory
        Kept alive by the matrix.
    rows, columns : int
        As the matrix is seen: of the transpose, where `transposed`.
    stride : int
        Numbers from one stored row to the next, at least as many as a stored row has.
    start : int
        Where the matrix begins in `memory`, in numbers.
    transposed : bool
    batch, batch_stride : int
        How many matrices, and how far apart they lie. A `batch_stride` of 0 is one matrix for all, and only read.
    """

    memory: Memory
    rows: int
    columns: int
    stride: int
    start: int = 0
    transposed: bool = False
    batch: int = 1
    batch_stride: int = 0

    @classmethod
    def over(cls, runtime: Runtime | None, array: Any) -> Matrix:
        """The matrix, or the batch (all leading axes together), that a C-contiguous array of two or more axes is."""
        *leading, rows, columns = array.shape
        memory, batch = Memory(runtime, array), math.prod(leading)
        return cls(memory, rows, columns, max(columns, 1), batch=batch, batch_stride=rows * columns)

    @classmethod
    def empty(cls, runtime: Runtime, rows: int, columns: int, dtype: Any, batch: int = 1) -> Matrix:
        """A new matrix, or batch, that is not initialised. It goes back to the thread's pool with the last part of it."""
        return cls.over(runtime, runtime.empty((batch, rows, columns), dtype))

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.memory.array.dtype)

    @property
    def handle(self) -> Any:
        """What a kernel takes."""
        return self.memory.handle

    @property
    def offset(self) -> int:
        """Where the first number lies behind `handle`, in numbers."""
        return self.memory.offset + self.start

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def T(self) -> Matrix:
        """The transpose, over the same memory."""
        return self._part(self.columns, self.rows, self.start, not self.transposed)

    def __getitem__(self, part: tuple[slice, slice]) -> Matrix:
        """``m[i0:i1, j0:j1]``, of every matrix of a batch."""
        (i, i_end, _), (j, j_end, _) = part[0].indices(self.rows), part[1].indices(self.columns)
        start = self.start + (j * self.stride + i if self.transposed else i * self.stride + j)
        return self._part(max(i_end - i, 0), max(j_end - j, 0), start, self.transposed)

    def _part(self, rows: int, columns: int, start: int, transposed: bool) -> Matrix:
        return Matrix(self.memory, rows, columns, self.stride, start, transposed, self.batch, self.batch_stride)

    def batches(self, first: int, end: int) -> Matrix:
        """Some of the matrices of a batch."""
        start, batch = self.start + first * self.batch_stride, end - first
        return Matrix(
            self.memory, self.rows, self.columns, self.stride, start, self.transposed, batch, self.batch_stride
        )

    def diagonal_blocks(self, size: int) -> Matrix:
        """The whole (size, size) blocks on the diagonal, as a batch; of a batch, where they lie `in_line`."""
        step, count = size * (self.stride + 1), self.rows // size * self.batch
        return Matrix(self.memory, size, size, self.stride, self.start, self.transposed, count, step)

    def in_line(self, size: int) -> bool:
        """Whether the (size, size) blocks on the diagonal lie as far apart everywhere, so that they are a batch."""
        return self.batch == 1 or (self.rows % size == 0 and self.batch_stride == self.rows * (self.stride + 1))

    @property
    def view(self) -> np.ndarray:
        """The numbers as a NumPy array over the same memory, (batch, rows, columns); only where it is `host_visible`.

        The caller sees to it that no kernel is still at work on them.
        """
        itemsize, shape = self.dtype.itemsize, (self.batch, self.rows, self.columns)
        row, column = (1, self.stride) if self.transposed else (self.stride, 1)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        strides = tuple(itemsize * s for s in (self.batch_stride, row, column))
        return np.lib.stride_tricks.as_strided(self.memory.host[self.start :], shape, strides)


class Provider(ABC):
    """Five operations in place, of which all others are made, and the passes over a matrix that these need.

    All matrices of a call lie on the provider's device, have one dtype (float32 or float64) and one `batch`; no extent is 0.
    Results are not `transposed`, lie apart from the operands and, in a batch, from one another. A triangle is the lower
    one with the diagonal: what lies above the diagonal is neither read nor written, so it may hold anything. Operations
    start in the order of the calling thread and need not have finished on return. Each gives the same bits every time.

    Attributes
    ----------
    runtime : Runtime or None
        None: the host alone.
    leaf : int
        Rows of the diagonal blocks that blocked algorithms leave to `trtri`.
    dense : int
        Rows of triangles that products take with their zeros: one large product may take less time than several small ones.
    on_host : bool
        Whether it works on NumPy arrays, and has finished when an operation returns.
    """

    leaf = dense = 256
    on_host = False

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def empty(self, rows: int, columns: int, dtype: Any, batch: int = 1) -> Matrix:
        """A new matrix, or batch, that is not initialised."""
        return Matrix.empty(self.runtime, rows, columns, dtype, batch)

    @abstractmethod
    def gemm(self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix) -> None:
        """c = alpha a b + beta c. With ``beta == 0``, what c holds does not matter (nan neither).

        Parameters
        ----------
        a, b : Matrix
            (m, k) and (k, n); each may be `transposed`.
        c : Matrix
            (m, n).
        """

    @abstractmethod
    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix) -> None:
        """The lower triangle of c = alpha a a' + beta c. With ``beta == 0``, what c holds does not matter.

        Parameters
        ----------
        a : Matrix
            (n, k); may be `transposed`.
        c : Matrix
            (n, n).
        """

    @abstractmethod
    def trsm(self, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
        """b = l⁻¹ b where `left`, else b l⁻¹.

        Parameters
        ----------
        l : Matrix
            (n, n), lower triangular, or the `transposed` of such a one. No number on its diagonal is 0.
        b : Matrix
            (n, m) where `left`, else (m, n).
        """

    @abstractmethod
    def trtri(self, l: Matrix) -> None:  # noqa: E741
        """The lower triangle l = l⁻¹. No number on its diagonal is 0.

        Parameters
        ----------
        l : Matrix
            (n, n).
        """

    @abstractmethod
    def potrf(self, a: Matrix) -> Any:
        """The lower triangle of a = its Cholesky factor l, a = l l'.

        Parameters
        ----------
        a : Matrix
            (n, n); above the diagonal as `reads_above` says.

        Returns
        -------
        int32 array of shape (batch,)
            On the provider's device (a NumPy array where it is `host_visible`): 0, or the order of the first leading minor
            that is not positive definite, counted from 1; then the triangle holds anything. It has to be read (`read`)
            before it counts, which waits for the device; so does what else is read.
        """

    def reads_above(self, a: Matrix) -> str:
        """What `factor` takes above the diagonal, where it leaves zeros: ``"zero"``, or ``"mirror"``, the whole matrix."""
        return "zero"

    # The same for the public functions: batches of small matrices go to kernels of our own (`small`), which have one in each
    # thread or block.

    def factor(self, a: Matrix) -> Any:
        """`potrf`."""
        if not self.takes_small(a):
            return self.potrf(a)
        info = small.cholesky(self.runtime, a)
        self._finish()
        return info

    def solve(self, l: Matrix, b: Matrix) -> None:  # noqa: E741
        """`trsm` from the left."""
        if self.takes_small(l):
            small.solve_triangular(self.runtime, l, b, left=True)
            self._finish()
        else:
            self.trsm(l, b, True)

    def invert(self, l: Matrix) -> None:  # noqa: E741
        """`trtri`."""
        if self.takes_small(l):
            small.inv_triangular(self.runtime, l)
            self._finish()
        else:
            self.trtri(l)

    def small_cholesky_grad(self, l: Matrix, l_bar: Matrix) -> None:  # noqa: E741
        """The reverse mode of the Cholesky factorisation of small matrices, in place of l_bar."""
        small.cholesky_grad(self.runtime, l, l_bar)
        self._finish()

    def takes_small(self, m: Matrix) -> bool:
        return self.runtime is not None and m.batch > 1 and max(m.shape) <= small.MOST

    def _finish(self) -> None:
        """Wait for kernels where the host goes on with their results."""
        if self.on_host:
            self.runtime.synchronize()

    def read(self, numbers: Any) -> np.ndarray:
        """What `potrf` and the methods below have returned, on the host."""
        return numbers if isinstance(numbers, np.ndarray) else self.runtime.to_host(numbers)

    # Passes over the numbers: one kernel each (`triangles`). They too work on batches and lay out nothing anew.

    def copy(self, source: Matrix, target: Matrix) -> None:
        """target = source, which may be `transposed` and lies apart."""
        triangles.copy(self.runtime, source, target)

    def lower(self, source: Matrix, target: Matrix, upper: str = "zero") -> None:
        """The lower triangle of target = that of source, which may be `transposed`, or may be the target itself.

        Above the diagonal come, after `upper`, zeros (``"zero"``), the mirror image (``"mirror"``), or nothing (``"keep"``).
        """
        triangles.lower(self.runtime, source, target, upper)

    def symmetrise(self, a: Matrix) -> None:
        """a = (a + a') / 2."""
        triangles.lower(self.runtime, a, a, "mean")

    def identity(self, target: Matrix) -> None:
        """target = 1."""
        triangles.identity(self.runtime, target)

    def lower_if_symmetric(self, source: Matrix, target: Matrix, upper: str = "zero") -> Any:
        """What `lower` does, and on the way look for numbers that are not finite or not symmetric: the worst, to `read`."""
        return triangles.lower(self.runtime, source, target, upper, check=True)

    def examine_triangle(self, l: Matrix) -> Any:  # noqa: E741
        """Look for numbers in a lower triangle that are not finite, and for zeros on its diagonal: the worst, to `read`."""
        return triangles.examine(self.runtime, l)

    def log_determinant(self, l: Matrix) -> Any:  # noqa: E741
        """The logarithm of the determinant of each l l', twice that of the product of its diagonal, float64."""
        return triangles.log_determinant(self.runtime, l)


@functools.lru_cache
def provider_of(runtime: Runtime) -> Provider:
    """The best provider for a device."""
    if runtime.host_visible:
        from .host import HostProvider

        return HostProvider(runtime)
    if runtime.dialect == "cuda" and importlib.util.find_spec("nvmath") is not None:
        cuda = importlib.import_module(".cuda", __package__)
        return cuda.CUDAProvider(runtime)
    from .kernels import KernelProvider

    return KernelProvider(runtime)


from . import small, triangles  # noqa: E402  which need what stands above
