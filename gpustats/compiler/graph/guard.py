"""PyMC's check of parameters around a log-density: -inf, or an error, where they are invalid.

PyMC's own distributions end in a `CheckParameterValue`, which raises `ParameterValueError`. In what a model compiles, PyMC
turns it into a switch to -inf, or removes it where the model's `check_bounds` is False. The log-densities of gpustats end in
the same Op, so that all of this holds for them, too. Its condition is an output of `LogDensity`, as the device has checked
already.
"""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Cast, Switch
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from ..evaluation.formula import Formula
from .ops import LogDensity
from .types import TensorLike, TensorVariable


def guarded(formula: Formula, *arguments: TensorLike) -> TensorVariable:
    """Log-density of a formula behind PyMC's check, in the type that PyTensor is set to."""
    terms, valid = LogDensity(formula).make_node(*arguments).outputs
    return pt.cast(CheckParameterValue(message(formula), can_be_replaced_by_ninf=True)(terms, valid), pytensor.config.floatX)


def message(formula: Formula) -> str:
    """Message of the error for invalid parameters."""
    wanted = [f"{a.name} must be {a.domain}" for a in formula.arguments[1:] if a.words - {"real", "vector"}]
    return f"invalid parameters of {formula.name}" + (f": {', '.join(wanted)}" if wanted else "")


def is_log_density(variable: Variable) -> bool:
    """True if a variable is the checked terms of a `LogDensity`, in whatever type."""
    if _is_elementwise(variable, Cast):
        return is_log_density(variable.owner.inputs[0])
    node = variable.owner
    if node is None:
        return False
    if isinstance(node.op, LogDensity):
        return True
    if isinstance(node.op, CheckParameterValue):
        terms, condition = node.inputs[0], node.inputs[1]
    elif _is_elementwise(variable, Switch) and _is_minus_infinity(node.inputs[2]):
        condition, terms = node.inputs[0], node.inputs[1]
    else:
        return False
    node = terms.owner
    return node is not None and isinstance(node.op, LogDensity) and _bare(condition) is node.outputs[1]


def sum_of_checked(variable: Variable) -> Variable:
    """Sum of a `LogDensity`'s checked terms, checked and given its type after it is taken."""
    node = variable.owner
    if isinstance(node.op, LogDensity):
        return pt.sum(variable)
    if isinstance(node.op, CheckParameterValue):
        return node.op(sum_of_checked(node.inputs[0]), *node.inputs[1:])
    if isinstance(node.op.scalar_op, Cast):
        return pt.cast(sum_of_checked(node.inputs[0]), variable.type.dtype)
    condition, terms, _ = node.inputs
    return pt.switch(_bare(condition), sum_of_checked(terms), -np.inf)


def switches(fgraph: FunctionGraph, total: Variable, valid: Variable) -> list[Variable]:
    """Variables that are a sum where the parameters are valid, else -inf."""
    found = [node.outputs[0] for node, place in fgraph.clients[total] if place == 1]
    return [
        v for v in found
        if _is_elementwise(v, Switch) and _bare(v.owner.inputs[0]) is valid and _is_minus_infinity(v.owner.inputs[2])
    ]  # fmt: skip


def _is_elementwise(variable: Variable, kind: type) -> bool:
    node = variable.owner
    return node is not None and isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, kind)


def _is_minus_infinity(variable: Variable) -> bool:
    return isinstance(variable, Constant) and bool(np.all(variable.data == -np.inf))


def _bare(condition: Variable) -> Variable:
    """Condition without the operations that only change its shape or its kind of variable."""
    while condition.owner is not None and isinstance(condition.owner.op, DimShuffle | ScalarFromTensor | TensorFromScalar):
        condition = condition.owner.inputs[0]
    return condition
