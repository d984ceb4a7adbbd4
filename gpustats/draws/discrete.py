"""Draws from rows of probabilities."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.placement import gather, target_of
from ..evaluation.results import Destination, as_shape
from ..kernels import code as codegen
from ..kernels import layout
from ..runtime import arrays
from .generator import Generator, Stream, as_generator

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime


_LABEL = np.dtype(np.int32)


def sample_discrete(
    weights: Any = None, *, log_weights: Any = None, size: int | Sequence[int] | None = None,
    rng: Generator | int | Sequence[int] | np.random.Generator | None = None,
) -> Any:  # fmt: skip
    """Draw categories, each with a probability proportional to its weight.

    Parameters
    ----------
    weights : array_like (..., n), optional
        Rows of n weights, nonnegative and finite, as is their sum; float32 or float64, NumPy or device array. They need not
        sum to one.
    log_weights : array_like (..., n), optional
        Logarithms of the weights instead, up to any constant for each row; -inf is a weight of 0.
    size : int or tuple of int, optional
        How many draws each row gives; by default one, without an axis for it.
    rng : int, sequence of int, Generator, numpy.random.Generator or None
        A seed or a stream of draws; None continues the process's own.

    Returns
    -------
    int32 ndarray or device array, or int32
        Numbers from 0 to n - 1, of shape ``weights.shape[:-1] + size``; a device array where the weights are one.
        A category of weight 0 is never drawn.

    Raises
    ------
    ValueError
        A row without a positive weight, or with one that is negative, infinite or nan, naming the first such row. On a device
        its draws are -1 instead.

    Notes
    -----
    A draw depends on the seed, on its place in the result and on its row: not on the device, beyond rounding. Each row is
    read once, in chunks of 512 entries: a chunk replaces what a draw has found so far with probability (sum of the chunk) /
    (sum so far), as in reservoir sampling [1]_. Probabilities are those of the weights to within 2^-52 in float64, and
    2^-24 in float32.

    .. [1] Chao (1982), A general purpose unequal probability sampling plan.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.sample_discrete([[0.0, 2.0, 0.0], [5.0, 0.0, 0.0]], size=4, rng=1)
    array([[1, 1, 1, 1],
           [0, 0, 0, 0]], dtype=int32)
    >>> draws = gs.sample_discrete(log_weights=np.log([0.2, 0.3, 0.5]), size=100_000, rng=1)
    >>> (np.bincount(draws) / 100_000).round(2)
    array([0.2, 0.3, 0.5])
    """
    if (weights is None) == (log_weights is None):
        raise ValueError("give either weights or log_weights")
    name = "weights" if log_weights is None else "log_weights"
    rows = arrays.as_array(weights if log_weights is None else log_weights, name)
    if isinstance(rows, float):
        raise ValueError(f"{name} is one number: it must have an axis of categories, (..., n)")
    *lead, n = rows.shape
    draws = () if size is None else as_shape(size)
    shape = (*lead, *draws)
    native = arrays.is_device_array(rows)
    runtime, dtype = target_of([rows], [name], None)
    if not math.prod(shape):
        return runtime.empty(shape, np.int32) if native else np.empty(shape, np.int32)
    if not n:
        raise ValueError(f"{name} has shape {tuple(rows.shape)}: there are no categories to draw from")
    if not native:
        rows = np.ascontiguousarray(rows, dtype)
    elif not arrays.is_contiguous(rows) or rows.dtype != dtype:
        rows = gather(runtime, rows, dtype)
    labels = Destination(runtime, shape, _LABEL, _LABEL, native, None)
    handle, start = runtime.memory(rows)
    place = (handle, start // dtype.itemsize)
    stream = as_generator(rng).take(math.prod(shape))
    to = (labels.handle, labels.offset)
    _launch(runtime, dtype, log_weights is not None, to, place, (math.prod(lead), n, math.prod(draws)), stream)
    drawn = labels.finished()
    if not native and drawn.min() < 0:
        raise ValueError(_complaint(name, rows, drawn))
    return drawn


def _launch(
    runtime: Runtime, dtype: np.dtype, log: bool, out: tuple[Any, int], rows: tuple[Any, int], sizes: tuple[int, int, int],
    stream: Stream,
) -> None:  # fmt: skip
    """Start the draws: `sizes` are the numbers of rows, of categories, and of draws a row."""
    n_rows, n, n_draws = sizes
    chosen = layout.discrete_draws(runtime.device, dtype.itemsize, n)
    kernel = _kernel(runtime, dtype.name, log, n_draws == 1, chosen)
    row_blocks = -(-n_rows // chosen.tile)
    parts, part = layout.draw_parts(runtime.device, chosen, n_rows, n_draws)
    kernel((row_blocks, parts), *out, *rows, n_rows, n, n_draws, part, *stream)


@functools.lru_cache
def _kernel(runtime: Runtime, dtype: str, log: bool, single: bool, chosen: layout.DrawLayout) -> Kernel:
    source = codegen.render_plain(
        "draws/discrete_draws", dtype, runtime.dialect, layout=chosen, log=log, single=single and bool(chosen.width)
    )
    return runtime.kernel(source, "discrete_draws", chosen.threads)


def _complaint(name: str, rows: np.ndarray, labels: np.ndarray) -> str:
    """What is wrong with the first row that gave no draw."""
    lead = rows.shape[:-1]
    bad = (labels.reshape(math.prod(lead), -1) < 0).any(1)
    index = tuple(map(int, np.unravel_index(int(bad.argmax()), lead)))
    row = rows[index]
    where = f"{name}{list(index) if index else ''}"
    if np.isnan(row).any():
        return f"{where} contains nan"
    if name == "weights" and (row < 0).any():
        return f"{where} contains a negative weight, {row.min()}"
    if (row == np.inf).any():
        return f"{where} contains inf"
    if name == "weights" and (row > 0).any():
        return f"the sum of {where} overflows {rows.dtype}: divide the weights by the largest, or pass log_weights"
    return f"{where} has no positive weight"
