"""Batches of many small matrices: one thread, or one block of threads, has a matrix to itself.

The functions take matrices of up to `MOST_ROWS` rows and any runtime. All work in place, in the order of the calling thread,
and none waits. Their conventions are those of `provider.Provider`: lower triangles, and what lies above the diagonal does not
count. Where matrices are too large for a thread, some do nothing and say so: `Provider` then has other kernels.
"""

from __future__ import annotations

import numpy as np

from ..kernels.template import Template
from ..runtime.base import Kernel, Runtime
from ..runtime.types import Array, DType, Handle
from . import layout
from .blocks import substitution
from .matrix import Matrix

MOST_ROWS = 64  # rows

_SMALL = Template.beside(__file__, "small")


def cholesky(runtime: Runtime, a: Matrix) -> Array | None:
    """Factorisation in place: the lower triangles of a = their Cholesky factors.

    Parameters
    ----------
    a : Matrix
        (n, n), n up to `MOST_ROWS`; not `transposed`.

    Returns
    -------
    int32 device array of shape (batch,), or None
        See `Provider.potrf`. None where the matrices are too large for a thread; then nothing is done.

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
    if (chosen := layout.small(runtime.device, a.dtype.itemsize, a.rows, 1)) is None:
        return None
    info = runtime.empty(a.batch, np.int32)
    handle, _ = runtime.memory(info)
    _one_a_thread(runtime, "cholesky", chosen, a, handle)
    return info


def cholesky_grad(runtime: Runtime, l: Matrix, l_bar: Matrix) -> None:  # noqa: E741
    """Reverse mode in place: l_bar = the derivative in a = l l', from the derivative in l, its lower triangle.

    The derivative is symmetric and fills all of `l_bar`: for a symmetric change da of a, the value changes by the sum of
    the products of its entries and those of da. Smith (1995), J. Comput. Graph. Stat. 4, 134.

    Parameters
    ----------
    l, l_bar : Matrix
        (n, n), n up to `MOST_ROWS`; not `transposed`.
    """
    itemsize = l.dtype.itemsize
    if (chosen := layout.small(runtime.device, itemsize, l_bar.rows, 2)) is not None:
        _one_a_thread(runtime, "cholesky_grad", chosen, l_bar, *l.as_stored)
        return
    chosen = layout.small_block(runtime.device, itemsize, l.rows)
    kernel = _kernel(runtime, "block_grad", l.dtype, chosen, chosen.size * chosen.padded * itemsize)
    kernel((l_bar.batch, 1), *l_bar.as_stored, *l.as_stored, l.rows)


def inv_triangular(runtime: Runtime, l: Matrix) -> bool:  # noqa: E741
    """Inversion in place: the lower triangles l = their inverses.

    Parameters
    ----------
    l : Matrix
        (n, n), n up to `MOST_ROWS`; not `transposed`. No number on a diagonal is 0.

    Returns
    -------
    bool
        False where the matrices are too large for a thread; then nothing is done.
    """
    if (chosen := layout.small(runtime.device, l.dtype.itemsize, l.rows, 1)) is None:
        return False
    _one_a_thread(runtime, "trtri", chosen, l)
    return True


def solve_triangular(runtime: Runtime, l: Matrix, b: Matrix) -> bool:  # noqa: E741
    """Solution b = l⁻¹ b, one thread a column.

    Parameters
    ----------
    l : Matrix
        (n, n), n up to `MOST_ROWS`, lower triangular, or the `transposed` of such a one. No number on a diagonal is 0.
    b : Matrix
        (n, m); may be `transposed`.

    Returns
    -------
    bool
        False where the columns are too long for a thread; then nothing is done.
    """
    if (chosen := layout.small_columns(runtime.device, b.dtype.itemsize, l.rows, b.columns)) is None:
        return False
    count = b.batch * b.columns
    kernel = _kernel(runtime, "solve", b.dtype, chosen)
    kernel((-(-count // chosen.threads), 1), *substitution(l, b), b.columns, count, l.rows)
    return True


def _one_a_thread(runtime: Runtime, kind: str, chosen: layout.SmallLayout, a: Matrix, *more: Handle | int) -> None:
    """Start a kernel in which each thread has a matrix; it takes `more` behind the matrices a."""
    kernel = _kernel(runtime, kind, a.dtype, chosen)
    kernel((-(-a.batch // chosen.threads), 1), *a.as_stored, *more, a.batch, a.rows)


def _kernel(runtime: Runtime, kind: str, dtype: DType, chosen: layout.SmallLayout, shared: int = 0) -> Kernel:
    name = f"linalg_small_{kind}"
    return _SMALL.kernel(runtime, name, chosen.threads, shared, dtype=dtype.name, kind=kind, layout=chosen)
