"""Calls of Python in code of JAX's compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.foreign import from_any_thread

if TYPE_CHECKING:
    import jax


def call_python(
    function: Callable[..., Sequence[Any]], shapes: Sequence[jax.ShapeDtypeStruct], *arrays: jax.Array, batches: bool = False
) -> list[jax.Array]:
    """Results, of some shapes and types, of a Python function that takes arrays of the host.

    Where `jax.vmap` has several sets of arrays, the function is called for each, or, if it takes `batches`, with all of them.
    """
    import jax

    @from_any_thread
    def evaluated(*values: Any) -> list[np.ndarray]:
        given = [np.asarray(v) for v in values]
        lead = given[0].shape[: given[0].ndim - arrays[0].ndim] if given else ()
        found = zip(function(*given), shapes, strict=True)
        return [np.asarray(f, s.dtype).reshape((*lead, *s.shape)) for f, s in found]

    method = "broadcast_all" if batches else "sequential"
    result: list[jax.Array] = jax.pure_callback(evaluated, list(shapes), *arrays, vmap_method=method)
    return result
