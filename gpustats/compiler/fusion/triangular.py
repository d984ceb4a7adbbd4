"""Solutions of small triangular systems, which multivariate normal distributions need."""

from __future__ import annotations

import functools

from pytensor.graph.basic import Apply

from .along import At, Entry
from .along_axes import own_axes
from .expression import Expression
from .joined import among
from .reader import Reader, reads
from .scalar_ops import UnknownLength, Unsupported

MOST_EQUATIONS = 8  # of a triangular system, which are written out


@reads("SolveTriangular")
def of_triangular_system(reader: Reader, node: Apply, at: At, output: int) -> Expression:
    """Element of x where a x = b, by substitution."""
    op = getattr(node.op, "core_op", node.op)
    a, b = node.inputs[:2]
    core = getattr(op, "b_ndim", 2)
    n = a.type.shape[-1]
    if n is None:
        raise UnknownLength("a triangular system in each row, of as many equations as only the call tells")
    if n > MOST_EQUATIONS or getattr(op, "trans", 0) not in (0, "N", False, None):
        raise Unsupported(f"a triangular system of {n} equations in each row; at most {MOST_EQUATIONS} are written out")
    lead, place, column = (at[:-1], at[-1], ()) if core == 1 else (at[:-2], at[-2], at[-1:])
    key = (node, "solution", *lead, *column)
    if key not in reader.memo:
        reader.memo[key] = _substituted(reader, node, lead, column, n)
    solution = reader.memo[key]
    return among(reader, place, [functools.partial(reader.expressions.real, x) for x in solution])


def _substituted(reader: Reader, node: Apply, lead: At, column: tuple[Entry, ...], n: int) -> list[Expression]:
    op = getattr(node.op, "core_op", node.op)
    a, b = node.inputs[:2]
    expressions, of_a, of_b = reader.expressions, own_axes(lead, a, 2), own_axes(lead, b, 1 + len(column))
    solution: dict[int, Expression] = {}
    for i in range(n) if op.lower else reversed(range(n)):
        value = expressions.real(reader.visit(b, (*of_b, i, *column)))
        for j, x in solution.items():
            product = expressions.make("{} * {}", expressions.real(reader.visit(a, (*of_a, i, j))), x)
            value = expressions.make("{} - {}", value, product)
        if not op.unit_diagonal:
            value = expressions.make("{} / {}", value, expressions.real(reader.visit(a, (*of_a, i, i))))
        solution[i] = value
    return [solution[i] for i in range(n)]
