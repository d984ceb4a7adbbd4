"""Weighted sums of products of vector observations, for several means at a time."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen
from ..kernels import layout

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

#: Where a kernel finds an array: its handle, the offset behind it, and how far the next set's numbers lie (0: the same ones).
Part = tuple[Any, int, int]


def scatter(
    runtime: Runtime, dtype: np.dtype, dim: int, n_rows: int, n_sets: int, x: Part, means: Part, weights: Part | None,
    out: Any, offset: int = 0,
) -> None:  # fmt: skip
    """Start the sum over rows n of w_n [1; y_n] [1; y_n]', where y_n = x_n - mean, for each set.

    It runs in float64 in an order that is always the same.

    Parameters
    ----------
    dtype : dtype
        Of x, means and weights.
    dim : int
        Length d of the vectors.
    x, means, weights
        (n_rows, d), (d,) and (n_rows,) numbers of each set; a weight of 1 without `weights`.
    out, offset
        A handle, and the place in it, in numbers, of (n_sets, d + 1, d + 1) float64.
    """
    chosen = layout.scatter(runtime.device, dim)
    kernel, total = _kernels(runtime, dtype.name, dim, weights is not None, chosen)
    panel_pairs = chosen.panels * (chosen.panels + 1) // 2
    set_blocks = n_sets * panel_pairs
    blocks = layout.row_blocks(runtime.device, chosen, n_rows, set_blocks)
    partial = runtime.scratch(8 * set_blocks * chosen.pairs * chosen.width**2 * blocks)
    kernel((set_blocks, blocks), partial, n_rows, *x, *means, *(weights or ()))
    total((n_sets * (dim + 1) * (dim + 2) // 2, 1), out, offset, partial, blocks)


@functools.lru_cache
def _kernels(
    runtime: Runtime, dtype: str, dim: int, weighted: bool, chosen: layout.ScatterLayout
) -> tuple[Kernel, Kernel]:
    source = codegen.render_plain("elliptical/scatter", dtype, runtime.dialect, layout=chosen, dim=dim, weighted=weighted)
    kernel = runtime.kernel(source, "scatter", chosen.threads)
    return kernel, runtime.kernel(source, "scatter_total", chosen.lanes)
