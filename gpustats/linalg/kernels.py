"""Kernels of our own for the operations of linear algebra: the provider for devices without a vendor's library."""

from __future__ import annotations

import functools

import numpy as np

from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.base import Kernel, Runtime
from ..runtime.types import Array, DType
from . import layout, triangles
from .blocks import factor_triangles, invert_triangles, solve_triangles
from .matrix import Matrix
from .provider import Provider

PANEL = thresholds.LINALG_PANEL.value  # columns that a Cholesky factorisation finishes before it updates what lies behind them
_TRANSPOSED = {"": "", "lower": "upper", "upper": "lower"}

_GEMM = Template.beside(__file__, "gemm")


class KernelProvider(Provider):
    """Provider by kernels: products in tiles, all else as products and triangles that fit in a block's shared memory.

    After Češnovar et al. (2019), GPU-based parallel computation support for Stan, sections 3.1-3.3. Triangles are solved by
    substitution throughout, and never through the inverse of a block, which would lose digits where it is ill-conditioned.

    Parameters
    ----------
    runtime : Runtime
        Any.
    alike : bool, optional
        Whether each matrix of a batch is to have the bits that it has alone: then no inner dimension is cut into parts.

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

    def __init__(self, runtime: Runtime, alike: bool = False) -> None:
        super().__init__(runtime)
        self.kernels, self._alike = self, alike

    def empty(self, rows: int, columns: int, dtype: DType, batch: int = 1) -> Matrix:
        return Matrix.over(self.runtime, self.runtime.empty((batch, rows, columns), dtype))

    def gemm(
        self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix, *, a_triangle: str = "", b_triangle: str = ""
    ) -> None:
        """Product c = alpha a b + beta c.

        Parameters
        ----------
        a_triangle, b_triangle : {"", "lower", "upper"}
            Triangle of an operand that counts. The rest is taken to be 0 and never read, and tiles of it cost nothing.
        """
        if c.rows < c.columns and c.rows <= 8:  # narrow tiles are for few columns
            self._product(alpha, b.T, a.T, beta, c.T, _TRANSPOSED[b_triangle], _TRANSPOSED[a_triangle])
        else:
            self._product(alpha, a, b, beta, c, a_triangle, b_triangle)

    def syrk(self, alpha: float, a: Matrix, beta: float, c: Matrix, *, a_triangle: str = "") -> None:
        self._product(alpha, a, a.T, beta, c, a_triangle, _TRANSPOSED[a_triangle], lower=True)

    def _product(
        self, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix, a_triangle: str = "", b_triangle: str = "",
        lower: bool = False,
    ) -> None:  # fmt: skip
        """Product c = alpha a b + beta c; `lower`: only the lower triangle of c, which may have more rows than columns."""
        runtime, dtype = self.runtime, c.dtype
        chosen = layout.gemm(runtime.device, dtype.itemsize, c.rows, c.columns, c.batch)
        tiles = chosen.tiles(c.rows, c.columns) * c.batch
        parts, part = (1, a.columns) if self._alike else layout.gemm_parts(runtime.device, chosen, tiles, a.columns)
        kernel = functools.partial(_gemm_kernel, runtime, dtype, chosen)
        place, operands = c.as_seen, (*a.as_stored, *b.as_stored)
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

    def _half(self, n: int, dtype: DType) -> int:
        """Rows of about half of n, in whole blocks; n where it is one block."""
        size = layout.triangular(self.runtime.device, dtype.itemsize, n).size
        return n if n <= size else -(-n // (2 * size)) * size

    def trtri(self, l: Matrix) -> None:  # noqa: E741
        """Inverses of the blocks on the diagonal, then of pairs of blocks, of pairs of these pairs, and so on."""
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
        """Inverse of a triangle from two inverses on its diagonal, the first of `size` rows."""
        first, second, between = l[:size, :size], l[size:, size:], l[size:, :size]
        product = self.empty(*between.shape, l.dtype, l.batch)
        self.gemm(-1.0, second, between, 0.0, product, a_triangle="lower")
        self.gemm(1.0, product, first, 0.0, between, b_triangle="lower")

    def potrf(self, a: Matrix) -> Array:
        """Cholesky factorisation: see `Provider.potrf`. Rows b of a below the square become b l'⁻¹ along with it."""
        n, info = a.columns, self.runtime.empty(a.batch, np.int32)
        handle, _ = self.runtime.memory(info)
        size = layout.triangular(self.runtime.device, a.dtype.itemsize, n).size
        for panel in range(0, n, PANEL):
            behind = min(panel + PANEL, n)
            for i in range(panel, behind, size):
                j = min(i + size, behind)
                factor_triangles(self.runtime, a[i:j, i:j], handle, i)
                if j < a.rows:
                    self.trsm(a[i:j, i:j].T, a[j:, i:j], left=False)
                if j < behind:
                    self._product(-1.0, a[j:, i:j], a[j:behind, i:j].T, 1.0, a[j:, j:behind], lower=True)
            if behind < n:
                done = slice(panel, behind)
                self._product(-1.0, a[behind:, done], a[behind:n, done].T, 1.0, a[behind:, behind:], lower=True)
        return info

    # Passes over the numbers

    def copy(self, source: Matrix, target: Matrix) -> None:
        triangles.copy(self.runtime, source, target)

    def lower(self, source: Matrix, target: Matrix, upper: str = "zero") -> None:
        triangles.lower(self.runtime, source, target, upper)

    def symmetrise(self, a: Matrix) -> None:
        triangles.lower(self.runtime, a, a, "mean")

    def identity(self, target: Matrix) -> None:
        triangles.identity(self.runtime, target)

    def lower_if_symmetric(self, source: Matrix, target: Matrix, upper: str = "zero") -> Array:
        return triangles.lower(self.runtime, source, target, upper, check=True)

    def examine_triangle(self, l: Matrix) -> Array:  # noqa: E741
        return triangles.examine(self.runtime, l)

    def log_determinant(self, l: Matrix) -> Array:  # noqa: E741
        return triangles.log_determinant(self.runtime, l)


def _gemm_kernel(
    runtime: Runtime, dtype: DType, chosen: layout.GemmLayout, which: str = "", lower: bool = False,
    a_transposed: bool = False, b_transposed: bool = False, a_triangle: str = "", b_triangle: str = "",
) -> Kernel:  # fmt: skip
    tiled = which == ""
    threads, shared = (chosen.threads, dtype.itemsize * chosen.staged) if tiled else (chosen.adders, 0)
    return _GEMM.kernel(
        runtime, "linalg_gemm" if tiled else f"linalg_gemm_{which}", threads, shared, dtype=dtype.name, which=which,
        layout=chosen, lower=lower, a_transposed=a_transposed, b_transposed=b_transposed, a_triangle=a_triangle,
        b_triangle=b_triangle,
    )  # fmt: skip
