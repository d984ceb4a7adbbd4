"""Triangles that a block of threads has in its shared memory: factors, solutions and inverses, one kernel each.

The functions work in place, in the order of the calling thread, and none waits. Larger triangles are cut into such blocks
by `kernels.KernelProvider`.
"""

from __future__ import annotations

from ..kernels.template import Template
from ..runtime.base import Kernel, Runtime
from ..runtime.types import DType, Handle
from . import layout
from .matrix import Matrix

_TRIANGULAR = Template.beside(__file__, "triangular")


def factor_triangles(runtime: Runtime, a: Matrix, info: Handle, first: int = 0) -> None:
    """Factorisation in place: the lower triangles of a = their Cholesky factors.

    Parameters
    ----------
    a : Matrix
        No larger than `layout.triangular` allows.
    info
        A handle to (batch,) int32: see `Provider.potrf`.
    first : int
        Position of `a` on the diagonal of a larger matrix. Unless that is 0, what `info` says stays where it is not 0.
    """
    chosen = layout.triangular(runtime.device, a.dtype.itemsize, a.rows)
    kernel = _kernel(runtime, "potrf", a.dtype, chosen)
    kernel((a.batch, 1), *a.as_seen, info, a.rows, first)


def solve_triangles(runtime: Runtime, l: Matrix, b: Matrix) -> None:  # noqa: E741
    """Solution b = l⁻¹ b for triangles no larger than `layout.triangular` allows; l may be `transposed`, and b."""
    chosen = layout.triangular(runtime.device, b.dtype.itemsize, l.rows)
    kernel = _kernel(runtime, "trsm", b.dtype, chosen)
    blocks = layout.triangular_blocks(runtime.device, chosen, b.columns, b.batch)
    kernel((b.batch * blocks, 1), *substitution(l, b), l.rows, b.columns, blocks)


def substitution(l: Matrix, b: Matrix) -> tuple[Handle | int, ...]:  # noqa: E741
    """Arguments of kernels for b and l to solve l x = b from the first row on.

    An upper triangle is a lower one, seen from its last row and column.
    """
    b_handle, b_start, b_batch, b_row, b_column = b.as_seen
    l_handle, l_start, l_batch, l_row, l_column = l.as_seen
    if l.transposed:
        last = l.rows - 1
        l_start, l_row, l_column = l_start + last * (l_row + l_column), -l_row, -l_column
        b_start, b_row = b_start + last * b_row, -b_row
    return b_handle, b_start, b_batch, b_row, b_column, l_handle, l_start, l_batch, l_row, l_column


def invert_triangles(runtime: Runtime, l: Matrix) -> int:  # noqa: E741
    """Inversion in place of the triangles on the diagonal of l; returns their number of rows (the last maybe fewer)."""
    chosen = layout.triangular(runtime.device, l.dtype.itemsize, l.rows)
    kernel = _kernel(runtime, "trtri", l.dtype, chosen)
    blocks = -(-l.rows // chosen.size)
    kernel((l.batch * blocks, 1), *l.as_seen, l.rows, blocks)
    return chosen.size


def _kernel(runtime: Runtime, kind: str, dtype: DType, chosen: layout.TriangularLayout) -> Kernel:
    name, shared = f"linalg_{kind}", dtype.itemsize * chosen.staged(kind)
    return _TRIANGULAR.kernel(runtime, name, chosen.threads, shared, dtype=dtype.name, kind=kind, layout=chosen)
