"""Evaluation of sums over rows by code that Numba compiles."""

from __future__ import annotations

from collections.abc import Callable

from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.basic import numba_funcify

from ..graph.numba_link import Bridge, compiled, ndims_of
from .op import Fused
from .sets import FusedSets


@numba_funcify.register(Fused)
def _fused(op: Fused, node: Apply, **kwargs: object) -> Callable:
    evaluator, ndims = op.evaluator, ndims_of(node)
    data = {i: node.inputs[i].type.dtype for i in range(evaluator.n_inputs, len(ndims))}  # nobody converts these in each call
    own = node.inputs[: evaluator.n_inputs]
    numbers = [i for i, v in enumerate(own) if v.type.dtype == "float64" and all(extent == 1 for extent in v.type.shape)]
    alone = None if data else lambda arrays: evaluator.by_code(evaluator.shapes_of(arrays), op.wrt)
    bridge = Bridge(lambda arrays: evaluator.sums(evaluator.as_held(arrays), op.wrt), ndims, str(op), data, numbers, alone)
    return compiled(bridge, node)


@numba_funcify.register(FusedSets)
def _fused_sets(op: FusedSets, node: Apply, **kwargs: object) -> Callable:
    evaluator, ndims = op.evaluator, ndims_of(node)
    data = {i: node.inputs[i].type.dtype for i in range(evaluator.n_inputs, len(ndims))}
    bridge = Bridge(lambda arrays: evaluator.sums_of_sets(evaluator.as_held(arrays), op.wrt), ndims, str(op), data)
    return compiled(bridge, node)
