"""Passes over matrices in device memory: copies, transposes, triangles, and the checks of arguments."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import code as codegen

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime
    from .provider import Matrix

TILE = 32
THREADS = 256


def copy(runtime: Runtime, source: Matrix, target: Matrix) -> None:
    """target = source."""
    tiles_down, tiles_across = -(-target.rows // TILE), -(-target.columns // TILE)
    kernel = _kernel(runtime, "copy", target.dtype, source.transposed)
    kernel((tiles_down * tiles_across * target.batch, 1), *_place(source), *_place(target), *target.shape)


def lower(runtime: Runtime, source: Matrix, target: Matrix, upper: str = "zero", check: bool = False) -> Any:
    """The lower triangle; with `check`, an int32 device array of one number: the worst that was found."""
    pairs = _pairs(target)
    kernel = _kernel(runtime, "lower", target.dtype, source.transposed, upper, check)
    found = runtime.empty(1 + pairs if check else 0, np.int32)
    kernel((pairs, 1), *_place(source), *_place(target), target.rows, *_found(runtime, found))
    return _worst(runtime, target.dtype, found) if check else None


def examine(runtime: Runtime, l: Matrix) -> Any:  # noqa: E741
    """What a lower triangle has that a solve cannot go on with: an int32 device array of one number."""
    pairs = _pairs(l)
    kernel = _kernel(runtime, "examine", l.dtype, l.transposed)
    found = runtime.empty(1 + pairs, np.int32)
    kernel((pairs, 1), *_place(l), l.rows, *_found(runtime, found))
    return _worst(runtime, l.dtype, found)


def identity(runtime: Runtime, target: Matrix) -> None:
    """target = 1."""
    kernel = _kernel(runtime, "identity", target.dtype)
    blocks = -(-target.rows * target.rows // THREADS)
    kernel((blocks * target.batch, 1), *_place(target), target.rows, blocks)


def log_determinant(runtime: Runtime, l: Matrix) -> Any:  # noqa: E741
    """Of each l l': a float64 device array (batch,)."""
    out = runtime.empty(l.batch, np.float64)
    handle, offset = runtime.memory(out)
    _kernel(runtime, "log_determinant", l.dtype)((l.batch, 1), *_place(l), l.rows, handle, offset // 8)
    return out


def _place(m: Matrix) -> tuple[Any, int, int, int]:
    return m.handle, m.offset, m.stride, m.batch_stride


def _pairs(m: Matrix) -> int:
    """Tiles on the diagonal and below it."""
    tiles = -(-m.rows // TILE)
    return tiles * (tiles + 1) // 2 * m.batch


def _found(runtime: Runtime, found: Any) -> tuple[Any, int]:
    handle, offset = runtime.memory(found)
    return handle, offset // 4


def _worst(runtime: Runtime, dtype: np.dtype, found: Any) -> Any:
    """The largest of what the blocks have found, which becomes the first number."""
    _kernel(runtime, "worst", dtype)((1, 1), *_found(runtime, found), found.shape[0] - 1)
    return found[:1]


@functools.lru_cache
def _kernel(
    runtime: Runtime, name: str, dtype: np.dtype, transposed: bool = False, upper: str = "zero", check: bool = False
) -> Kernel:
    from .provider import ASYMMETRIC, INFINITE, ZERO_ON_DIAGONAL, asymmetry_tolerance

    threads = min(THREADS, runtime.device.max_threads)
    source = codegen.render_plain(
        "linalg/triangles", dtype.name, runtime.dialect, tile=TILE, threads=threads, transposed=transposed, upper=upper,
        check=check, tolerance=repr(asymmetry_tolerance(dtype)), asymmetric=ASYMMETRIC, infinite=INFINITE,
        zero_on_diagonal=ZERO_ON_DIAGONAL,
    )  # fmt: skip
    return runtime.kernel(source, name, threads)
