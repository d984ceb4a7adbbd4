"""Graphs for the present data: with every extent known, and what follows from data alone computed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import OutputStorageType
from pytensor.graph.traversal import ancestors, toposort
from pytensor.scalar.basic import ScalarConstant, ScalarType
from pytensor.sparse.basic import as_sparse_variable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType
from scipy.sparse import issparse

from ...runtime import thresholds
from ..graph.kinds import inner_outputs
from .scalar_ops import Unsupported
from .scans import Scanned, scanned, shapes_of
from .sparse_products import is_sparse, outputs_of_product

#: Elements of an array for which PyTensor's functions of numbers are fast enough.
MOST_ELEMENTS_IN_PYTHON = thresholds.COMPILER_MOST_ELEMENTS_IN_PYTHON.value


class Frozen:
    """Copy of the graph of a variable in which data are constants.

    `data` has the arrays of variables, `shapes` those of further variables, where their types leave them open. `variable` is
    the copy.
    """

    def __init__(
        self, variable: Variable, data: Mapping[Variable, np.ndarray], shapes: Mapping[Variable, tuple[int, ...]] | None = None
    ):
        self._of: dict[Variable, Variable] = {v: pt.constant(np.asarray(a), name=v.name) for v, a in data.items()}
        for v, shape in (shapes or {}).items():
            self._of[v] = TensorType(v.type.dtype, shape)(v.name)
        self._original: dict[Variable, Variable] = {new: old for old, new in self._of.items()}
        #: copies of scans -> what they are, or why that cannot be read
        self.scans: dict[Apply, Scanned | Unsupported] = {}
        for node in toposort([variable]):
            is_scan = type(node.op).__name__ == "Scan"
            for old, new in zip(node.outputs, self._of_scan(node) if is_scan else _copied(node, self._of), strict=True):
                self._of[old] = new
                self._original.setdefault(new, old)
        self.variable = self._of.get(variable, variable)

    def original(self, variable: Variable) -> Variable:
        """Variable of the original graph that a copy stands for."""
        return self._original.get(variable, variable)

    def shape(self, variable: Variable) -> tuple[int | None, ...]:
        """Shape of the copy of a variable of the original graph."""
        return self._of.get(variable, variable).type.shape

    def _of_scan(self, node: Apply) -> Sequence[Variable]:
        """Outputs of a scan, as long as its steps are many."""
        inputs = [self._of.get(v, v) for v in node.inputs]
        if all(isinstance(v, Constant) for v in inputs):
            return _copied(node, self._of)
        found: Scanned | Unsupported
        try:
            found = scanned(node, inputs, _step)
        except Unsupported as reason:
            found = reason
        shapes = shapes_of(node, inputs, found if isinstance(found, Scanned) else None)
        kinds = [v.type.clone(shape=s) if s else v.type for v, s in zip(node.outputs, shapes, strict=True)]
        copy = Apply(node.op, inputs, [kind() for kind in kinds])
        self.scans[copy] = found
        return copy.outputs


def _step(outputs: Sequence[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """Graph of a step at these inputs, whose extents are known."""
    of = dict(given)
    opened = [without_inner_graphs(v) for v in outputs]
    for node in toposort(opened):
        of.update(zip(node.outputs, _copied(node, of), strict=True))
    return [of.get(v, v) for v in opened]


def _copied(node: Apply, of: Mapping[Variable, Variable]) -> Sequence[Variable]:
    inputs = [of.get(v, v) for v in node.inputs]
    if extents := _extents(node, inputs):
        return extents
    constants = [v for v in inputs if isinstance(v, Constant)]
    if len(constants) == len(inputs) and (values := computed(node, constants)) is not None:
        return [_constant(out.type, v) for out, v in zip(node.outputs, values, strict=True)]
    if (product := outputs_of_product(node, inputs)) is not None:
        return product
    if all(new is old for new, old in zip(inputs, node.inputs, strict=True)):
        return node.outputs
    if isinstance(node.op, Elemwise) and _broadcasts_unasked(node.inputs, inputs):
        raise Unsupported("data of one element along an axis along which others have more")
    try:
        if axis_of_softmax(node) is not None:  # in PyTensor 3 only a call makes the graph anew for these shapes
            return node.op(*inputs, return_list=True)
        return node.op.make_node(*inputs).outputs
    except Exception:
        return node.clone_with_new_inputs(inputs, strict=False).outputs


def _constant(kind: TensorType | ScalarType, value: Any) -> Constant:
    """Constant of an array, of a sparse matrix, or of the number that is the end of a slice."""
    if issparse(value):
        return as_sparse_variable(value)
    return pt.constant(value) if isinstance(kind, TensorType) else ScalarConstant(kind, value[()])


def _broadcasts_unasked(before: Sequence[Variable], now: Sequence[Variable]) -> bool:
    """True if an axis only now known to have one element would be repeated: PyTensor raises an error there."""
    for axis in range(now[0].type.ndim):
        extents = [v.type.shape[axis] for v in now]
        new = any(v.type.shape[axis] is None and extent == 1 for v, extent in zip(before, extents, strict=True))
        if new and any(extent not in (1, None) for extent in extents):
            return True
    return False


def rebuilt(variable: Variable, change: Callable[[Apply, dict[Variable, Variable]], Sequence[Variable] | None]) -> Variable:
    """Graph with other outputs of some nodes.

    `change` takes a node, and what became of the variables before it that are not what they were; it gives the node's outputs,
    or None where the node stays as it is, but for its inputs.
    """
    of: dict[Variable, Variable] = {}
    for node in toposort([variable]):
        outputs = change(node, of)
        if outputs is None and any(v in of for v in node.inputs):
            outputs = node.clone_with_new_inputs([of.get(v, v) for v in node.inputs], strict=False).outputs
        if outputs is not None:
            of.update(zip(node.outputs, outputs, strict=True))
    return of.get(variable, variable)


def axis_of_softmax(node: Apply) -> int | None:
    """Axis along which a softmax, or its logarithm, is taken; None where there are several, or of other operations."""
    if type(node.op).__name__ not in ("Softmax", "LogSoftmax"):
        return None
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else np.atleast_1d(node.op.axis)
    return int(axes[0]) % node.inputs[0].type.ndim if len(axes) == 1 else None


def without_inner_graphs(variable: Variable) -> Variable:
    """Graph in which operations that are made of a graph are replaced by the operations of that graph.

    A softmax along one axis stays: in PyTensor 3 it is made of a graph.
    """

    def opened(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        is_graph = isinstance(node.op, OpFromGraph) and axis_of_softmax(node) is None
        if not is_graph or not all(isinstance(v.type, TensorType) for v in node.outputs):
            return None
        return [without_inner_graphs(v) for v in inner_outputs(node.op, [of.get(v, v) for v in node.inputs])]

    return rebuilt(variable, opened)


def with_known_extents(variable: Variable) -> Variable:
    """Graph with numbers in the place of extents that are known, so that it depends on fewer variables."""

    def told(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        inputs = [of.get(v, v) for v in node.inputs]
        shape_of = inputs[0].owner if inputs else None
        if type(node.op).__name__ != "Subtensor" or shape_of is None or type(shape_of.op).__name__ != "Shape":
            return _extents(node, inputs)
        if node.outputs[0].type.ndim or not isinstance(place := inputs[1], Constant):
            return None
        extent = shape_of.inputs[0].type.shape[int(np.asarray(place.data))]
        return None if extent is None else [pt.constant(np.asarray(extent, node.outputs[0].type.dtype))]

    return rebuilt(variable, told)


OF_OTHER_VARIABLES = "_shared"  # end of the names that `pymc.pytensorf.make_shared_replacements` gives


def shared_data(variable: Variable) -> dict[Variable, np.ndarray]:
    """Shared variables that a variable is computed from, `pm.Data` and lengths of dimensions, with their present values.

    Where PyMC samples some variables at a time, shared variables stand for the others. Those change in each step, as inputs do.
    """
    found = [v for v in ancestors([variable]) if isinstance(v, SharedVariable) and isinstance(v.type, TensorType)]
    return {v: v.get_value(borrow=True) for v in found if not is_sparse(v) and not str(v.name).endswith(OF_OTHER_VARIABLES)}


def _extents(node: Apply, inputs: Sequence[Variable]) -> list[Variable] | None:
    """Outputs of an operation that asks for the shape of its input; None where the shape is unknown, or of other operations."""
    name = type(node.op).__name__
    if name not in ("Shape", "Shape_i"):
        return None
    shape = inputs[0].type.shape
    if name == "Shape_i":
        shape = (shape[node.op.i],)
    if any(s is None for s in shape):
        return None
    numbers = np.array(shape if name == "Shape" else shape[0], np.int64)
    return [pt.constant(numbers.astype(node.outputs[0].type.dtype))]


def computed(node: Apply, inputs: Sequence[Constant]) -> list[Any] | None:
    """Outputs of an operation on constants, arrays or sparse matrices; None where they cannot be told."""
    if not all(isinstance(v.type, TensorType | ScalarType) for v in node.outputs):
        return None
    storage: OutputStorageType = [[None] for _ in node.outputs]
    try:
        if isinstance(node.op, Elemwise) and max(np.size(v.data) for v in inputs) > MOST_ELEMENTS_IN_PYTHON:
            return _by_numpy(node.op.scalar_op, [v.data for v in inputs], np.dtype(node.outputs[0].type.dtype))
        copy = node.op.make_node(*inputs)
        node.op.perform(copy, [v.data for v in inputs], storage)
    except Exception:  # random draws, operations in C only
        return None
    return [s[0] if issparse(s[0]) else np.asarray(s[0], v.type.dtype) for s, v in zip(storage, node.outputs, strict=True)]


def _by_numpy(op: Any, arrays: Sequence[np.ndarray], dtype: np.dtype) -> list[np.ndarray] | None:
    """Result of an operation on many numbers, where NumPy or SciPy has it; None of other operations."""
    name = type(op).__name__
    if dtype.kind == "f":
        arrays = [a.astype(dtype) if a.dtype.kind in "iu" else a for a in arrays]
    with np.errstate(all="ignore"):
        if name in ("Add", "Mul"):
            result = functools.reduce(np.add if name == "Add" else np.multiply, arrays)
        elif name == "Cast":
            result = arrays[0]
        elif name == "Clip":
            x, low, high = arrays
            result = np.where(x < low, low, np.where(x > high, high, x))
        elif name == "Second":
            result = np.broadcast_to(arrays[1], np.broadcast_shapes(*(a.shape for a in arrays)))
        elif op.nfunc_spec and op.nfunc_spec[1:] == (len(arrays), 1):
            module, _, function = op.nfunc_spec[0].rpartition(".")
            result = getattr(importlib.import_module(module or "numpy"), function)(*arrays)
        else:
            return None
    return [result.astype(dtype, copy=False)]
