"""PyTensor Op of a marginal likelihood of models of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable

from ...marginals.model import LaplaceMarginal
from ...runtime.cached import cached_property
from ..evaluation.marginal import MarginalEvaluator
from .ops import ArrayOp, as_float64
from .types import Batch, E, Extents, TensorLike, Variables


class MarginalLikelihood(ArrayOp):
    """Logarithm of a marginal likelihood at its parameters, and its derivatives in some of them.

    Where there is none, it is -inf and the derivatives are 0.
    """

    __props__ = ("marginal", "wrt")
    noun = "marginal likelihood"

    def __init__(self, marginal: LaplaceMarginal, wrt: Sequence[str] = ()):
        self.marginal, self.wrt = marginal, tuple(wrt)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{', '.join(self.marginal.effects)}}}"

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__props__}

    @cached_property
    def _evaluator(self) -> MarginalEvaluator:
        return MarginalEvaluator(self.marginal)

    @property
    def _places(self) -> list[int]:
        return [self.marginal.parameters.index(n) for n in self.wrt]

    def make_node(self, *inputs: TensorLike) -> Apply:
        variables = [as_float64(v) for v in inputs]
        for name, variable in zip(self.marginal.parameters, variables, strict=True):
            if variable.type.ndim != (rank := self.marginal.ranks[name]):
                raise ValueError(f"{name} has {variable.type.ndim} dimensions, and must have {rank}")
        return Apply(self, variables, [pt.dscalar(), *(variables[i].type() for i in self._places)])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self._evaluator.sums(arrays, self.wrt)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [(), *(of[i] for i in self._places)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        if any(not isinstance(c.type, DisconnectedType) for c in cotangents[1:]):
            return super().pullback(inputs, outputs, cotangents)
        _, *slopes = MarginalLikelihood(self.marginal, self.marginal.parameters).make_node(*inputs).outputs
        return [cotangents[0] * slope for slope in slopes]
