"""The Op of a sum over rows for several sets of parameters: one launch for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import _vectorize_node, vectorize_graph

from ..graph.ops import FLOAT
from ..graph.types import Batch, E, Extents, TensorLike, Variables
from .op import Fused, OfRows


class FusedSets(OfRows):
    """Sum over the rows of a program, for sets of parameters: leading axes of the inputs, which broadcast.

    Data have no such axes. All outputs have them.
    """

    @property
    def ranks(self) -> list[int]:
        """Number of axes of one value, for each input."""
        return [v.type.ndim for v in self.evaluator.inner_inputs]

    def make_node(self, *inputs: TensorLike) -> Apply:
        variables = self.variables(inputs)
        n_lead = max(self.leading(variables))
        cores = [v.type.shape[v.type.ndim - rank :] for v, rank in zip(variables, self.ranks, strict=True)]
        shapes = [(), *(cores[i] for i in self.wrt)]
        return Apply(self, variables, [pt.TensorType(FLOAT, shape=(None,) * n_lead + shape)() for shape in shapes])

    def leading(self, inputs: Sequence[Variable]) -> list[int]:
        """Number of leading axes of each input."""
        return [v.type.ndim - rank for v, rank in zip(inputs, self.ranks, strict=True)]

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self.evaluator.sums_of_sets(arrays, self.wrt)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        lead = batch(self.ranks)
        return [lead, *((*lead, *of[i][len(of[i]) - self.ranks[i] :]) for i in self.wrt)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        found = self.pulled_back_by_graph(inputs, cotangents)
        return [found.get(i, disconnected_type()) for i in range(len(inputs))]

    def as_graph(self, inputs: Sequence[Variable]) -> list[Variable]:
        own = [v.type() for v in self.evaluator.inner_inputs]
        found: Any = vectorize_graph(Fused(self.evaluator, self.wrt).as_graph(own), replace=dict(zip(own, inputs, strict=True)))
        return found


@_vectorize_node.register(Fused)
def _vectorize(op: Fused, node: Apply, *inputs: Variable) -> Apply | list[Variable]:
    sets_op = FusedSets(op.evaluator, op.wrt)
    leading = sets_op.leading(inputs)
    if any(leading[op.evaluator.n_inputs :]):  # data that differ from set to set
        return sets_op.as_graph(inputs)
    return (sets_op if any(leading) else op).make_node(*inputs)
