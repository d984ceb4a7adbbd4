"""Linear algebra on CUDA devices, by cuBLAS and cuSOLVER, which nvmath-python binds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from nvmath.bindings import cublas, cusolverDn

from ..runtime import thresholds
from ..runtime.types import Array, DType
from . import blocked
from .kernels import KernelProvider
from .matrix import Matrix

if TYPE_CHECKING:
    from ..runtime.cuda import CUDARuntime

N, T = int(cublas.Operation.N), int(cublas.Operation.T)
LEFT, RIGHT = int(cublas.SideMode.LEFT), int(cublas.SideMode.RIGHT)
UPPER, LOWER, NON_UNIT = int(cublas.FillMode.UPPER), int(cublas.FillMode.LOWER), int(cublas.DiagType.NON_UNIT)
#: Rows of triangles that are inverted in products of whole blocks, zeros and all.
MOST_INVERTED_ROWS = thresholds.LINALG_MOST_INVERTED_ROWS.value
CUDA_TYPES = {"float32": 0, "float64": 1}  # cudaDataType_t: CUDA_R_32F, CUDA_R_64F


class _Handles:
    """Handles of the libraries for one thread: they hold its stream and a workspace, so no two threads share them."""

    def __init__(self, stream: int) -> None:
        self.blas, self.solver, self.parameters = cublas.create(), cusolverDn.create(), cusolverDn.create_params()
        cublas.set_stream(self.blas, stream)
        cusolverDn.set_stream(self.solver, stream)


class CUDAProvider(KernelProvider):
    """Provider by cuBLAS and cuSOLVER, and our own kernels for batches and for the inverses of small triangles.

    A row-major matrix here is the transpose to the libraries, and the lower triangle their upper one.
    """

    runtime: CUDARuntime
    leaf, dense = thresholds.LINALG_LEAF.value["cuda"], thresholds.LINALG_DENSE.value["cuda"]

    def __init__(self, runtime: CUDARuntime) -> None:
        super().__init__(runtime)
        self.kernels = KernelProvider(runtime)

    @property
    def _handles(self) -> _Handles:
        """Handles of the calling thread, with the device's context made current."""
        self.runtime.reenter()
        state = self.runtime.state()
        if (handles := state.libraries.get(_Handles)) is None:
            handles = state.libraries[_Handles] = _Handles(int(state.stream))
        return handles

    def gemm(
        self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix, *, a_triangle: str = "", b_triangle: str = ""
    ) -> None:
        if a_triangle or b_triangle:
            super().gemm(alpha, a, b, beta, c, a_triangle=a_triangle, b_triangle=b_triangle)
            return
        handle, factor, rest = self._handles.blas, _scalar(alpha, c.dtype), _scalar(beta, c.dtype)
        shape = _op(b), _op(a), c.columns, c.rows, a.columns
        if c.batch == 1:
            gemm = _routine("gemm", c.dtype)
            gemm(handle, *shape, factor, _at(b), b.stride, _at(a), a.stride, rest, _at(c), c.stride)
        else:
            gemm = _routine("gemm_strided_batched", c.dtype)
            gemm(
                handle, *shape, factor, _at(b), b.stride, b.batch_stride, _at(a), a.stride, a.batch_stride,
                rest, _at(c), c.stride, c.batch_stride, c.batch,
            )  # fmt: skip

    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix, *, a_triangle: str = "") -> None:
        if c.batch > 1 or a_triangle:
            super().syrk(alpha, a, beta, c, a_triangle=a_triangle)
            return
        factor, rest = _scalar(alpha, c.dtype), _scalar(beta, c.dtype)
        shape = UPPER, N if a.transposed else T, c.rows, a.columns
        _routine("syrk", c.dtype)(self._handles.blas, *shape, factor, _at(a), a.stride, rest, _at(c), c.stride)

    def trsm(self, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
        if b.batch > 1 or b.transposed:
            super().trsm(l, b, left)
            return
        if left and b.columns == b.stride == 1:  # a vector lies in the same way to both; so it is faster
            shape, stride = (LEFT, UPPER, N if l.transposed else T, NON_UNIT, b.rows, 1), b.rows
        else:
            shape, stride = (RIGHT if left else LEFT, UPPER, _op(l), NON_UNIT, b.columns, b.rows), b.stride
        one = _scalar(1.0, b.dtype)
        _routine("trsm", b.dtype)(self._handles.blas, *shape, one, _at(l), l.stride, _at(b), stride)

    def trtri(self, l: Matrix) -> None:  # noqa: E741
        if l.rows > MOST_INVERTED_ROWS or (l.batch == 1 and l.rows > self.leaf):  # by halves, so that `work` is no whole matrix
            half = -(-l.rows // 128) * 64
            blocked.invert(self, l, min(half, MOST_INVERTED_ROWS))
            return
        rows = l.rows + (l.batch > 1)  # with a row between them, all blocks on the diagonals lie in one line
        work = self.empty(rows, l.rows, l.dtype, l.batch)[: l.rows, :]
        self.lower(l, work)
        super().trtri(work)
        self.lower(work, l, "keep")

    def _join(self, l: Matrix, size: int) -> None:  # noqa: E741
        """Inverse of a triangle from two inverses on its diagonal, by cuBLAS: it has zeros above the diagonal."""
        first, second, between = l[:size, :size], l[size:, size:], l[size:, :size]
        product = self.empty(between.rows, between.columns, l.dtype, l.batch)
        self.gemm(-1.0, second, between, 0.0, product)
        self.gemm(1.0, product, first, 0.0, between)

    def reads_above(self, a: Matrix) -> str:
        return "mirror" if a.batch == 1 else super().reads_above(a)

    def potrf(self, a: Matrix) -> Array:
        """Cholesky factorisation by cuSOLVER, in half the time for its lower triangle, our upper one, transposed afterwards."""
        if a.batch > 1:
            return super().potrf(a)
        handles, kind, info = self._handles, CUDA_TYPES[a.dtype.name], self.runtime.empty(1, np.int32)
        call = handles.solver, handles.parameters, LOWER, a.rows, kind, _at(a), a.stride, kind
        on_device, on_host = cusolverDn.xpotrf_buffer_size(*call)
        workspace, host_workspace = self.runtime.scratch(on_device), np.empty(max(on_host, 1), np.uint8)
        cusolverDn.xpotrf(
            *call, int(workspace), on_device, host_workspace.ctypes.data, on_host, int(self.runtime.memory(info)[0])
        )  # fmt: skip
        if on_host:  # which the solver may read until it is done
            self.runtime.synchronize()
        self.lower(a.T, a)
        return info


def _op(m: Matrix) -> int:
    return T if m.transposed else N


def _at(m: Matrix) -> int:
    """Address of the first number."""
    return m.memory.address + m.start * m.memory.itemsize


@functools.cache  # the algorithms have few different ones
def _number(value: float, dtype: DType) -> np.ndarray:
    return np.array(value, dtype)


def _scalar(value: float, dtype: DType) -> int:
    """Address of a number on the host, which the libraries read before they return."""
    return int(_number(value, dtype).ctypes.data)


@functools.cache
def _routine(name: str, dtype: DType) -> Callable[..., None]:
    found: Callable[..., None] = getattr(cublas, ("s" if dtype == np.float32 else "d") + name)
    return found
