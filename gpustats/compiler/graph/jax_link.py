"""Operations of gpustats in programs of JAX: sums as calls of XLA's own, all others through Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.null_type import NullType
from pytensor.link.jax.dispatch.basic import jax_funcify

from ...xla.python_calls import call_python
from ...xla.sums import Sums
from .ops import ArrayOp, LogLikelihood


@jax_funcify.register(ArrayOp)
def _array_op(op: ArrayOp, node: Apply, **kwargs: Any) -> Callable:
    return through_python(op, node)


@jax_funcify.register(LogLikelihood)
def _log_likelihood(op: LogLikelihood, node: Apply, **kwargs: Any) -> Callable:
    free = op.evaluator.free

    def by_python(arrays: Sequence[np.ndarray], places: tuple[int, ...]) -> Sequence[Any]:
        return op.evaluator.checked_sums(arrays, tuple(free[i] for i in places))

    def reject(places: Sequence[int]) -> None:
        if none := [op.formula.names[free[i]] for i in places if free[i] not in op.formula.differentiable]:
            raise TypeError(f"{op.formula!r} has no derivative in {', '.join(none)}")

    sums = Sums(op.by_code, by_python, values=((), ()))
    value = sums.function(reject)

    def call(*arrays: jax.Array) -> list[jax.Array]:
        total, valid, *slopes = sums(arrays, op.places) if op.wrt else value(*arrays)
        return [total, valid > 0, *slopes]

    return call


def through_python(op: ArrayOp, node: Apply) -> Callable:
    """JAX function of an operation, which calls Python. Its derivatives are those of the graph."""
    types = [jnp.zeros((), v.type.dtype).dtype for v in node.outputs]

    def evaluate(*arrays: jax.Array) -> list[jax.Array]:
        extents = [tuple(a.shape) for a in arrays]

        def batch(ranks: Sequence[int]) -> tuple[int, ...]:
            return np.broadcast_shapes(*(e[: len(e) - rank] for e, rank in zip(extents, ranks, strict=True)))

        shapes = [jax.ShapeDtypeStruct(s, t) for s, t in zip(op.shapes(extents, batch), types, strict=True)]

        def evaluated(*values: np.ndarray) -> Sequence[Any]:
            return op.evaluate([np.asarray(v, i.type.dtype) for v, i in zip(values, node.inputs, strict=True)])

        return call_python(evaluated, shapes, *arrays)

    @jax.custom_vjp
    def outputs(*arrays: jax.Array) -> list[jax.Array]:
        return evaluate(*arrays)

    def forth(*arrays: jax.Array) -> tuple[list[jax.Array], tuple[Sequence[jax.Array], list[jax.Array]]]:
        found = evaluate(*arrays)
        return found, (arrays, found)

    def back(known: tuple[Sequence[jax.Array], list[jax.Array]], cotangents: Sequence[jax.Array]) -> tuple[Any, ...]:
        arrays, found = known
        return _pulled_back(node)(arrays, found, cotangents)

    outputs.defvjp(forth, back)
    return (lambda *arrays: outputs(*arrays)[0]) if len(node.outputs) == 1 else outputs


def _pulled_back(node: Apply) -> Callable[..., tuple[Any, ...]]:
    """Function (inputs, outputs, cotangents) -> cotangents of the inputs, as the operation's graph has them."""
    inputs = [v.type() for v in node.inputs]
    outputs = [v.type() for v in node.outputs]
    floats = [i for i, v in enumerate(outputs) if v.type.dtype.startswith("float")]
    cotangents = [v.type() if i in floats else disconnected_type() for i, v in enumerate(outputs)]
    slopes = node.op.pullback(inputs, outputs, cotangents)
    moving = [i for i, s in enumerate(slopes) if not isinstance(s.type, DisconnectedType | NullType)]
    given = [*inputs, *outputs, *(cotangents[i] for i in floats)]
    function = jax_funcify(FunctionGraph(given, [slopes[i] for i in moving], clone=True))

    def call(arrays: Sequence[jax.Array], found: Sequence[jax.Array], directions: Sequence[Any]) -> tuple[Any, ...]:
        by_place = dict(zip(moving, function(*arrays, *found, *(directions[i] for i in floats)), strict=True))
        zeros = (jnp.zeros_like(a) if jnp.issubdtype(a.dtype, jnp.floating) else None for a in arrays)
        return tuple(by_place.get(i, zero) for i, zero in enumerate(zeros))

    return call
