"""Batches of many small matrices: one thread, or one block of threads, has a matrix to itself.

The functions take matrices of up to `MOST` rows and any runtime. All work in place, in the order of the calling thread, and
none waits. Their conventions are those of `provider.Provider`: lower triangles, and what lies above the diagonal does not
count.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen
from . import kernels, layout
from .provider import Matrix

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

MOST = 64  # rows


def cholesky(runtime: Runtime, a: Matrix) -> Any:
    """The lower triangles of a = their Cholesky factors.

    Parameters
    ----------
    runtime : Runtime
    a : Matrix
        (n, n), n up to `MOST`; not `transposed`.

    Returns
    -------
    int32 device array of shape (batch,)
        See `Provider.potrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.runtime import choose
    >>> runtime = choose.get()
    >>> a = runtime.to_device(np.array([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]]))
    >>> runtime.to_host(cholesky(runtime, Matrix.over(runtime, a)))
    array([0, 2], dtype=int32)
    >>> np.tril(runtime.to_host(a)[0])
    array([[2., 0.],
           [1., 2.]])
    """
    info = runtime.empty(a.batch, np.int32)
    handle, _ = runtime.memory(info)
    if _of_threads(runtime, "cholesky", a, (), (handle,)):
        return info
    return kernels.KernelProvider(runtime).potrf(a)


def cholesky_grad(runtime: Runtime, l: Matrix, l_bar: Matrix) -> None:  # noqa: E741
    """l_bar = the derivative in a, where a = l l' and the lower triangle of l_bar is the derivative in l.

    The derivative is symmetric and fills all of `l_bar`: for a symmetric change da of a, the value changes by the sum of
    the products of its entries and those of da. Smith (1995), J. Comput. Graph. Stat. 4, 134.

    Parameters
    ----------
    l, l_bar : Matrix
        (n, n), n up to `MOST`; not `transposed`.
    """
    if _of_threads(runtime, "cholesky_grad", l_bar, (l,), ()):
        return
    chosen = layout.small_block(runtime.device, l.dtype.itemsize, l.rows)
    kernel = _kernel(runtime, "block_grad", l.dtype.name, chosen, chosen.size * chosen.padded * l.dtype.itemsize)
    kernel((l_bar.batch, 1), *_place(l_bar), *_place(l), l.rows)


def inv_triangular(runtime: Runtime, l: Matrix) -> None:  # noqa: E741
    """The lower triangles l = their inverses.

    Parameters
    ----------
    l : Matrix
        (n, n), n up to `MOST`; not `transposed`. No number on a diagonal is 0.
    """
    if not _of_threads(runtime, "trtri", l, (), ()):
        kernels.KernelProvider(runtime).trtri(l)


def solve_triangular(runtime: Runtime, l: Matrix, b: Matrix, left: bool) -> None:  # noqa: E741
    """b = l⁻¹ b where `left`, else b l⁻¹.

    Parameters
    ----------
    l : Matrix
        (n, n), n up to `MOST`, lower triangular, or the `transposed` of such a one. No number on a diagonal is 0.
    b : Matrix
        (n, m) where `left`, else (m, n); may be `transposed`.
    """
    if not left:  # b l⁻¹ = (l⁻ᵀ bᵀ)ᵀ
        l, b = l.T, b.T  # noqa: E741
    chosen = layout.small_columns(runtime.device, b.dtype.itemsize, l.rows, b.columns)
    if chosen is None:
        kernels.KernelProvider(runtime).trsm(l, b, left=True)
        return
    kernel = _kernel(runtime, "solve", b.dtype.name, chosen)
    count = b.batch * b.columns
    kernel((-(-count // chosen.threads), 1), *kernels.substitution(l, b), b.columns, count, l.rows)


def _of_threads(runtime: Runtime, kind: str, a: Matrix, operands: tuple[Matrix, ...], handles: tuple[Any, ...]) -> bool:
    """Start a kernel in which each thread has a matrix; False where the matrices are too large for that."""
    chosen = layout.small(runtime.device, a.dtype.itemsize, a.rows, 1 + len(operands))
    if chosen is None:
        return False
    kernel = _kernel(runtime, kind, a.dtype.name, chosen)
    places = [n for m in (a, *operands) for n in _place(m)]
    kernel((-(-a.batch // chosen.threads), 1), *places, *handles, a.batch, a.rows)
    return True


def _place(m: Matrix) -> tuple[Any, int, int, int]:
    return m.handle, m.offset, m.batch_stride, m.stride


@functools.lru_cache
def _kernel(runtime: Runtime, kind: str, dtype: str, chosen: layout.SmallLayout, shared: int = 0) -> Kernel:
    source = codegen.render_plain("linalg/small", dtype, runtime.dialect, kind=kind, layout=chosen)
    return runtime.kernel(source, f"linalg_small_{kind}", chosen.threads, shared)
