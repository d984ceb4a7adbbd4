"""Linear algebra in the host's memory, by the BLAS and LAPACK that SciPy brings."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.types import DType
from . import small
from .kernels import KernelProvider
from .matrix import ASYMMETRIC, INFINITE, SOUND, ZERO_ON_DIAGONAL, Matrix, asymmetry_tolerance
from .provider import Provider
from .threads import as_many_as_free

#: Rows and columns that are compared at a time, so that both sides of the diagonal stay in the cache.
TILE = thresholds.LINALG_HOST_TILE.value


class HostProvider(Provider):
    """Provider by BLAS and LAPACK.

    The routines are called at their addresses: SciPy's Python functions would copy a part of a matrix. A row-major matrix
    here is the transpose to them, and the lower triangle their upper one.
    """

    leaf, dense = thresholds.LINALG_LEAF.value["host"], thresholds.LINALG_DENSE.value["host"]
    on_host = True

    def __init__(self, runtime: Runtime | None = None) -> None:
        super().__init__(runtime)  # type: ignore[arg-type]
        self.kernels = KernelProvider(runtime) if runtime else None

    def empty(self, rows: int, columns: int, dtype: DType, batch: int = 1) -> Matrix:
        shape, runtime = (batch, rows, columns), self.runtime
        return Matrix.over(runtime, runtime.host_result(shape, dtype)[0] if runtime else np.empty(shape, dtype))

    def gemm(self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix) -> None:
        with as_many_as_free(c.rows * c.columns * a.columns):
            if c.batch > 1:  # NumPy goes through a batch in less time
                if beta == 0 and alpha == 1:
                    np.matmul(a.view, b.view, out=c.view)
                else:
                    c.view[...] = alpha * (a.view @ b.view) + (beta * c.view if beta else 0)
                return
            routine = _routine("gemm", c.dtype)
            for a_, b_, c_ in zip(_addresses(a), _addresses(b), _addresses(c), strict=True):
                routine(
                    _op(b), _op(a), c.columns, c.rows, a.columns, alpha, b_, b.stride, a_, a.stride, beta, c_, c.stride
                )  # fmt: skip

    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix) -> None:
        routine = _routine("syrk", c.dtype)
        with as_many_as_free(c.rows**2 * a.columns):
            for a_, c_ in zip(_addresses(a), _addresses(c), strict=True):
                routine(b"U", b"N" if a.transposed else b"T", c.rows, a.columns, alpha, a_, a.stride, beta, c_, c.stride)

    def trsm(self, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
        routine = _routine("trsm", b.dtype)
        if left and b.columns == b.stride == 1:  # a vector lies in the same way to both; so it is faster
            shape: tuple[bytes | int, ...] = b"L", b"U", b"N" if l.transposed else b"T", b"N", b.rows, 1
            stride = b.rows
        else:
            shape, stride = (b"R" if left else b"L", b"U", _op(l), b"N", b.columns, b.rows), b.stride
        with as_many_as_free(l.rows * b.rows * b.columns):
            for l_, b_ in zip(_addresses(l), _addresses(b), strict=True):
                routine(*shape, 1.0, l_, l.stride, b_, stride)

    def trtri(self, l: Matrix) -> None:  # noqa: E741
        routine, info = _routine("trtri", l.dtype), np.zeros(1, np.int32)
        with as_many_as_free(l.rows**3):
            for l_ in _addresses(l):
                routine(b"U", b"N", l.rows, l_, l.stride, ctypes.c_void_p(info.ctypes.data))

    def potrf(self, a: Matrix) -> np.ndarray:
        routine, info = _routine("potrf", a.dtype), np.zeros(a.batch, np.int32)
        with as_many_as_free(a.rows**3):
            for a_, info_ in zip(_addresses(a), range(info.ctypes.data, info.ctypes.data + info.nbytes, 4), strict=True):
                routine(b"U", a.rows, a_, a.stride, ctypes.c_void_p(info_))
        return info

    # Passes over the numbers

    def copy(self, source: Matrix, target: Matrix) -> None:
        target.view[...] = source.view

    def lower(self, source: Matrix, target: Matrix, upper: str = "zero") -> None:
        n = target.rows
        self._copy_lower(source, target)
        if upper == "mirror":
            self._copy_lower(target, target.T)
        elif upper == "zero":
            for i in range(0, n, TILE):
                rows = slice(i, i + TILE)
                target[rows, i + TILE :].view[...] = 0
                tile = target[rows, rows].view
                tile[:, ~np.tri(tile.shape[-1], dtype=bool)] = 0

    def _copy_lower(self, source: Matrix, target: Matrix) -> None:
        for i in range(0, source.rows, TILE):
            rows = slice(i, i + TILE)
            target[rows, :i].view[...] = source[rows, :i].view
            to, tile = target[rows, rows].view, source[rows, rows].view
            keep = np.tri(tile.shape[-1], dtype=bool)
            np.copyto(to, tile, where=keep)

    def symmetrise(self, a: Matrix) -> None:
        a.view[...] = (a.view + a.T.view) / 2

    def identity(self, target: Matrix) -> None:
        target.view[...] = np.eye(target.rows)

    def lower_if_symmetric(self, source: Matrix, target: Matrix, upper: str = "zero") -> np.ndarray:
        if source.batch > 1 and source.rows <= small.MOST_ROWS and upper == "zero":
            with np.errstate(invalid="ignore"):  # nan above the diagonal may spread: it is refused
                np.multiply(source.view, np.tri(source.rows, dtype=source.dtype), out=target.view)
        else:
            self.lower(source, target, upper)
        tiles = [slice(i, i + TILE) for i in range(0, source.rows, TILE)]
        codes = (_compare(source, rows, columns) for rows in tiles for columns in tiles if columns.start <= rows.start)
        return np.array([max(codes, default=SOUND)], np.int32)

    def examine_triangle(self, l: Matrix) -> np.ndarray:  # noqa: E741
        code = SOUND
        for i in range(0, l.rows, TILE):
            rows = slice(i, i + TILE)
            tile = np.tril(l[rows, rows].view)
            if not (_all_finite(l[rows, :i].view) and _all_finite(tile)):
                return np.array([INFINITE], np.int32)
            if (np.diagonal(tile, axis1=1, axis2=2) == 0).any():
                code = ZERO_ON_DIAGONAL
        return np.array([code], np.int32)

    def log_determinant(self, l: Matrix) -> np.ndarray:  # noqa: E741
        with np.errstate(divide="ignore", invalid="ignore"):
            return 2 * np.log(np.diagonal(l.view, axis1=1, axis2=2).astype(np.float64)).sum(-1)


def _all_finite(a: np.ndarray) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(a.sum()) or np.isfinite(a).all())  # a sum is finite only of finite numbers


def _compare(m: Matrix, rows: slice, columns: slice) -> int:
    """Code of the worst fault of a tile and its mirror image."""
    a, b = m[rows, columns].view, m[columns, rows].view.swapaxes(1, 2)
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(a.sum()) and (a == b).all():  # the sum overflows at worst, and then what follows decides
            return SOUND
        apart = np.abs(a - b)
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            return INFINITE
        root = np.sqrt(np.abs(np.diagonal(m.view, axis1=1, axis2=2)))
        scale = np.abs(a) + root[:, rows, None] * root[:, None, columns]
        return ASYMMETRIC if (apart > asymmetry_tolerance(m.dtype) * scale).any() else SOUND


# The addresses of BLAS and LAPACK


def _op(m: Matrix) -> bytes:
    return b"T" if m.transposed else b"N"


def _addresses(m: Matrix) -> list[ctypes.c_void_p]:
    """Addresses of the matrices of a batch."""
    first, step = m.memory.address + m.start * m.dtype.itemsize, m.batch_stride * m.dtype.itemsize
    return [ctypes.c_void_p(first + b * step) for b in range(m.batch)]


class _Routine:
    """Subroutine of BLAS or LAPACK in Fortran, which takes the addresses of its arguments."""

    def __init__(self, address: int, dtype: DType) -> None:
        self._start = ctypes.CFUNCTYPE(None)(address)  # lets other threads of Python run meanwhile
        self._real = ctypes.c_float if dtype == np.float32 else ctypes.c_double

    def __call__(self, *arguments: bytes | int | float | ctypes.c_void_p) -> None:
        self._start(*map(self._passed, arguments))

    def _passed(self, argument: Any) -> Any:
        if isinstance(argument, int):
            return ctypes.byref(ctypes.c_int(argument))
        if isinstance(argument, float):
            return ctypes.byref(self._real(argument))
        return argument


@functools.cache
def _routine(name: str, dtype: DType) -> _Routine:
    from scipy.linalg import cython_blas, cython_lapack

    library = cython_lapack if name in ("trtri", "potrf") else cython_blas
    capsule = library.__pyx_capi__[("s" if dtype == np.float32 else "d") + name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _Routine(pointer_of(capsule, name_of(capsule)), dtype)
