"""Draws from rows of probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation.placement import as_read, target_of
from ..evaluation.results import Destination, as_shape
from ..kernels.layout import MOST_BLOCKS_Y, Layout, power_of_two
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.arrays import as_array, is_device_array, name_of
from .generator import Rng, Stream, as_generator

if TYPE_CHECKING:
    from ..runtime.base import Device, Runtime
    from ..runtime.types import Array, DType, Handle, Size, Values

_DRAWS = Template.beside(__file__, "discrete_draws")
_LABEL = np.dtype(np.int32)
#: Entries of a row from which on a block has a row, rather than a thread each of its entries, by the type of device.
LONG_ROW = thresholds.DRAWS_LONG_ROW.value


@dataclass(frozen=True)
class DrawLayout(Layout):
    """Constants of the discrete_draws kernel; `tile` is the rows of a block.

    Attributes
    ----------
    width : int
        The most entries of rows that have a thread each, a power of two; 0: a block has a row.
    draws : int
        The most draws of a long row that a block makes in one pass over it.
    full : bool
        Whether rows have `width` entries, known to the compiler.
    in_registers : bool
        Whether a thread keeps a row in registers, where there is one draw of each.
    """

    width: int = 0
    draws: int = 0
    full: bool = False
    in_registers: bool = False


def layout(device: Device, itemsize: int, n: int, aligned: bool = False) -> DrawLayout:
    """Layout of the discrete_draws kernel for rows of n entries; `aligned`: 16-byte accesses are allowed."""
    cpu = device.type == "cpu"
    if n > LONG_ROW["cpu" if cpu else "gpu"]:
        return DrawLayout(64 // itemsize, draws=256) if cpu else DrawLayout(64, draws=64)
    width = max(power_of_two(n), 4)
    threads = 128 // itemsize if cpu else min(128, device.max_threads)
    while not cpu and (width + width // 8) * (threads + 1) * itemsize > min(device.shared_memory, 40 * 1024):
        threads //= 2
    if cpu:
        return DrawLayout(threads, tile=threads, width=width)
    full = n == width and aligned
    return DrawLayout(
        threads, tile=threads, width=width, vector=16 // itemsize if full else 1, full=full, in_registers=width <= 32
    )


def draw_parts(device: Device, layout: DrawLayout, n_rows: int, n_draws: int) -> tuple[int, int]:
    """Number of blocks that share the draws of a row, and number of draws that a block makes at a time."""
    if not layout.width:
        return min(-(-n_draws // layout.draws), MOST_BLOCKS_Y), layout.draws
    row_blocks = -(-n_rows // layout.tile)
    wanted = -(-32 * device.compute_units // row_blocks)
    least = max(1, 8 * layout.threads // min(n_rows, layout.tile))  # draws that are worth the rows' preparation
    part = max(-(-n_draws // min(wanted, MOST_BLOCKS_Y)), min(least, n_draws))
    return -(-n_draws // part), part


def sample_discrete(
    weights: Values | None = None, *, log_weights: Values | None = None, size: Size = None, rng: Rng = None
) -> Array:
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
    rows = as_array(weights if log_weights is None else log_weights, name)
    if isinstance(rows, float):
        raise ValueError(f"{name} is one number: it must have an axis of categories, (..., n)")
    *lead, n = rows.shape
    draws = () if size is None else as_shape(size)
    shape = (*lead, *draws)
    native = is_device_array(rows)
    runtime, dtype = target_of([rows], [name], None)
    if not math.prod(shape):
        return runtime.empty(shape, np.int32) if native else np.empty(shape, np.int32)
    if not n:
        raise ValueError(f"{name} has shape {tuple(rows.shape)}: there are no categories to draw from")
    rows = as_read(runtime, rows, dtype)
    labels = Destination(runtime, shape, _LABEL, _LABEL, native, None)
    place = runtime.memory(rows)
    stream = as_generator(rng).take(math.prod(shape))
    to = (labels.handle, labels.offset)
    _launch(runtime, dtype, log_weights is not None, to, place, (math.prod(lead), n, math.prod(draws)), stream)
    drawn = labels.finished()
    if not native and drawn.min() < 0:
        raise ValueError(_complaint(name, rows, drawn))
    return drawn


def _launch(
    runtime: Runtime, dtype: DType, log: bool, out: tuple[Handle, int], rows: tuple[Handle, int], sizes: tuple[int, int, int],
    stream: Stream,
) -> None:  # fmt: skip
    """Start the draws: `sizes` are the numbers of rows, of categories, and of draws a row."""
    n_rows, n, n_draws = sizes
    address = rows[1] * dtype.itemsize + (rows[0] if isinstance(rows[0], int) else 0)
    chosen = layout(runtime.device, dtype.itemsize, n, address % 16 == 0)
    single = n_draws == 1 and bool(chosen.width)
    kernel = _DRAWS.kernel(
        runtime, "discrete_draws", chosen.threads, dtype=name_of(dtype), layout=chosen, log=log, single=single,
        vector_type=f"{'double' if dtype.itemsize == 8 else 'float'}{chosen.vector}",
    )
    row_blocks = -(-n_rows // chosen.tile)
    parts, part = draw_parts(runtime.device, chosen, n_rows, n_draws)
    kernel((row_blocks, parts), *out, *rows, n_rows, n, n_draws, part, *stream)


def _complaint(name: str, rows: np.ndarray, labels: np.ndarray) -> str:
    """Fault of the first row that gave no draw."""
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
