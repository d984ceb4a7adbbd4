"""Sums, products and other operations along an axis within a row, and dot products of data and coefficients."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.sparse.math import TrueDot
from pytensor.tensor.elemwise import Elemwise

from ...rows.sparse_matrix import SparseMatrix
from .along import Along, At, Entry, Pick, read
from .expression import Expression
from .frozen import axis_of_softmax
from .joined import among
from .reader import MOST_IN_ROW, Argument, Reader, name_of, reads, without_shuffles
from .scalar_ops import UnknownLength, Unsupported, in_c
from .sparse_products import NOT_SHARED, design_of, is_sparse, rows_of

MOST_COLUMNS = 64  # of a matrix of data in a dot product


@reads("CAReduce")
def of_reduction(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    source = node.inputs[0]
    axes = node.op.axis if node.op.axis is not None else tuple(range(source.type.ndim))
    if type(node.op).__name__ == "Sum" and (dot := as_dot(reader, source, axes, at)) is not None:
        return dot
    kept = iter(at)
    places = [range(reader.short(source, i)) if i in axes else [next(kept)] for i in range(source.type.ndim)]
    parts = [reader.visit(source, tuple(p)) for p in itertools.product(*places)]
    if not parts or len(parts) > MOST_IN_ROW:
        raise Unsupported(f"{type(node.op).__name__} of {len(parts)} numbers in each row")
    total = parts[0]
    for part in parts[1:]:
        total = in_c(node.op.scalar_op, [total, part], reader.expressions)
    return total


def as_dot(reader: Reader, source: Variable, axes: Sequence[int], at: At) -> Expression | None:
    """Dot product for the sum of data times coefficients along an axis; None for any other sum."""
    node = source.owner
    if len(axes) != 1 or node is None or not isinstance(node.op, Elemwise) or len(node.inputs) != 2:
        return None
    if type(node.op.scalar_op).__name__ != "Mul" or (k := source.type.shape[axes[0]]) is None or k < 3:
        return None
    positions: list[Entry | None] = list(at)
    positions.insert(axes[0], None)
    for matrix, other in (node.inputs, node.inputs[::-1]):
        i, j = ([0 if s == 1 else e for e, s in zip(positions, v.type.shape, strict=True)] for v in (matrix, other))
        if None in i and None in j and (dot := _as_design(reader, matrix, i, other, j, k)) is not None:
            return dot
    return None


@reads("Dot", "MatMul", "MatVec", "VecMat", "VecDot", "BatchedDot", "StructuredDot", "TrueDot")
def of_dot(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    a, b = node.inputs[-2:]
    name = type(getattr(node.op, "core_op", node.op)).__name__
    left, right = _operands(a, b, name, at)
    sides = (a, left, b, right), (b, right, a, left)
    if is_sparse(a) or is_sparse(b):
        return _of_sparse(reader, *(sides[0] if is_sparse(a) else sides[1]))
    k = a.type.shape[left.index(None)]
    k = k if k is not None else b.type.shape[right.index(None)]
    for matrix, i, other, j in sides:
        dot = _as_design(reader, matrix, i, other, j, k)
        if dot is not None:
            return dot
    if k is None:
        raise UnknownLength(f"a product of {a.type} and {b.type} over an axis whose length only the call tells")
    if k > MOST_IN_ROW:
        raise Unsupported(f"a product over {k} elements of {a.type} and {b.type}")
    parts = []
    for c in range(k):
        of_a = reader.visit(a, tuple(c if e is None else e for e in left))
        of_b = reader.visit(b, tuple(c if e is None else e for e in right))
        parts.append(reader.expressions.make("{} * {}", reader.expressions.real(of_a), reader.expressions.real(of_b)))
    return reader.expressions.folded("{} + {}", parts)


def _as_design(
    reader: Reader, matrix: Variable, i: Sequence[Entry | None], other: Variable, j: Sequence[Entry | None], k: int | None
) -> Expression | None:
    """Row of a matrix of data times coefficients that all rows share; None for any other product."""
    if not reader.has_designs:
        return None
    along = [e for e in i if isinstance(e, Along)]
    matrix, i = without_shuffles(matrix, i)
    if not isinstance(matrix, Constant) or len(along) != 1 or k is None or not 1 < k <= MOST_COLUMNS:
        return None
    if any(isinstance(e, Along) for e in j) or not (reader.is_small(other, j) or other.owner is None):
        return None
    array = np.asarray(matrix.data)
    if array.dtype == bool or reader.n * k > 4 * max(array.size, 1 << 16):
        return None
    if isinstance(without_shuffles(other, j)[0], Constant):
        return None

    def rows() -> np.ndarray:
        moved, order = np.moveaxis(array, i.index(None), -1), [e for e in i if e is not None]
        return np.ascontiguousarray(read(moved, order), np.float64)

    return _product(reader, matrix, i, other, j, rows)


def _of_sparse(
    reader: Reader, matrix: Variable, i: Sequence[Entry | None], other: Variable, j: Sequence[Entry | None]
) -> Expression:
    """Row of a sparse matrix of data times coefficients that all rows share."""
    along = next((e for e in i if isinstance(e, Along)), None)
    if not isinstance(matrix, Constant) or is_sparse(other) or along is None or any(isinstance(e, Along) for e in j):
        raise Unsupported(NOT_SHARED)
    if not reader.has_designs:
        raise Unsupported("a product with a sparse matrix beside scans")
    design = design_of(matrix, transposed=i[0] is None)

    def rows() -> SparseMatrix:
        return design if along.is_row and design.shape[0] == reader.n else rows_of(design, along.places)

    return _product(reader, matrix, i, other, j, rows)


def _product(
    reader: Reader, matrix: Constant, i: Sequence[Entry | None], other: Variable, j: Sequence[Entry | None],
    rows: Callable[[], np.ndarray | SparseMatrix],
) -> Expression:  # fmt: skip
    """Product of each row of a matrix of data, which `rows` returns, and coefficients that all rows share."""
    other, j = without_shuffles(other, j)
    source = reader.frozen.original(other)
    pick: Pick = tuple(slice(None) if e is None else e for e in j if not isinstance(e, Along))
    key = ("dot", id(matrix.data), tuple(e if e is None or isinstance(e, int) else e.key for e in i), source, _plain(pick))
    return reader.argument(key, name_of(source), lambda name: Argument(name, "dot", source, pick, (rows(),)))


@reads("DenseFromSparse")
def of_dense(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    product = node.inputs[0].owner
    if product is None or not isinstance(product.op, TrueDot):
        raise Unsupported(f"the operation {type(node.op).__name__}")
    return of_dot(reader, product, at, 0)


def _operands(a: Variable, b: Variable, name: str, at: At) -> tuple[list[Entry | None], list[Entry | None]]:
    """Positions at which the element of a product reads its operands; None stands for the axis that is summed over."""
    if name in ("Dot", "MatMul", "StructuredDot", "TrueDot"):
        if a.type.ndim == 1 or b.type.ndim == 1:
            left: list[Entry | None] = [*at[: a.type.ndim - 1], None]
            right: list[Entry | None] = [None, *at[a.type.ndim - 1 :]]
            return left, right
        lead = list(at[:-2])
        return ([*own_axes(lead, a), at[-2], None], [*own_axes(lead, b), None, at[-1]])
    if name == "BatchedDot":
        return ([at[0], at[1], None], [at[0], None, at[2]])
    if name == "MatVec":
        return ([*own_axes(at[:-1], a), at[-1], None], [*own_axes(at[:-1], b, 1), None])
    if name == "VecMat":
        return ([*own_axes(at[:-1], a, 1), None], [*own_axes(at[:-1], b), None, at[-1]])
    if name == "VecDot":
        return ([*own_axes(at, a, 1), None], [*own_axes(at, b, 1), None])
    raise Unsupported(f"the product {name}")


def own_axes(lead: Sequence[Entry], v: Variable, core: int = 2) -> list[Entry]:
    """Leading positions of an operand that broadcasts."""
    ndim = v.type.ndim - core
    mine = list(lead)[len(lead) - ndim :]
    return [0 if s == 1 else e for e, s in zip(mine, v.type.shape, strict=False)]


def _plain(pick: Pick) -> tuple:
    return tuple("all" if isinstance(p, slice) else p for p in pick)


@reads("Softmax", "LogSoftmax")
def of_softmax(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    source, axis = node.inputs[0], axis_of_softmax(node)
    if axis is None:
        raise Unsupported("a softmax over several axes")
    places = range(reader.short(source, axis))
    parts = [reader.expressions.real(reader.visit(source, (*at[:axis], j, *at[axis + 1 :]))) for j in places]
    top = reader.expressions.folded("fmax({}, {})", parts)
    powers = [reader.expressions.make("exp({})", reader.expressions.make("{} - {}", part, top)) for part in parts]
    total = reader.expressions.folded("{} + {}", powers)
    if type(node.op).__name__ == "Softmax":
        return among(reader, at[axis], [functools.partial(reader.expressions.make, "{} / {}", p, total) for p in powers])
    logarithm = reader.expressions.make("{} + {}", top, reader.expressions.make("log({})", total))
    chosen = among(reader, at[axis], [functools.partial(reader.expressions.real, p) for p in parts])
    return reader.expressions.make("{} - {}", chosen, logarithm)


@reads("Scan")
def of_scan(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    return reader.of_scan(node, at, output)


@reads("CumOp")
def of_cumulative(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    source, axis = node.inputs[0], node.op.axis
    if axis is None:
        raise Unsupported("a cumulative sum of all elements")
    place = at[axis]
    if not isinstance(place, int):
        raise Unsupported("a cumulative sum over rows")
    parts = [reader.expressions.real(reader.visit(source, (*at[:axis], i, *at[axis + 1 :]))) for i in range(place + 1)]
    return reader.expressions.folded("{} + {}" if node.op.mode == "add" else "{} * {}", parts)
