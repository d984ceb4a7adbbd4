"""Operations on the elements of arrays, and operations that only move, repeat or wrap elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import Composite

from .along import At
from .expression import Expression
from .reader import IDENTITY_OPS, Reader, below_shuffle, reads
from .scalar_ops import Unsupported, in_c


@reads("Elemwise")
def of_elementwise(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    op = node.op.scalar_op
    kind = type(op).__name__
    if kind == "Second":
        return reader.visit(node.inputs[1], reader.under(node.inputs[1], at))
    if kind == "Composite":
        return of_composite(reader, op, [reader.visit(v, reader.under(v, at)) for v in node.inputs], output)
    arguments = [reader.visit(v, reader.under(v, at)) for v in node.inputs]
    if kind == "Add" and node.outputs[0].type.dtype == "bool":
        raise Unsupported("a sum of truth values, of which PyTensor's versions differ")
    if kind == "Cast" and _is_whole(node.inputs[0]) and node.outputs[0].type.dtype in ("int64", "int32"):
        return arguments[0]
    if kind == "IntDiv" and not all(map(_is_whole, node.inputs)):
        raise Unsupported("the integer part of a quotient")
    if kind == "IntDiv":
        divisor, zero = reader.expressions.real(arguments[1]), reader.expressions.number(0.0)
        reader.require(reader.expressions.make("{} != {}", divisor, zero, whole=True))
    return in_c(op, arguments, reader.expressions)


def of_composite(reader: Reader, op: Composite, arguments: Sequence[Expression], output: int) -> Expression:
    known = dict(zip(op.fgraph.inputs, arguments, strict=True))

    def of(v: Variable) -> Expression:
        if isinstance(v, Constant):
            return reader.expressions.number(v.data.item() if hasattr(v.data, "item") else v.data)
        return known[v]

    for node in op.fgraph.toposort():
        known[node.outputs[0]] = in_c(node.op, [of(v) for v in node.inputs], reader.expressions)
    return of(op.fgraph.outputs[output])


@reads("DimShuffle")
def of_dimshuffle(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    return reader.visit(node.inputs[0], below_shuffle(node, at))


@reads(*IDENTITY_OPS)
def of_same(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    return reader.visit(node.inputs[0], at)


@reads("Alloc", "BroadcastTo")
def of_alloc(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    return reader.visit(node.inputs[0], reader.under(node.inputs[0], at))


def _is_whole(v: Variable) -> bool:
    return np.dtype(v.type.dtype).kind in "iub"
