"""Passes over matrices in device memory: copies, transposes, triangles, and the checks of arguments."""

from __future__ import annotations

import functools

import numpy as np

from ..kernels.template import Template
from ..runtime.base import Kernel, Runtime
from ..runtime.types import Array, DType
from . import layout
from .matrix import ASYMMETRIC, INFINITE, ZERO_ON_DIAGONAL, Matrix, asymmetry_tolerance

_TRIANGLES = Template.beside(__file__, "triangles")


def copy(runtime: Runtime, source: Matrix, target: Matrix) -> None:
    """Copy target = source."""
    tile = layout.tiles(runtime.device).tile
    tiles = -(-target.rows // tile) * -(-target.columns // tile)
    kernel = _kernel(runtime, "copy", target.dtype, source.transposed)
    kernel((tiles * target.batch, 1), *source.as_stored, *target.as_stored, *target.shape)


def lower(runtime: Runtime, source: Matrix, target: Matrix, upper: str = "zero", check: bool = False) -> Array | None:
    """Lower triangle of target = that of source, and above it the contents that `upper` names: see `Provider.lower`.

    With `check`, an int32 device array of one number: the worst that was found in the source. Else None.
    """
    tiles = layout.tiles(runtime.device).on_and_below_diagonal(target.rows) * target.batch
    kernel = _kernel(runtime, "lower", target.dtype, source.transposed, upper, check)
    found = runtime.empty(1 + tiles if check else 0, np.int32)
    kernel((tiles, 1), *source.as_stored, *target.as_stored, target.rows, *runtime.memory(found))
    return _worst(runtime, target.dtype, found) if check else None


def examine(runtime: Runtime, l: Matrix) -> Array:  # noqa: E741
    """Worst fault of a lower triangle that a solve cannot go on with: an int32 device array of one number."""
    tiles = layout.tiles(runtime.device).on_and_below_diagonal(l.rows) * l.batch
    kernel = _kernel(runtime, "examine", l.dtype, l.transposed)
    found = runtime.empty(1 + tiles, np.int32)
    kernel((tiles, 1), *l.as_stored, l.rows, *runtime.memory(found))
    return _worst(runtime, l.dtype, found)


def identity(runtime: Runtime, target: Matrix) -> None:
    """Identity matrix: target = 1."""
    blocks = -(-target.rows * target.rows // layout.tiles(runtime.device).threads)
    kernel = _kernel(runtime, "identity", target.dtype)
    kernel((blocks * target.batch, 1), *target.as_stored, target.rows, blocks)


def log_determinant(runtime: Runtime, l: Matrix) -> Array:  # noqa: E741
    """Logarithm of the determinant of each l l': a float64 device array (batch,)."""
    out = runtime.empty(l.batch, np.float64)
    _kernel(runtime, "log_determinant", l.dtype)((l.batch, 1), *l.as_stored, l.rows, *runtime.memory(out))
    return out


def _worst(runtime: Runtime, dtype: DType, found: Array) -> Array:
    """Largest code that the blocks have found, which becomes the first number."""
    _kernel(runtime, "worst", dtype)((1, 1), *runtime.memory(found), found.shape[0] - 1)
    return found[:1]


@functools.cache  # a factorisation starts dozens of them, and should not wait for their constants
def _kernel(
    runtime: Runtime, name: str, dtype: DType, transposed: bool = False, upper: str = "zero", check: bool = False
) -> Kernel:
    chosen = layout.tiles(runtime.device)
    return _TRIANGLES.kernel(
        runtime, name, chosen.threads, dtype=dtype.name, layout=chosen, transposed=transposed, upper=upper, check=check,
        tolerance=asymmetry_tolerance(dtype), asymmetric=ASYMMETRIC, infinite=INFINITE,
        zero_on_diagonal=ZERO_ON_DIAGONAL,
    )  # fmt: skip
