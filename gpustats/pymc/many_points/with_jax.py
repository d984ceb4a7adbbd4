"""Log-posterior of many points as a function of JAX, for samplers that are written in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.foreign import from_any_thread

if TYPE_CHECKING:
    import jax


def as_jax(evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], size: int) -> Callable[[jax.Array], jax.Array]:
    """JAX function of points of `size` numbers, with its gradient: see `Batched.as_jax`.

    `evaluate` takes points (C, d) and returns values (C,) and gradients (C, d).
    """
    import jax
    import jax.numpy as jnp

    @from_any_thread
    def evaluated(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        array = np.asarray(points)
        values, slopes = evaluate(array.reshape(-1, size))
        return values.reshape(array.shape[:-1]).astype(array.dtype), slopes.reshape(array.shape).astype(array.dtype)

    def both(point: jax.Array) -> tuple[jax.Array, jax.Array]:
        shapes = jax.ShapeDtypeStruct((), point.dtype), jax.ShapeDtypeStruct(point.shape, point.dtype)
        return jax.pure_callback(evaluated, shapes, point, vmap_method="broadcast_all")

    @jax.custom_jvp
    def logp(point: jax.Array) -> jax.Array:
        return both(point)[0]

    @logp.defjvp
    def _along(points: tuple[jax.Array], directions: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (point,), (direction,) = points, directions
        value, slope = both(point)
        return value, jnp.sum(slope * direction, axis=-1)

    def checked(point: jax.Array) -> jax.Array:
        point = jnp.asarray(point)
        if point.shape != (size,):
            raise ValueError(f"the point has shape {point.shape}: it must have ({size},); for many points take jax.vmap")
        return logp(point.astype(jnp.result_type(float)))

    return checked
