"""PyTensor Ops of a formula: the log-density, its sum with gradients, and the gradients of a weighted sum."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type, grad_undefined
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op, OutputStorageType
from pytensor.graph.replace import _vectorize_node
from pytensor.scalar.basic import Cast, Second
from pytensor.scalar.basic import float64 as scalar_float64
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from ...evaluation.by_code import Evaluation, evaluation_of
from ...runtime.cached import cached_property
from ..evaluation.formula import Evaluator, Formula, FormulaArgument
from .types import Batch, E, Extents, SymbolicShape, TensorLike, TensorVariable, Variables

FLOAT = "float64"


class _Widen(Cast):
    """Cast to float64, with a derivative of the type that is widened: PyTensor's own would be float64."""

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        return [cotangents[0].astype(inputs[0].dtype)]

    L_op = pullback  # type: ignore[assignment]  # its name in PyTensor 2


_widen = Elemwise(_Widen(scalar_float64))


def as_float64(value: TensorLike) -> Variable:
    """Variable in float64; derivatives in the original keep its type."""
    variable = pt.as_tensor_variable(value)
    narrow = variable.dtype in ("float16", "float32")
    return _widen.make_node(variable).outputs[0] if narrow else pt.cast(variable, FLOAT)


class ArrayOp(Op):
    """Op whose outputs a method computes from the arrays of its inputs, for every linker."""

    noun = "density"  # for errors

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Output arrays for these input arrays."""
        raise NotImplementedError

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        """Shapes of the outputs, from those `of` the inputs, of whatever stands for an extent.

        `batch` gives the shape to which the leading axes of the inputs broadcast, from the numbers of the other axes of each.
        """
        raise NotImplementedError

    def perform(self, node: Apply, inputs: Sequence[np.ndarray], outputs: OutputStorageType) -> None:
        for storage, value in zip(outputs, self.evaluate(inputs), strict=True):
            storage[0] = np.asarray(value)

    def infer_shape(self, *args: Any) -> Sequence[SymbolicShape]:  # PyTensor 2 passes the graph as well
        node, shapes = args[-2:]
        return self.shapes(shapes, functools.partial(broadcast_batch, node, shapes))

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        """Derivatives in the inputs, from those in the outputs."""
        raise NotImplementedError(f"this graph asks for derivatives of {self}, which has none")

    def L_op(self, inputs, outputs, output_grads):
        return self.pullback(inputs, outputs, output_grads)  # its name in PyTensor 2


class DensityOp(ArrayOp):
    """Op of a formula, with derivatives in the arguments at the places `wrt`.

    Those that are `known`, places and constants, never change and are no inputs. Copies of the Op in other processes make
    evaluators of their own.
    """

    __props__: tuple[str, ...] = ("formula", "wrt", "known")

    def __init__(self, formula: Formula, wrt: Sequence[int] = (), known: Sequence[tuple[int, Constant]] = ()):
        self.formula, self.wrt, self.known = formula, tuple(wrt), tuple(known)

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__props__}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.formula!r}}}"

    @cached_property
    def evaluator(self) -> Evaluator:
        """Evaluator of this process, which has its data on the device."""
        return self.formula.evaluator({i: constant.data for i, constant in self.known})

    @property
    def places(self) -> list[int]:
        """Places of the inputs in which there are derivatives."""
        return [self.evaluator.free.index(i) for i in self.wrt]

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Number of axes that belong to one value, for each input."""
        return tuple(a.rank for a in self._input_arguments)

    @cached_property
    def _input_arguments(self) -> list[FormulaArgument]:
        """Arguments of the formula that are inputs."""
        known = dict(self.known)
        return [a for i, a in enumerate(self.formula.arguments) if i not in known]

    def arguments(self, inputs: Sequence[TensorLike]) -> list[Variable]:
        """Inputs as float64 variables, constants as constants."""
        return [_as_float(v, a) for v, a in zip(inputs, self._input_arguments, strict=False)]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        raise NotImplementedError(
            f"this graph asks for second derivatives of {self.formula!r}, of which PyTensor gets the first only; "
            "gpustats.Likelihood(…).hessian has them for scalar parameters"
        )


