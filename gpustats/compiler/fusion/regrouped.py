"""Sums in which shared terms are added first: each number less in a row is one derivative less in every row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytensor.tensor as pt
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import All

from .frozen import rebuilt, with_known_extents, without_inner_graphs
from .reader import MOST_IN_ROW
from .references import as_products

Term = tuple[bool, Variable]  # whether it is subtracted


MOST_SHARED_ELEMENTS = 64  # elements of a term that rows share


def as_fused(variable: Variable) -> Variable:
    """Graph of a summed variable, as it is read: without operations that are made of a graph, and regrouped."""
    return regrouped(row_by_row(as_products(with_known_extents(without_inner_graphs(variable)))))


def row_by_row(variable: Variable) -> Variable:
    """Graph in which a condition of many elements in each row is first one of each row, so that PyTensor may compute that."""

    def divided(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        shape = node.inputs[0].type.shape if isinstance(node.op, All) and not node.outputs[0].type.ndim else ()
        if variable.type.ndim != 1 or math.prod(extent or 1 for extent in shape[1:]) <= MOST_IN_ROW:
            return None
        condition = of.get(node.inputs[0], node.inputs[0])
        return [pt.all(pt.all(condition, axis=tuple(range(1, len(shape)))))]

    return rebuilt(variable, divided)


def regrouped(variable: Variable) -> Variable:
    """Graph with (rows + a) - b as rows + (a - b), where a and b have few elements, which rows share.

    PyTensor computes a - b, once. The two are put together only where nothing else reads them.
    """
    nodes = list(toposort([variable]))
    uses = Counter(v for node in nodes if not _is_few(node.outputs[0]) for v in node.inputs)  # by rows
    within = {v for node in nodes if _is_sum(node) for v in node.inputs if uses[v] == 1}  # of a sum that goes on

    def put_together(node: Apply, of: dict[Variable, Variable]) -> Sequence[Variable] | None:
        new = _sum(node, uses, of) if _is_sum(node) and node.outputs[0] not in within else None
        return None if new is None else [new]

    return rebuilt(variable, put_together)


def _is_few(v: Variable) -> bool:
    extents = getattr(v.type, "shape", (None,))
    return None not in extents and math.prod(extents) <= MOST_SHARED_ELEMENTS


def _is_sum(node: Apply | None) -> bool:
    """True if a node is a sum, a difference, or a check around one."""
    if node is None or node.outputs[0].type.dtype != "float64":
        return False
    return isinstance(node.op, CheckParameterValue) or (
        isinstance(node.op, Elemwise) and type(node.op.scalar_op).__name__ in ("Add", "Sub", "Neg")
    )


def _sum(node: Apply, uses: Counter[Variable], of: dict[Variable, Variable]) -> Variable | None:
    """Sum with the terms that rows share put together; None where nothing can be."""
    whole = node.outputs[0].type
    terms: list[Term] = []
    checks: list[Apply] = []
    _collect(node, False, uses, terms, checks)
    shared: dict[tuple[bool, ...], list[Term]] = {}
    for minus, v in terms:
        alike = v.type.broadcastable
        fewer = any(one and not all_one for one, all_one in zip(alike, whole.broadcastable, strict=True))
        if fewer and _is_few(v) and v.type.dtype == "float64" and uses[v] == 1 and not isinstance(v, Constant):
            shared.setdefault(alike, []).append((minus, v))
    groups = [group for group in shared.values() if len(group) > 1]
    if not groups:
        return None
    grouped = {v for group in groups for _, v in group}
    rest = [(minus, of.get(v, v)) for minus, v in terms if v not in grouped]
    parts = [*rest, *((False, _added([(minus, of.get(v, v)) for minus, v in group])) for group in groups)]
    total = _added(parts)
    for check in reversed(checks):
        total = check.op(total, *(of.get(c, c) for c in check.inputs[1:]))
    return total if total.type.ndim == whole.ndim else None


def _collect(node: Apply, minus: bool, uses: Counter[Variable], terms: list[Term], checks: list[Apply]) -> None:
    """List the terms of a sum, and the checks around it or around parts of it."""
    kind = "Check" if isinstance(node.op, CheckParameterValue) else type(node.op.scalar_op).__name__
    inputs = node.inputs[:1] if kind == "Check" else node.inputs
    signs = [minus, not minus] if kind == "Sub" else [not minus] if kind == "Neg" else [minus] * len(inputs)
    if kind == "Check":
        checks.append(node)
    for sign, v in zip(signs, inputs, strict=True):
        inner = v.owner
        goes_on = uses[v] == 1 and _is_sum(inner) and not (sign and isinstance(inner.op, CheckParameterValue))
        if goes_on:  # a check that is subtracted is none of the sum: where it fails, the sum is not -inf
            _collect(inner, sign, uses, terms, checks)
        else:
            terms.append((sign, v))


def _added(terms: Sequence[Term]) -> Variable:
    """Sum of terms; one that is not subtracted comes first, if there is one."""
    (minus, total), *others = sorted(terms, key=lambda term: term[0])
    total = pt.neg(total) if minus else total
    for subtracted, v in others:
        total = pt.sub(total, v) if subtracted else pt.add(total, v)
    return total
