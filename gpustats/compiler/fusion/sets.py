"""The Op of a sum over rows for several sets of parameters: one launch for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, Lop, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import _vectorize_node, clone_replace, vectorize_graph

from ..graph.ops import FLOAT
from ..graph.shapes import broadcast_batch
from .op import Fused, OfRows


class FusedSets(OfRows):
    """Sum over the rows of a program, for sets of parameters: leading axes of the inputs, which broadcast.

    Data have no such axes. All outputs have them.
    """

    @property
    def ranks(self) -> list[int]:
        """Number of axes of one value, for each input."""
        return [v.type.ndim for v in self.evaluator.inner_inputs]

    def make_node(self, *inputs: Any) -> Apply:
        variables = self.variables(inputs)
        n_lead = max(self.leading(variables))
        cores = [v.type.shape[v.type.ndim - rank :] for v, rank in zip(variables, self.ranks, strict=True)]
        shapes = [(), *(cores[i] for i in self.wrt)]
        return Apply(self, variables, [pt.TensorType(FLOAT, shape=(None,) * n_lead + shape)() for shape in shapes])

    def leading(self, inputs: Sequence[Variable]) -> list[int]:
        """Number of leading axes of each input."""
        return [v.type.ndim - rank for v, rank in zip(inputs, self.ranks, strict=True)]

    def perform(self, node: Apply, inputs: Sequence[np.ndarray], outputs: Any) -> None:
        for storage, value in zip(outputs, self.evaluator.sums_of_sets(inputs, self.wrt), strict=True):
            storage[0] = np.asarray(value)

    def infer_shape(self, *args: Any) -> list[tuple]:  # PyTensor 2 passes the graph as well
        node, shapes = args[-2:]
        lead = broadcast_batch(node, shapes, self.ranks)
        cores = [tuple(shapes[i][len(shapes[i]) - self.ranks[i] :]) for i in self.wrt]
        return [lead, *(lead + core for core in cores)]

    def pullback(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        """Pullback by the graph of the sum as PyTensor computes it."""
        fresh = [v.type() for v in inputs]
        pairs = [
            (v, c) for v, c in zip(self.as_graph(fresh), cotangents, strict=True) if not isinstance(c.type, DisconnectedType)
        ]
        wanted = [fresh[i] for i in self.differentiable]
        slopes: Any = Lop([v for v, _ in pairs], wanted, [c for _, c in pairs], disconnected_inputs="ignore")
        gradients = dict(zip(self.differentiable, clone_replace(slopes, dict(zip(fresh, inputs, strict=True))), strict=True))
        return [gradients.get(i, disconnected_type()) for i in range(len(inputs))]

    L_op: Any = pullback  # its name in PyTensor 2

    def as_graph(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Outputs as PyTensor computes them."""
        own = [v.type() for v in self.evaluator.inner_inputs]
        found: Any = vectorize_graph(Fused(self.evaluator, self.wrt).as_graph(own), replace=dict(zip(own, inputs, strict=True)))
        return found


@_vectorize_node.register(Fused)
def _vectorize(op: Fused, node: Apply, *inputs: Any) -> Any:
    sets_op = FusedSets(op.evaluator, op.wrt)
    leading = sets_op.leading(inputs)
    if any(leading[op.evaluator.n_inputs :]):  # data that differ from set to set
        return sets_op.as_graph(inputs)
    return (sets_op if any(leading) else op).make_node(*inputs)
