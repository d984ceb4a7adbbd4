"""The Op of a sum over rows: its value and all of its gradients, from one reading of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import clone_replace

from ...runtime.cached import cached_property
from ..graph.gradients import gradients, pulled_back
from ..graph.ops import FLOAT, ArrayOp, as_float64
from ..graph.types import Batch, E, Extents, TensorLike, Variables
from .checks import without
from .evaluator import RowsEvaluator
from .program import Program


class OfRows(ArrayOp):
    """Sum over rows, with its gradients in those of its inputs that are numbers of floating point, at the places `wrt`.

    The inputs are those of a program, then the data that may change.
    """

    __props__ = ("evaluator", "wrt")
    default_output = 0
    noun = "sum over rows"

    def __init__(self, evaluator: RowsEvaluator, wrt: Sequence[int]):
        self.evaluator, self.wrt = evaluator, tuple(wrt)

    def __str__(self) -> str:
        program = self.evaluator.program
        return f"{type(self).__name__}{{{program.name if program else 'rows'}}}"

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i in self.differentiable] * len(node.outputs) for i in range(len(node.inputs))]

    @cached_property
    def differentiable(self) -> tuple[int, ...]:
        """Places of the inputs that are numbers of floating point, and not data."""
        inputs = self.evaluator.inner_inputs[: self.evaluator.n_inputs]
        return tuple(i for i, v in enumerate(inputs) if v.type.dtype.startswith("float"))

    def variables(self, inputs: Sequence[TensorLike]) -> list[Variable]:
        """Inputs in the types in which they are taken."""
        return [as_float64(v) if i in self.differentiable else pt.as_tensor_variable(v) for i, v in enumerate(inputs)]

    def as_graph(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Outputs as PyTensor computes them."""
        raise NotImplementedError

    def pulled_back_by_graph(self, inputs: Sequence[Variable], cotangents: Sequence[Variable]) -> dict[int, Variable]:
        """Pullback by the graph of the outputs as PyTensor computes them: derivatives by the places of inputs."""
        fresh = [v.type() for v in inputs]  # fresh, because what is replaced must not be an ancestor of what replaces it
        slopes = pulled_back(self.as_graph(fresh), cotangents, [fresh[i] for i in self.differentiable])
        given = dict(zip(fresh, inputs, strict=True))
        return dict(zip(self.differentiable, clone_replace(slopes, given, rebuild_strict=False), strict=True))


class Fused(OfRows):
    """Sum over the rows of a program."""

    def make_node(self, *inputs: TensorLike) -> Apply:
        variables = self.variables(inputs)
        return Apply(self, variables, [pt.dscalar(), *(variables[i].type() for i in self.wrt)])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self.evaluator.sums(arrays, self.wrt)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [(), *(of[i] for i in self.wrt)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        if all(isinstance(c.type, DisconnectedType) for c in cotangents[1:]):
            by_place: dict[int, Variable] = dict(zip(self.wrt, outputs[1:], strict=True))
            if missing := [i for i in self.differentiable if i not in by_place]:
                by_place |= dict(zip(missing, Fused(self.evaluator, missing).make_node(*inputs).outputs[1:], strict=True))
            found = {i: pt.mul(cotangents[0], g) for i, g in by_place.items()}
        else:
            found = self.pulled_back_by_graph(inputs, cotangents)
        return [found.get(i, disconnected_type()) for i in range(len(inputs))]

    def as_graph(self, inputs: Sequence[Variable]) -> list[Variable]:
        fresh = [v.type() for v in inputs]
        given = dict(zip(self.evaluator.inner_inputs, fresh, strict=True))
        (total,) = clone_replace([pt.sum(self.evaluator.inner_term)], given, rebuild_strict=False)
        total = pt.cast(total, FLOAT)
        outputs = [total, *gradients(total, [fresh[i] for i in self.wrt])]
        return clone_replace(outputs, dict(zip(fresh, inputs, strict=True)), rebuild_strict=False)


def sum_by(program: Program, term: Variable, data: Sequence[Variable], devices: Sequence[str] | None = None) -> Variable:
    """Sum of a term by its program; several devices may share the rows."""
    hoisted = {condition for _, conditions in program.checks for condition in conditions}
    total = sum_later(program.inputs, without(term, hoisted), data, devices, program)
    if program.invalid_is_nan:
        total = pt.switch(pt.isnan(total), -np.inf, total)
    for op, conditions in program.checks:
        total = op(total, *conditions)
    return total


def sum_later(
    inputs: Sequence[Variable], term: Variable, data: Sequence[Variable], devices: Sequence[str] | None = None,
    program: Program | None = None,
) -> Variable:  # fmt: skip
    """Sum of a term; unless there is a program, it is made in the first call, when the shapes of the inputs are known."""
    floats = [i for i, v in enumerate(inputs) if v.type.dtype.startswith("float")]
    evaluator = RowsEvaluator.of(inputs, term, data, program, devices)
    return Fused(evaluator, floats).make_node(*inputs, *data).outputs[0]