def _as_float(value: TensorLike, argument: FormulaArgument) -> Variable:
    variable = pt.as_tensor_variable(value)
    if variable.type.ndim < argument.rank:
        kind = "vector" if argument.rank == 1 else "matrix"
        raise ValueError(
            f"{argument.name} must be a {kind}, or several with leading axes; it has {variable.type.ndim} dimensions"
        )
    if not isinstance(variable, Constant):
        return as_float64(variable)
    if variable.dtype == FLOAT or (argument.single and variable.dtype == "float32"):
        return variable
    return pt.constant(variable.data.astype(FLOAT), name=variable.name)


class Table(DensityOp):
    """Function of a distribution at every point of the broadcast of its arguments, and whether all parameters are valid."""

    default_output = 0

    def make_node(self, *inputs: TensorLike) -> Apply:
        arguments = self.arguments(inputs)
        batch = [v.type.shape[: v.type.ndim - rank] for v, rank in zip(arguments, self.ranks, strict=True)]
        ndim = max(map(len, batch))
        shape = []
        for extents in zip(*((1,) * (ndim - len(b)) + b for b in batch), strict=True):
            longer = set(extents) - {1}
            known = longer - {None}
            if len(known) > 1:
                listed = ", ".join(f"{name} {b}" for name, b in zip(self.formula.names, batch, strict=True))
                raise ValueError(f"{self.formula!r}: shapes do not broadcast: {listed}")
            shape.append(known.pop() if known else None if longer else 1)
        return Apply(self, arguments, [pt.TensorType(FLOAT, shape=tuple(shape))(), _condition()])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self.evaluator.checked_table(arrays)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [batch(self.ranks), ()]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False] for _ in node.inputs]


class LogDensity(Table):
    """Log-density at every point of the broadcast of its arguments, and whether all parameters are valid."""

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        wrt = [i for i, v in enumerate(inputs) if i in self.formula.differentiable and not isinstance(v, Constant)]
        cotangent = cotangents[0]
        gradients: dict[int, Variable] = {}
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        if wrt and (factor := uniform(cotangent)) is not None:
            unscaled = LogLikelihood(self.formula, wrt).make_node(*inputs).outputs[2:]
            gradients = {i: factor * g for i, g in zip(wrt, unscaled, strict=True)}
        elif wrt:
            gradients = dict(zip(wrt, Weighted(self.formula, wrt).make_node(*inputs, cotangent).outputs, strict=True))
        return [gradients[i] if i in gradients else self._no_gradient(i, v) for i, v in enumerate(inputs)]

    def _no_gradient(self, i: int, v: Variable) -> Variable:
        if isinstance(v, Constant):
            return pt.zeros_like(v)
        argument = self.formula.arguments[i]
        why = "is a whole number" if "integer" in argument.words else "is data"
        return grad_undefined(self, i, v, f"{argument.name} of {self.formula.name} {why}")


