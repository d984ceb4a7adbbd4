"""Checks of parameters, which PyMC's distributions make of all observations at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence

import numpy as np
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from ..graph.ops import LogDensity
from .along import At, Entry
from .expression import Expression
from .frozen import rebuilt
from .reader import IDENTITY_OPS, MOST_IN_ROW, Reader, outermost, reads
from .scalar_ops import UnknownLength, Unsupported, in_c


@reads("CheckParameterValue")
def of_check(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    value = reader.visit(node.inputs[0], at)
    if reader.is_within(node.outputs[0]):
        return _within(reader, node, value)
    alike = [c for c in node.inputs[1:] if node in reader.outermost and reader.is_alike(c)]
    if alike and not any(op is node.op and conditions == alike for op, conditions in reader.hoisted):
        reader.hoisted.append((node.op, alike))
    for condition in node.inputs[1:]:
        if condition in alike or (isinstance(condition, Constant) and np.all(condition.data)):
            continue
        if not node.op.can_be_replaced_by_ninf:
            raise Unsupported(f"a check that raises an error: {node.op.msg}")
        reader.require(reader.expressions.truth(of_all(reader, condition)))
    return value


def _within(reader: Reader, node: Apply, value: Expression) -> Expression:
    """Value of a step of a scan; -inf where a check of it fails."""
    if not node.op.can_be_replaced_by_ninf:
        raise Unsupported(f"a check that raises an error: {node.op.msg}")
    reader.is_checked_within = True
    conditions = [reader.expressions.truth(of_all(reader, c)) for c in node.inputs[1:]]
    met = reader.expressions.folded("{} && {}", conditions, whole=True)
    return reader.expressions.choice(met, value, reader.expressions.number(-math.inf))


def of_all(reader: Reader, v: Variable) -> Expression:
    """Truth value of a row, for a condition that all rows have to meet."""
    node = v.owner
    name = "" if node is None else type(node.op).__name__
    if isinstance(v, Constant) or (node is not None and reader.is_alike(v)):
        return reader.visit(v, (0,) * v.type.ndim)
    if node is not None and name == "All" and not _is_long(node):
        return of_all(reader, node.inputs[0])
    if node is not None and name == "MakeVector":
        parts = [reader.expressions.truth(of_all(reader, i)) for i in node.inputs]
        return reader.expressions.folded("{} && {}", parts, whole=True)
    if node is not None and isinstance(node.op, LogDensity):
        return reader.expressions.number(True)  # the log-density of a row is -inf where its parameters are invalid
    if node is not None and isinstance(node.op, CheckParameterValue):
        raise Unsupported("a check within a check of parameters")
    if node is not None and isinstance(node.op, Elemwise) and type(node.op.scalar_op).__name__ == "AND":
        return in_c(node.op.scalar_op, [of_all(reader, i) for i in node.inputs], reader.expressions)
    if node is not None and (isinstance(node.op, DimShuffle) or name in IDENTITY_OPS):
        return of_all(reader, node.inputs[0])
    if v.type.ndim:
        return _every(reader, v)
    if reader.follows_from_steps(v):
        return reader.visit(v, ())
    raise Unsupported("a check of parameters that compares rows with one another")


def _is_long(node: Apply) -> bool:
    """True if a condition of each row has many elements, of which PyTensor makes one."""
    extents = node.inputs[0].type.shape
    return bool(node.outputs[0].type.ndim) and math.prod(extents[a] or 1 for a in node.op.axis) > MOST_IN_ROW


def _every(reader: Reader, v: Variable) -> Expression:
    """True if all elements that belong to a row are true."""
    places: list[Sequence[Entry]] = []
    shape = v.type.shape
    used_axes: set[int] = set()  # axes of the rows, along each of which one axis of the condition runs
    exact = len(shape) == len(reader.shape) and all(a in (b, None) for a, b in zip(shape, reader.shape, strict=True))
    for axis, extent in enumerate(shape):
        candidates = [i for i, s in enumerate(reader.shape) if s == extent and s != 1]
        if exact:
            places.append([reader.rows[axis]])
        elif len(candidates) == 1 and extent != 1 and candidates[0] not in used_axes:
            places.append([reader.rows[candidates[0]]])
            used_axes.update(candidates)
        elif not candidates and extent is not None and extent <= MOST_IN_ROW:
            places.append(range(extent))
        elif extent is None:
            raise UnknownLength(f"a check of {v.type}")
        elif not candidates:
            raise Unsupported(f"a check of {extent} elements within each row; at most {MOST_IN_ROW} are written out")
        else:
            raise Unsupported(f"a check of {v.type}, in which {extent} may be rows or not")
    parts = [reader.expressions.truth(reader.visit(v, tuple(p))) for p in itertools.product(*places)]
    if len(parts) > MOST_IN_ROW:
        raise Unsupported(f"a check of {len(parts)} elements within each row; at most {MOST_IN_ROW} are written out")
    return reader.expressions.folded("{} && {}", parts, whole=True)


def without(term: Variable, conditions: Collection[Variable]) -> Variable:
    """Term without the checks of these conditions around it, because the caller checks them."""
    around = outermost(term)

    def unchecked(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        if node not in around:
            return None
        value, *left = (of.get(v, v) for v in node.inputs if v not in conditions)
        return [node.op(value, *left) if left else value]

    return rebuilt(term, unchecked)
