"""The Op of a formula's sum for several sets of parameters: where its evaluator can, one launch for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import _vectorize_node

from ..evaluation.batches import along_one_axis, common_batch
from ..evaluation.formula import Formula
from .ops import FLOAT, DensityOp, LogLikelihood
from .types import Batch, E, Extents, TensorLike


class LogLikelihoods(DensityOp):
    """Sums of the log-density, as of `LogLikelihood`, for sets of parameters: leading axes of the inputs, which broadcast.

    All outputs have them. `ndims` has the number of axes of each input in one set.
    """

    __props__ = ("formula", "wrt", "known", "ndims")

    def __init__(self, formula: Formula, wrt: Sequence[int], known: Sequence[tuple[int, Constant]], ndims: Sequence[int]):
        super().__init__(formula, wrt, known)
        self.ndims = tuple(ndims)

    def make_node(self, *inputs: TensorLike) -> Apply:
        arguments = self.arguments(inputs)
        n_lead = max(self.leading(arguments))
        cores = [v.type.shape[v.type.ndim - n :] for v, n in zip(arguments, self.ndims, strict=True)]
        lead = (None,) * n_lead
        slopes = [pt.TensorType(FLOAT, shape=lead + cores[place])() for place in self.places]
        return Apply(self, arguments, [pt.TensorType(FLOAT, shape=lead)(), pt.TensorType("bool", shape=lead)(), *slopes])

    def leading(self, inputs: Sequence[Variable]) -> list[int]:
        """Number of leading axes of each input."""
        return [v.type.ndim - n for v, n in zip(inputs, self.ndims, strict=True)]

    def evaluate(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Sums, whether all parameters are valid, and the sums' derivatives."""
        lead = common_batch(arrays, self.ndims)
        sets = [along_one_axis(a, n, lead) for a, n in zip(arrays, self.ndims, strict=True)]
        if not (n_sets := math.prod(lead)):
            return [np.empty(lead), np.empty(lead, bool), *(np.empty(lead + sets[place].shape[1:]) for place in self.places)]
        return [a.reshape(lead + a.shape[1:]) for a in self.evaluator.checked_sums_of_sets(sets, n_sets, self.wrt)]

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        lead = batch(self.ndims)
        return [lead, lead, *((*lead, *of[i][len(of[i]) - self.ndims[i] :]) for i in self.places)]


@_vectorize_node.register(LogLikelihood)
def _vectorize(op: LogLikelihood, node: Apply, *inputs: Variable) -> Apply:
    made = LogLikelihoods(op.formula, op.wrt, op.known, [v.type.ndim for v in node.inputs])
    return (made if any(made.leading(inputs)) else op).make_node(*inputs)
