"""The Op of a sum over rows: its value and all of its gradients, from one reading of the data."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, Lop, disconnected_type, grad
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace

from ..graph.ops import FLOAT, as_float64
from .checks import without
from .evaluator import RowsEvaluator
from .program import Program


class OfRows(Op):
    """Sum over rows, with its gradients in those of its inputs that are numbers of floating point.

    The inputs are those of a program, then the data that may change.

    Parameters
    ----------
    evaluator : RowsEvaluator
    wrt : tuple of int
        The places of the inputs in which there are gradients.
    """

    __props__ = ("evaluator", "wrt")
    default_output = 0

    def __init__(self, evaluator: RowsEvaluator, wrt: Sequence[int]):
        self.evaluator, self.wrt = evaluator, tuple(wrt)

    def __str__(self) -> str:
        program = self.evaluator.program
        return f"{type(self).__name__}{{{program.name if program else 'rows'}}}"

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i in self.differentiable] * len(node.outputs) for i in range(len(node.inputs))]

    @functools.cached_property
    def differentiable(self) -> tuple[int, ...]:
        """Places of the inputs that are numbers of floating point, and not data."""
        inputs = self.evaluator.inner_inputs[: self.evaluator.n_inputs]
        return tuple(i for i, v in enumerate(inputs) if v.type.dtype.startswith("float"))

    def variables(self, inputs: Sequence[Any]) -> list[Variable]:
        """Inputs in the types in which they are taken."""
        found = [pt.as_tensor_variable(v) for v in inputs]
        return [as_float64(v) if i in self.differentiable else v for i, v in enumerate(found)]


class Fused(OfRows):
    """Sum over the rows of a program."""

    def make_node(self, *inputs: Any) -> Apply:
        variables = self.variables(inputs)
        return Apply(self, variables, [pt.dscalar(), *(variables[i].type() for i in self.wrt)])

    def perform(self, node: Apply, inputs: Sequence[np.ndarray], outputs: Any) -> None:
        for storage, value in zip(outputs, self.evaluator.sums(inputs, self.wrt), strict=True):
            storage[0] = np.asarray(value)

    def infer_shape(self, *args: Any) -> list[tuple]:  # PyTensor 2 passes the graph as well
        return [(), *(args[-1][i] for i in self.wrt)]

    def pullback(self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable]) -> list:
        if all(isinstance(c.type, DisconnectedType) for c in cotangents[1:]):
            by_place = dict(zip(self.wrt, outputs[1:], strict=True))
            if missing := [i for i in self.differentiable if i not in by_place]:
                by_place |= dict(zip(missing, Fused(self.evaluator, missing).make_node(*inputs).outputs[1:], strict=True))
            found = {i: pt.mul(cotangents[0], g) for i, g in by_place.items()}
        else:
            found = self._second(inputs, cotangents)
        return [found.get(i, disconnected_type()) for i in range(len(inputs))]

    L_op: Any = pullback  # its name in PyTensor 2

    def _second(self, inputs: Sequence[Variable], cotangents: Sequence[Variable]) -> dict[int, Variable]:
        """Pullback of the gradients, of the graph that the program was made from."""
        fresh = [v.type() for v in inputs]  # fresh, because what is replaced must not be an ancestor of what replaces it
        total = self.graph(fresh)
        where = [fresh[i] for i in self.wrt]
        firsts: Any = grad(total, where, disconnected_inputs="ignore") if where else []
        pairs = [
            (v, c) for v, c in zip([total, *firsts], cotangents, strict=True) if not isinstance(c.type, DisconnectedType)
        ]
        wanted = [fresh[i] for i in self.differentiable]
        seconds: Any = Lop([v for v, _ in pairs], wanted, [c for _, c in pairs], disconnected_inputs="ignore")
        slopes = clone_replace(seconds, dict(zip(fresh, inputs, strict=True)), rebuild_strict=False)
        return dict(zip(self.differentiable, slopes, strict=True))

    def graph(self, inputs: Sequence[Variable]) -> Variable:
        """Sum as PyTensor computes it."""
        given = dict(zip(self.evaluator.inner_inputs, inputs, strict=True))
        (total,) = clone_replace([pt.sum(self.evaluator.inner_term)], given, rebuild_strict=False)
        return pt.cast(total, FLOAT)

    def as_graph(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Outputs as PyTensor computes them."""
        fresh = [v.type() for v in inputs]
        total = self.graph(fresh)
        firsts: Any = grad(total, [fresh[i] for i in self.wrt], disconnected_inputs="ignore") if self.wrt else []
        return clone_replace([total, *firsts], dict(zip(fresh, inputs, strict=True)), rebuild_strict=False)


def sum_by(program: Program, term: Variable, data: Sequence[Variable], devices: Sequence[str] | None = None) -> Variable:
    """Sum of a term by its program; several devices may share the rows."""
    hoisted = {condition for _, conditions in program.checks for condition in conditions}
    total = _fused(program.inputs, without(term, hoisted), data, program, devices)
    for op, conditions in program.checks:
        total = op(total, *conditions)
    return total


def sum_later(
    inputs: Sequence[Variable], term: Variable, data: Sequence[Variable], devices: Sequence[str] | None = None
) -> Variable:
    """Sum of a term, whose program is made in the first call, when the shapes of the inputs are known."""
    return _fused(inputs, term, data, None, devices)


def _fused(
    inputs: Sequence[Variable], term: Variable, data: Sequence[Variable], program: Program | None,
    devices: Sequence[str] | None,
) -> Variable:  # fmt: skip
    floats = [i for i, v in enumerate(inputs) if v.type.dtype.startswith("float")]
    evaluator = RowsEvaluator.of(inputs, term, data, program, devices)
    return Fused(evaluator, floats).make_node(*inputs, *data).outputs[0]
