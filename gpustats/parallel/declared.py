"""Checks of arrays that are read by slices: shapes and types read against those declared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.types import DType, Shape

if TYPE_CHECKING:
    import dask.array


def as_declared(found: ArrayLike, shape: Shape, dtype: DType, what: str) -> np.ndarray:
    """NumPy array of the numbers read, if they have the shape and the dtype that were declared.

    ValueError where the shape or the dtype is another one, TypeError where gaps are masked.
    """
    array = np.asarray(found)
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"{what} has shape {array.shape} and dtype {array.dtype}: declared were {shape} and {dtype}")
    if isinstance(found, np.ma.MaskedArray) and found.mask.any():
        raise TypeError(f"{what} is masked: fill its gaps first")
    return array


def is_dask(value: object) -> bool:
    """True if a value is a Dask array."""
    return any(c.__module__.startswith("dask.array") for c in type(value).__mro__)


def checked_chunks(value: dask.array.Array, name: str) -> dask.array.Array:
    """Dask array whose chunks raise an error where they are not as declared: rows would be lost, or mistaken for others.

    ValueError where the sizes of chunks are unknown.
    """
    if any(math.isnan(n) for n in value.shape):
        raise ValueError(
            f"{name} has chunks of unknown sizes, its shape is {value.shape}: call its method compute_chunk_sizes() first, or "
            "make it by to_dask_array(lengths=True) where it comes from a data frame"
        )
    return value.map_blocks(
        _checked, name, value.dtype, dtype=value.dtype, meta=np.empty((0,) * value.ndim, value.dtype)
    )


def _checked(chunk: ArrayLike, name: str, dtype: DType, block_info: Any = None) -> np.ndarray:
    """Chunk, if it has the shape and the dtype that were declared; called where Dask computes."""
    place, shape = block_info[None]["chunk-location"], tuple(block_info[None]["chunk-shape"])
    return as_declared(chunk, shape, dtype, f"{name}: the chunk {place} of this Dask array")
