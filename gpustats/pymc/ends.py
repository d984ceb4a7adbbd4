"""Ends of an observation's support that parameters tell, as PyTensor expressions, and the transform that they give."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions import transforms
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.exceptions import NotScalarConstantError

from ..compiler.evaluation.formula import Formula
from ..compiler.graph.types import TensorLike, TensorVariable, Variables
from ..density import Density
from ..language.nodes import CONSTANTS, Binary, Expression, Index, Name, Number, Return, Unary, walk

#: An end as a function of the parameters' values by their names.
End = Callable[[Mapping[str, Variable]], TensorVariable]
#: Lower and upper end, None where nothing tells it.
Ends = tuple["TensorLike | None", "TensorLike | None"]

#: Names of the parameters that are the ends where neither their names nor the density's own functions say so.
_NAMES_OF_ENDS = {"wald_loc_scale": ("loc", None)}
_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def ends_of(formula: Formula, parameters: Sequence[Variable]) -> tuple[TensorVariable | None, TensorVariable | None]:
    """Lower and upper end of the observation's support, from the parameters' values; None where parameters tell none."""
    values = dict(zip(formula.names[1:], parameters, strict=True))
    lower, upper = (None if end is None else end(values) for end in _ends(formula.density, formula.names[1:]))
    return lower, upper


def has_ends(formula: Formula) -> bool:
    """True if parameters tell an end of the observation's support."""
    return _ends(formula.density, formula.names[1:]) != (None, None)


def interval(ends: Callable[[Variables], Ends]) -> transforms.Interval:
    """Transform of a support to all numbers; `ends` takes the parameters' values."""

    def of_inputs(*inputs: TensorVariable) -> Ends:
        """Ends of the interval, from the random variable's inputs, which begin with rng and size."""
        lower, upper = ends(inputs[2:])
        return _finite(lower, -np.inf), _finite(upper, np.inf)

    return transforms.Interval(bounds_fn=of_inputs)


def _finite(end: TensorLike | None, infinite: float) -> TensorVariable | None:
    """End of a support; None where it is known to be infinite."""
    if end is None:
        return None
    variable = pt.as_tensor_variable(end)
    try:
        return None if get_underlying_scalar_constant_value(variable) == infinite else variable
    except NotScalarConstantError:
        return variable


def _ends(density: Density, names: Sequence[str]) -> tuple[End | None, End | None]:
    named = _NAMES_OF_ENDS.get(density.name, ("lower", "upper"))
    lower, upper = (
        operator.itemgetter(name) if name in names else _written(density, ending)
        for name, ending in zip(named, ("lower", "upper"), strict=True)
    )
    return lower, upper


def _written(density: Density, ending: str) -> End | None:
    """End of the support, as a function of the parameters, from the source's function of an ending.

    None unless that returns a sum or a product of parameters, which is finite if these are.
    """
    function = density.definition.role(ending)
    if function is None or len(function.body) > 1 or not isinstance(function.body[0], Return):
        return None
    value = function.body[0].value
    names = dict(zip((p.name for p in function.parameters), density.parameters, strict=False))  # dim comes last
    if not any(isinstance(node, Name) and node.name in names for node in walk(value)):
        return None

    def end(values: Mapping[str, Variable]) -> TensorVariable:
        return _value(value, {c: values[n] for c, n in names.items()})

    try:
        _value(value, dict.fromkeys(names, pt.vector()))
    except ValueError:
        return None
    return end


def _value(node: Expression | None, values: Mapping[str, Any]) -> Any:
    """Value of an expression: ValueError where it is more than a sum or a product."""
    match node:
        case Name(name) if name in values:
            return values[name]
        case Name(name) if name in CONSTANTS:
            return float(CONSTANTS[name])
        case Number(text):
            return float(text)
        case Unary("-", operand):
            return -_value(operand, values)
        case Binary(sign, left, right) if sign in _OPERATIONS:
            return _OPERATIONS[sign](_value(left, values), _value(right, values))
        case Index(Name(name), Number("0")) if name in values:
            return values[name][..., 0]
        case Index(Name(name), Binary("-", Name("dim"), Number("1"))) if name in values:
            return values[name][..., -1]
    raise ValueError(f"no sum or product: {node}")
