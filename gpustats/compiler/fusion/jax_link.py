"""Sums over rows in programs of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
from pytensor.graph.basic import Apply
from pytensor.link.jax.dispatch.basic import jax_funcify

from ...xla.sums import Sums
from ..graph.jax_link import through_python
from .op import Fused


def in_double() -> bool:
    """True if JAX computes in float64."""
    return jax.numpy.result_type(float).itemsize == 8


@jax_funcify.register(Fused)
def _fused(op: Fused, node: Apply, **kwargs: object) -> Callable:
    evaluator = op.evaluator
    if len(node.inputs) > evaluator.n_inputs:  # data that may change
        return through_python(op, node)

    def reject(places: Sequence[int]) -> None:
        if none := [str(node.inputs[i]) for i in places if i not in op.differentiable]:
            raise TypeError(f"{op} has no derivative in {', '.join(none)}, which are no numbers of floating point")

    sums = Sums(evaluator.by_code, evaluator.sums)
    value = sums.function(reject)

    def call(*arrays: jax.Array) -> list[jax.Array] | jax.Array:
        return sums(arrays, op.wrt) if op.wrt else value(*arrays)[0]

    return call
