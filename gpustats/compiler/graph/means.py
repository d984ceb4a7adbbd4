"""The PyTensor Op of means, which are functions of a density's parameters."""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Constant, Variable

from ..evaluation.formula import Formula, LogFunction
from .ops import Table, Weighted
from .types import Variables


def means(formula: Formula, parameters: Sequence[Variable]) -> Variable:
    """Means of a formula's distribution: infinite or nan where there is none.

    Raises
    ------
    NotImplementedError
        Where the density's functions do not give it.
    """
    if not parameters:
        formula.density.function("mean")  # which raises
        return pt.constant(float(formula.density.mean()))
    return Mean(formula.of_kind(LogFunction.MEAN)).make_node(*parameters).outputs[0]


class Mean(Table):
    """Mean for every set of parameters, and whether all of these are valid."""

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        if isinstance(cotangents[0].type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        wrt = [i for i in self.formula.differentiable if not isinstance(inputs[i], Constant)]
        slopes = Weighted(self.formula, wrt).make_node(*inputs, cotangents[0]).outputs if wrt else []
        gradients = dict(zip(wrt, slopes, strict=True))
        return [gradients.get(i, pt.zeros_like(v)) for i, v in enumerate(inputs)]
