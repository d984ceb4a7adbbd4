"""Log-posterior of a point as a function of JAX, for samplers that are written in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...xla.python_calls import call_python
from .points import Points

if TYPE_CHECKING:
    import jax
    from pytensor.graph.basic import Variable

#: Values (C,) and gradients (C, d) of points (C, d).
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
#: Variables of a point, and the log-posterior as an expression of them.
Graph = Callable[[], "tuple[Sequence[Variable], Variable]"]


def as_jax(points: Points, graph: Graph, evaluate: Evaluate) -> Callable[[jax.Array], jax.Array]:
    """JAX function of a point, with its gradient: see `Batched.as_jax`.

    JAX computes the graph; `evaluate` is called where it cannot.
    """
    import jax.numpy as jnp

    @functools.cache
    def by_graph() -> Callable[[jax.Array], jax.Array] | None:
        try:
            return _of_graph(points, *graph())
        except NotImplementedError:  # there is an operation that JAX does not know
            return None

    through_host = _through_host(evaluate, points.size)

    def logp(point: jax.Array) -> jax.Array:
        point = jnp.asarray(point)
        if point.shape != (points.size,):
            raise ValueError(f"the point has shape {point.shape}: it must have ({points.size},); for many points take jax.vmap")
        dtype = jnp.result_type(float)
        function = by_graph() if dtype.itemsize == 8 else None  # in float32 JAX would compute the priors in float32, too
        return (function or through_host)(point.astype(dtype))

    return logp


def _of_graph(points: Points, variables: Sequence[Variable], value: Variable) -> Callable[[jax.Array], jax.Array]:
    import jax
    from pymc.sampling.jax import get_jaxified_graph

    with jax.ensure_compile_time_eval():  # its constants are none of a program that calls it
        function = get_jaxified_graph(inputs=list(variables), outputs=[value])
    places = points.places.values()

    def logp(point: jax.Array) -> jax.Array:
        (found,) = function(*(point[its].reshape(shape) for its, shape in places))
        return found

    return logp


def _through_host(evaluate: Evaluate, size: int) -> Callable[[jax.Array], jax.Array]:
    import jax
    import jax.numpy as jnp

    def evaluated(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return evaluate(points.reshape(-1, size))

    def both(point: jax.Array) -> list[jax.Array]:
        shapes = jax.ShapeDtypeStruct((), point.dtype), jax.ShapeDtypeStruct(point.shape, point.dtype)
        return call_python(evaluated, shapes, point, batches=True)

    @jax.custom_jvp
    def logp(point: jax.Array) -> jax.Array:
        return both(point)[0]

    @logp.defjvp
    def _along(points: tuple[jax.Array], directions: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (point,), (direction,) = points, directions
        value, slope = both(point)
        return value, jnp.sum(slope * direction, axis=-1)

    function: Callable[[jax.Array], jax.Array] = logp
    return function
