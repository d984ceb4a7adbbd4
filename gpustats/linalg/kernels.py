"""The operations of linear algebra as kernels of our own: the provider for devices without a vendor's library."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen
from . import layout
from .provider import Matrix, Provider

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

PANEL = 256  # columns that a Cholesky factorisation finishes before it updates what lies behind them
_TRANSPOSED = {"": "", "lower": "upper", "upper": "lower"}


class KernelProvider(Provider):
    """Products in tiles, everything else as products and triangles that fit in a block's shared memory.

    After Češnovar et al. (2019), GPU-based parallel computation support for Stan, sections 3.1-3.3. Triangles are solved by
    substitution throughout, and never through the inverse of a block, which would lose digits where it is ill-conditioned.

    Parameters
    ----------
    runtime : Runtime
        Any.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.runtime import choose
    >>> runtime = choose.get()
    >>> a = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> provider = KernelProvider(runtime)
    >>> device = runtime.to_device(a)
    >>> provider.read(provider.potrf(Matrix.over(runtime, device)))
    array([0], dtype=int32)
    >>> np.tril(runtime.to_host(device))
    array([[2., 0.],
           [1., 2.]])
    """

    def gemm(
        self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix, *, a_triangle: str = "", b_triangle: str = ""
    ) -> None:
        """c = alpha a b + beta c.

        Parameters
        ----------
        a_triangle, b_triangle : {"", "lower", "upper"}
            Which triangle of an operand counts. The rest is taken to be 0 and never read, and tiles of it cost nothing.
        """
        if c.rows < c.columns and c.rows <= 8:  # narrow tiles are for few columns
            self._product(alpha, b.T, a.T, beta, c.T, _TRANSPOSED[b_triangle], _TRANSPOSED[a_triangle])
        else:
            self._product(alpha, a, b, beta, c, a_triangle, b_triangle)

    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix) -> None:
        self._product(alpha, a, a.T, beta, c, lower=True)

    def _product(
        self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix, a_triangle: str = "", b_triangle: str = "",
        lower: bool = False,
    ) -> None:  # fmt: skip
        """c = alpha a b + beta c; `lower`: of c, which may have more rows than columns, the lower triangle only."""
        runtime, dtype = self.runtime, c.dtype
        chosen = layout.gemm(runtime.device, dtype.itemsize, c.rows, c.columns, c.batch)
        tiles = chosen.tiles(c.rows, c.columns) * c.batch
        parts, part = layout.gemm_parts(runtime.device, chosen, tiles, a.columns)
        kernel = functools.partial(_gemm_kernel, runtime, dtype.name, chosen)
        place = c.handle, c.offset, c.batch_stride, *strides(c)
        operands = [n for m in (a, b) for n in (m.handle, m.offset, m.batch_stride, m.stride)]
        size, whole = c.rows * c.columns, not (a_triangle or b_triangle or lower)
        by_numbers = -(-c.batch * size // chosen.adders), 1
        if whole and layout.gemm_small(*c.shape, a.columns):
            small = kernel("small", a_transposed=a.transposed, b_transposed=b.transposed)
            small(by_numbers, *place, *operands, *c.shape, a.columns, c.batch, alpha, beta)
            return
        tiled = kernel("", lower, a.transposed, b.transposed, a_triangle, b_triangle)
        if parts == 1:
            tiled((tiles, 1), *place, 0, *operands, *c.shape, a.columns, part, alpha, beta)
            return
        partial = runtime.scratch(parts * c.batch * size * dtype.itemsize)
        split = partial, 0, size, c.columns, 1, c.batch * size
        tiled((tiles, parts), *split, *operands, *c.shape, a.columns, part, 1.0, 0.0)
        kernel("total", lower)(by_numbers, *place, partial, parts, *c.shape, c.batch, alpha, beta)

    def trsm(self, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
        if not left:  # b l⁻¹ = (l⁻ᵀ bᵀ)ᵀ
            l, b = l.T, b.T  # noqa: E741
        n = l.rows
        if n <= (half := self._half(n, l.dtype)):
            solve_triangles(self.runtime, l, b)
            return
        first, second = (l[:half, :half], b[:half, :]), (l[half:, half:], b[half:, :])
        between = l[half:, :half]
        if l.transposed:  # an upper triangle: from the last row on
            first, second, between = second, first, l[:half, half:]
        self.trsm(*first, left=True)
        self.gemm(-1.0, between, first[1], 1.0, second[1])
        self.trsm(*second, left=True)

    def _half(self, n: int, dtype: np.dtype) -> int:
        """About half of n, in whole blocks; n where it is one block."""
        size = layout.triangular(self.runtime.device, dtype.itemsize, n).size
        return n if n <= size else -(-n // (2 * size)) * size

    def trtri(self, l: Matrix) -> None:  # noqa: E741
        """The inverses of the blocks on the diagonal, then of pairs of them, of pairs of these, and so on."""
        n, size = l.rows, invert_triangles(self.runtime, l)
        while size < n:
            pairs = n // (2 * size)
            if pairs and l.in_line(2 * size):  # all of them at once
                self._join(l.diagonal_blocks(2 * size), size)
            else:
                for first in range(0, 2 * size * pairs, 2 * size):
                    self._join(l[first : first + 2 * size, first : first + 2 * size], size)
            if n - 2 * size * pairs > size:
                self._join(l[2 * size * pairs :, 2 * size * pairs :], size)
            size *= 2

    def _join(self, l: Matrix, size: int) -> None:  # noqa: E741
        """From a triangle with two inverses on its diagonal, the first of `size` rows, to its inverse."""
        first, second, between = l[:size, :size], l[size:, size:], l[size:, :size]
        product = Matrix.over(self.runtime, self.runtime.empty((l.batch, *between.shape), l.dtype))
        self.gemm(-1.0, second, between, 0.0, product, a_triangle="lower")
        self.gemm(1.0, product, first, 0.0, between, b_triangle="lower")

    def potrf(self, a: Matrix) -> Any:
        n, info = a.rows, self.runtime.empty(a.batch, np.int32)
        handle, _ = self.runtime.memory(info)
        size = layout.triangular(self.runtime.device, a.dtype.itemsize, n).size
        for panel in range(0, n, PANEL):
            behind = min(panel + PANEL, n)
            for i in range(panel, behind, size):
                j = min(i + size, behind)
                factor_triangles(self.runtime, a[i:j, i:j], handle, i)
                if j < n:
                    self.trsm(a[i:j, i:j].T, a[j:, i:j], left=False)
                if j < behind:
                    self._product(-1.0, a[j:, i:j], a[j:behind, i:j].T, 1.0, a[j:, j:behind], lower=True)
            if behind < n:
                self.syrk(-1.0, a[behind:, panel:behind], 1.0, a[behind:, behind:])
        return info


def strides(m: Matrix) -> tuple[int, int]:
    """Numbers from one row to the next, and from one column to the next."""
    return (1, m.stride) if m.transposed else (m.stride, 1)


def factor_triangles(runtime: Runtime, a: Matrix, info: Any, first: int = 0) -> None:
    """Cholesky factors of matrices that a block's shared memory holds, in place.

    Parameters
    ----------
    a : Matrix
        No larger than `layout.triangular` allows.
    info
        A handle to (batch,) int32: see `Provider.potrf`.
    first : int
        Where `a` begins on the diagonal of a larger matrix. Unless that is 0, what `info` says stays where it is not 0.
    """
    chosen = layout.triangular(runtime.device, a.dtype.itemsize, a.rows)
    kernel = _triangular_kernel(runtime, "potrf", a.dtype.name, chosen)
    kernel((a.batch, 1), a.handle, a.offset, a.batch_stride, *strides(a), info, a.rows, first)


def solve_triangles(runtime: Runtime, l: Matrix, b: Matrix) -> None:  # noqa: E741
    """b = l⁻¹ b for triangles that a block's shared memory holds; l may be `transposed`, and b."""
    chosen = layout.triangular(runtime.device, b.dtype.itemsize, l.rows)
    kernel = _triangular_kernel(runtime, "trsm", b.dtype.name, chosen)
    blocks = layout.triangular_blocks(runtime.device, chosen, b.columns, b.batch)
    kernel((b.batch * blocks, 1), *substitution(l, b), l.rows, b.columns, blocks)


