"""Sums over rows in programs of JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np
from pytensor.graph.basic import Apply, Constant
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
    free, held = node.inputs[: evaluator.n_inputs], node.inputs[evaluator.n_inputs :]
    data = [np.asarray(v.data) for v in held if isinstance(v, Constant)]
    if len(data) < len(held):  # data that may change
        return through_python(op, node)

    def reject(places: Sequence[int]) -> None:
        if none := [str(node.inputs[i]) for i in places if i not in op.differentiable]:
            raise TypeError(f"{op} has no derivative in {', '.join(none)}, which are no numbers of floating point")

    def by_python(arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> Sequence[object]:
        return evaluator.sums([*arrays, *data], wrt)

    def along(places: tuple[int, ...]) -> Sums:
        def by_python(arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> Sequence[object]:
            return evaluator.along([*arrays, *data], wrt, along=places)

        return Sums(functools.partial(evaluator.by_code, along=places, data=data), by_python)

    sums = Sums(functools.partial(evaluator.by_code, data=data), by_python, along=along)
    value = sums.function(reject)

    def call(*arrays: jax.Array) -> list[jax.Array] | jax.Array:
        arrays = arrays[: len(free)]
        return sums(arrays, op.wrt) if op.wrt else value(*arrays)[0]

    return call
