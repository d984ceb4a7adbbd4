"""PyTensor Ops of quantiles, whose derivatives are those of an implicit function, and of means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pymc.distributions.dist_math import check_icdf_value
from pymc.logprob.utils import CheckParameterValue
from pytensor.gradient import DisconnectedType, disconnected_grad, disconnected_type
from pytensor.graph.basic import Constant, Variable

from ..evaluation.formula import Formula, LogFunction
from .gradients import gradients
from .guard import message
from .ops import LogDensity, Table, Weighted
from .types import TensorLike, TensorVariable, Variables


def quantiles(formula: Formula, probability: TensorLike, *parameters: Variable) -> TensorVariable:
    """Quantiles of probabilities by a formula's distribution: nan outside of [0, 1], as in PyMC."""
    q = pt.as_tensor_variable(probability)
    inside = pt.switch((q >= 0) & (q <= 1), q, 0.5)
    found, valid = Quantile(formula.of_kind(LogFunction.QUANTILE)).make_node(inside, *parameters).outputs
    return check_icdf_value(CheckParameterValue(message(formula))(found, valid), q)


class Quantile(Table):
    """Quantile of every probability, and whether all parameters are valid."""

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        if isinstance(cotangents[0].type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        if self.formula.discrete:
            return [pt.zeros_like(v) for v in inputs]
        q, *parameters = inputs
        x = disconnected_grad(outputs[0])
        functions: Any = (
            LogDensity(self.formula.of_kind(k)).make_node(x, *parameters).outputs[0]
            for k in (LogFunction.LOGPDF, LogFunction.LOGCDF, LogFunction.LOGSF)
        )
        density, below, above = functions
        # F(x; p) = q: so dx/dq = 1 / f, and dx/dp = -(dF/dp) / f, or that of 1 - F where this is the smaller one.
        weight, low = cotangents[0], q <= 0.5
        weights = (
            pt.switch(low, -weight * pt.exp(below - density), 0.0),
            pt.switch(low, 0.0, weight * pt.exp(above - density)),
            weight * pt.exp(-density),
        )
        total = sum((disconnected_grad(w) * v).sum() for w, v in zip(weights, (below, above, q), strict=True))
        free = [i for i in self.formula.differentiable if i and not isinstance(inputs[i], Constant)]
        places = [0, *free]
        slopes = dict(zip(places, gradients(total, [inputs[i] for i in places]), strict=True))
        return [slopes.get(i, pt.zeros_like(v)) for i, v in enumerate(inputs)]


def means(formula: Formula, parameters: Sequence[Variable]) -> Variable:
    """Means of a formula's distribution: infinite or nan where there is none.

    NotImplementedError where the density's functions do not give it.
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