def substitution(l: Matrix, b: Matrix) -> tuple[Any, ...]:  # noqa: E741
    """What kernels take for b and l to solve l x = b from the first row on.

    An upper triangle is a lower one, seen from its last row and column.
    """
    (l_row, l_column), (b_row, b_column) = strides(l), strides(b)
    l_start, b_start = l.offset, b.offset
    if l.transposed:
        last = l.rows - 1
        l_start, l_row, l_column = l_start + last * (l_row + l_column), -l_row, -l_column
        b_start, b_row = b_start + last * b_row, -b_row
    return b.handle, b_start, b.batch_stride, b_row, b_column, l.handle, l_start, l.batch_stride, l_row, l_column


def invert_triangles(runtime: Runtime, l: Matrix) -> int:  # noqa: E741
    """Inverses of the blocks on the diagonal, in place; returns how many rows these have (the last one maybe fewer)."""
    chosen = layout.triangular(runtime.device, l.dtype.itemsize, l.rows)
    kernel = _triangular_kernel(runtime, "trtri", l.dtype.name, chosen)
    blocks = -(-l.rows // chosen.size)
    kernel((l.batch * blocks, 1), l.handle, l.offset, l.batch_stride, *strides(l), l.rows, blocks)
    return chosen.size


@functools.lru_cache
def _gemm_kernel(
    runtime: Runtime, dtype: str, chosen: layout.GemmLayout, which: str, lower: bool = False, a_transposed: bool = False,
    b_transposed: bool = False, a_triangle: str = "", b_triangle: str = "",
) -> Kernel:  # fmt: skip
    source = codegen.render_plain(
        "linalg/gemm", dtype, runtime.dialect, which=which, layout=chosen, lower=lower, a_transposed=a_transposed,
        b_transposed=b_transposed, a_triangle=a_triangle, b_triangle=b_triangle,
    )  # fmt: skip
    if which == "small":
        return runtime.kernel(source, "linalg_gemm_small", chosen.adders)
    if which == "total":
        return runtime.kernel(source, "linalg_gemm_total", chosen.adders)
    shared = np.dtype(dtype).itemsize * chosen.staged
    return runtime.kernel(source, "linalg_gemm", chosen.threads, shared)


@functools.lru_cache
def _triangular_kernel(runtime: Runtime, kind: str, dtype: str, chosen: layout.TriangularLayout) -> Kernel:
    source = codegen.render_plain("linalg/triangular", dtype, runtime.dialect, kind=kind, layout=chosen)
    numbers = chosen.size * (chosen.size + 1) + (kind != "potrf") * chosen.size * (chosen.columns + 1)
    return runtime.kernel(source, f"linalg_{kind}", chosen.threads, np.dtype(dtype).itemsize * numbers)