class LogLikelihood(DensityOp):
    """Sum of the log-density, whether all parameters are valid, and the sum's gradients, from one reading of the data.

    Where a parameter is invalid, the sum is -inf and the gradients are 0.
    """

    def make_node(self, *inputs: TensorLike) -> Apply:
        arguments = self.arguments(inputs)
        by_place = dict(zip(self.evaluator.free, arguments, strict=True))
        return Apply(self, arguments, [pt.dscalar(), _condition(), *(by_place[i].type() for i in self.wrt)])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self.evaluator.checked_sums(arrays, self.wrt)

    def by_code(
        self, shapes: Sequence[tuple[int, ...]], places: Sequence[int], n_sets: int | None = None
    ) -> Evaluation | None:
        """Evaluation by compiled code for inputs of these shapes, with derivatives in those at some places, else None.

        With `n_sets`, each input has a further first axis, of sets.
        """
        evaluator = self.evaluator
        if (made := evaluator.compiled(shapes, tuple(evaluator.free[place] for place in places), n_sets)) is None:
            return None
        names, elements = [self.formula.names[i] for i in evaluator.free], [np.arange(math.prod(shape)) for shape in shapes]
        inputs = [(place, n, elements[place]) for place, n in enumerate(names) if n in made.arguments]
        starts = list(itertools.accumulate((elements[place].size for place in places), initial=2))
        outputs = [(names[p], start + elements[p]) for p, start in zip(places, starts, strict=False)]
        return evaluation_of(made, inputs, outputs, starts[-1], valid=1)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [(), (), *(of[i] for i in self.places)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True] * len(node.outputs) for _ in node.inputs]

    def pullback(self, inputs: Variables, outputs: Variables, cotangents: Variables) -> list[Variable]:
        if any(not isinstance(c.type, DisconnectedType) for c in cotangents[2:]):
            return super().pullback(inputs, outputs, cotangents)
        # The cotangent of a sum is uniform.
        return LogDensity(self.formula).pullback(inputs, [], cotangents[:1])


class Weighted(DensityOp):
    """Gradients of the sum of weight × log-density: the inputs are the arguments, and the weights of all points."""

    def make_node(self, *inputs: TensorLike) -> Apply:
        arguments = self.arguments(inputs[:-1])
        weight = as_float64(inputs[-1])
        return Apply(self, [*arguments, weight], [arguments[i].type() for i in self.wrt])

    def evaluate(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self.evaluator.checked_weighted(arrays[:-1], arrays[-1], self.wrt)

    def shapes(self, of: Sequence[Extents[E]], batch: Batch[E]) -> list[Extents[E]]:
        return [of[i] for i in self.wrt]


def _condition() -> Variable:
    return pt.TensorType("bool", shape=())()


def broadcast_batch(node: Apply, shapes: Sequence[SymbolicShape], ranks: Sequence[int]) -> SymbolicShape:
    """Shape to which the leading axes of a node's inputs broadcast, from their shapes and the numbers of their other axes."""
    batches = []
    for variable, shape, rank in zip(node.inputs, shapes, ranks, strict=True):
        static = variable.type.shape  # what the graph knows for certain spares it to compare lengths
        batches.append(tuple(shape[i] if static[i] is None else static[i] for i in range(len(static) - rank)))
    return tuple(pt.broadcast_shape(*batches, arrays_are_shapes=True)) if any(batches) else ()


def uniform(variable: TensorVariable) -> TensorVariable | None:
    """Number that a variable has in all places, where the graph shows it, as for the cotangent of a sum; else None."""
    if not variable.type.ndim:
        return variable
    if isinstance(variable, Constant):
        data = np.asarray(variable.data)
        return pt.constant(data.flat[0]) if data.size and (data == data.flat[0]).all() else None
    if all(variable.type.broadcastable):
        return variable.dimshuffle()
    node = variable.owner
    if node is None:
        return None
    if isinstance(node.op, DimShuffle | Alloc):
        return uniform(node.inputs[0])
    if isinstance(node.op, Elemwise):
        if isinstance(node.op.scalar_op, Second):
            return uniform(node.inputs[1])
        factors = [uniform(v) for v in node.inputs]
        if all(f is not None for f in factors):
            return node.op.make_node(*factors).outputs[node.outputs.index(variable)]
    return None


@_vectorize_node.register(Table)
def _vectorize(op: Table, node: Apply, *inputs: TensorVariable) -> Apply:
    """Node of the Op for inputs with further leading axes: their old leading axes have to broadcast as before."""
    ndim = node.outputs[0].type.ndim
    aligned = []
    for new, old, rank in zip(inputs, node.inputs, op.ranks, strict=True):
        extra = new.type.ndim - old.type.ndim
        missing = ndim - (old.type.ndim - rank)
        if extra and missing:
            new = new.dimshuffle(*range(extra), *["x"] * missing, *range(extra, new.type.ndim))
        aligned.append(new)
    return op.make_node(*aligned)
