"""Whole numbers in device functions: numbers written out, and indices that stay within their vectors.

A vector has `dim` elements, and behind them lies the memory of others. So an index that is not plainly one of 0 … dim - 1, as
the variable of a loop over the elements is, becomes the nearest of these.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from . import nodes as lang
from .nodes import INT, REAL, Expression, Function, Node, Statement

#: The largest `int`.
LARGEST_INT = (1 << 31) - 1

#: Whether what is read outside of a vector is nan, so that mistakes show: by the environment's ``GPUSTATS_CHECK_INDICES``.
CHECKS_INDICES = os.environ.get("GPUSTATS_CHECK_INDICES", "0") not in ("", "0")

_DIM = lang.Name("dim", INT)
#: The place of a vector's last element.
LAST_INDEX = lang.Binary("-", _DIM, lang.Number("1", INT), INT)
_BOUNDING = ("min", "max")  # of whole numbers: functions that users do not have
_SMALL_INT = 1 << 16  # steps and first values of loops that cannot wrap around

N = TypeVar("N", bound=Node)


def written_out(e: Expression) -> int | None:
    """Value of a whole number that consists of literals, None for a computed number."""
    if e.type != INT:
        return None
    match e:
        case lang.Number():
            return int(e.text)
        case lang.Unary(operator="-"):
            operand = written_out(e.operand)
            return None if operand is None else -operand
        case lang.Binary(operator="+" | "-" | "*"):
            left, right = written_out(e.left), written_out(e.right)
            if left is not None and right is not None:
                return left + right if e.operator == "+" else left - right if e.operator == "-" else left * right
    return None


def within_bounds(statements: tuple[Statement, ...], helper: bool) -> tuple[Statement, ...]:
    """Statements of a function with every index in 0 … dim - 1; `helper`: others may tell it a `dim` of 0."""
    return tuple(_bounded(s, frozenset(), helper) for s in statements)


def _bounded(node: N, safe: frozenset[str], helper: bool) -> N:
    """Copy of `node` with every index in bounds, where the variables in `safe` are."""
    if isinstance(node, lang.For):
        head = lang.rebuild(replace(node, body=()), lambda child: _bounded(child, safe, helper))
        inside = safe | {name} if (name := _element(node, safe)) else safe
        return replace(head, body=tuple(_bounded(s, inside, helper) for s in node.body))
    node = lang.rebuild(node, lambda child: _bounded(child, safe, helper))
    if isinstance(node, (lang.Index, lang.Store)):
        e = node.subscript
        if not _inside(e, safe) or (helper and e == LAST_INDEX):
            bounded = _between(0, e, _at_least(0, LAST_INDEX) if helper else LAST_INDEX)
            if isinstance(node, lang.Store):
                return replace(node, subscript=bounded, value=nan_unless(e, bounded, node.value))
            return nan_unless(e, bounded, replace(node, subscript=bounded))  # type: ignore[return-value]
    return node


def nan_unless(e: Expression, bounded: Expression, value: Expression) -> Expression:
    """Expression `value`, or nan in the search of mistakes where the index or the length `e` had to be bounded."""
    if not CHECKS_INDICES or e == bounded or value.type != REAL or lang.draws(e):
        return value
    if any(isinstance(n, lang.Index) for n in lang.walk(e)):  # written twice at each level, it would grow without end
        return value
    return lang.Conditional(lang.Binary("==", e, bounded, INT), value, lang.Name("NAN", REAL), REAL)


def not_plain(function: Function) -> Iterator[tuple[int, int, str]]:
    """Line, column and name of each index and length of a function that is not plainly within its vector."""
    for statement in function.body:
        for node in lang.walk(statement):
            if isinstance(node, (lang.Index, lang.Store)) and _is_bounded(node.subscript):
                yield node.line, node.column, f"the index of {node.array.name}"
            elif isinstance(node, lang.Call) and node.function not in _BOUNDING and any(map(_is_bounded, node.arguments)):
                yield node.line, node.column, f"the length told to {node.function}"


def _is_bounded(e: Expression) -> bool:
    return isinstance(e, lang.Call) and e.function in _BOUNDING


def length(e: Expression, least: int, helper: bool) -> Expression:
    """Length `e` that a function, perhaps a helper, tells another of its vectors: at least `least`, at most its own."""
    return e if e == _DIM else _between(least, e, _at_least(least, _DIM) if helper and least else _DIM)


def without_bounds(e: Expression) -> Expression:
    """Index or length before it was bounded by the length of vectors."""
    match e:
        case lang.Call(function="min", arguments=(lang.Call(function="max", arguments=(own, _)), last)) if _mentions_dim(last):
            return own
    return e


def _mentions_dim(e: Expression) -> bool:
    return any(n == _DIM for n in lang.walk(e))


def _between(first: int, e: Expression, last: Expression) -> Expression:
    """Number nearest to `e` in `first` … `last`.

    The order of the two comparisons matters: NVIDIA's assembler (CUDA 13.0, Hopper) takes max(min(e, last), 0) == last for
    false where it is true.
    """
    return last if last == _at_least(first, e) else lang.Call("min", (_at_least(first, e), last), INT)


def _at_least(first: int, e: Expression) -> Expression:
    return lang.Call("max", (e, lang.Number(str(first), INT)), INT)


def _inside(e: Expression, safe: frozenset[str]) -> bool:
    """True if the index `e` plainly lies in 0 … dim - 1."""
    return written_out(e) == 0 or e == LAST_INDEX or (isinstance(e, lang.Name) and e.name in safe)


def _element(loop: lang.For, safe: frozenset[str]) -> str:
    """Variable of a loop that goes through elements of a vector, up or down; else nothing."""
    start, step = loop.start, loop.step
    if start is None or step is None or start.value is None or start.name != step.name or start.type != INT:
        return ""
    name = start.name
    changed = [s.name for s in lang.written(*loop.body)]
    value = step.value
    if name in changed or not isinstance(value, lang.Binary) or value.left != lang.Name(name, INT):
        return ""
    by = written_out(value.right)
    if by is None or not 0 < by <= _SMALL_INT:
        return ""
    conditions = conjuncts(loop.condition)
    if value.operator == "+" and _nonnegative(start.value, safe):
        return name if any(_below_dim(c, name, safe) for c in conditions) else ""
    if value.operator == "-" and _inside(start.value, safe):
        return name if any(_from_zero(c, name) for c in conditions) else ""
    return ""


def elements(loop: lang.For) -> tuple[int, int] | None:
    """Elements that a loop leaves out, before its first and behind its last one; None for loops that do other than count them.

    It goes from one element of the vectors to the next: ``for (int t = 0; t < dim; t++)``.
    """
    start, condition, left_out = loop.start, loop.condition, 0
    if not (isinstance(start, lang.Declare) and isinstance(start.value, lang.Number) and isinstance(condition, lang.Binary)):
        return None
    here, limit = lang.Name(start.name, INT), condition.right
    if isinstance(limit, lang.Binary) and limit.operator == "-" and isinstance(limit.right, lang.Number) and limit.type == INT:
        left_out, limit = int(limit.right.text), limit.left
    next_one = lang.Assign(here.name, INT, lang.Binary("+", here, lang.Number("1", INT), INT))
    changed = any(isinstance(s, lang.Assign) and s.name == here.name for s in lang.written(*loop.body))
    if changed or limit != _DIM or condition.operator != "<" or condition.left != here or loop.step != next_one:
        return None
    return int(start.value.text), left_out


def counted(loop: lang.For) -> bool:
    """True if a loop plainly takes few turns: one for each element of a vector, or some tens of thousands."""
    each_turn = [s for s in (loop.step, *loop.body) if isinstance(s, lang.Assign)]
    changed = lang.written(*(s for s in (loop.step, *loop.body) if s))
    for condition in conjuncts(loop.condition):
        if isinstance(condition, lang.Binary) and isinstance(condition.left, lang.Name) and condition.left.type == INT:
            name, few = condition.left.name, _is_few(condition.right)
            by = {"<": "+", "<=": "+", ">": "-", ">=": "-"}.get(condition.operator)
            of_name = [s for s in changed if s.name == name]
            if few and by and of_name and all(s in each_turn and _moves(s, by) for s in of_name):
                return True
    return False


def _is_few(e: Expression) -> bool:
    """True if a whole number is plainly small, or of the order of the length of the vectors."""
    match e:
        case lang.Name() | lang.Field():
            return e.name == "dim"
        case lang.Binary(type="int", operator="+" | "-"):
            return _is_few(e.left) and _is_few(e.right)
        case lang.Call(function="min"):
            return any(map(_is_few, e.arguments))
        case lang.Call(function="max"):
            return all(map(_is_few, e.arguments))
    number = written_out(e)
    return number is not None and abs(number) <= _SMALL_INT


def _moves(s: Node, by: str) -> bool:
    """True if a statement adds (or subtracts, as `by` says) a positive whole number to its variable."""
    if not isinstance(s, lang.Assign) or not isinstance(s.value, lang.Binary) or s.value.left != lang.Name(s.name, INT):
        return False
    return s.value.operator == by and 0 < (written_out(s.value.right) or 0) <= _SMALL_INT


def conjuncts(condition: Expression) -> list[Expression]:
    """Conditions whose conjunction a condition is."""
    if isinstance(condition, lang.Binary) and condition.operator == "&&":
        return conjuncts(condition.left) + conjuncts(condition.right)
    return [condition]


def _nonnegative(e: Expression, safe: frozenset[str]) -> bool:
    if isinstance(e, lang.Binary) and e.operator == "+":
        return _nonnegative(e.left, safe) and _nonnegative(e.right, safe)
    number = written_out(e)
    return 0 <= number <= _SMALL_INT if number is not None else isinstance(e, lang.Name) and e.name in safe


def _below_dim(condition: Expression, name: str, safe: frozenset[str]) -> bool:
    """True if a condition keeps a variable below `dim`."""
    if not isinstance(condition, lang.Binary) or condition.left != lang.Name(name, INT):
        return False
    limit = condition.right
    return (condition.operator == "<" and (limit == _DIM or _inside(limit, safe))) or (
        condition.operator == "<=" and _inside(limit, safe)
    )


def _from_zero(condition: Expression, name: str) -> bool:
    """True if a condition keeps a variable at 0 or above."""
    if not isinstance(condition, lang.Binary) or condition.left != lang.Name(name, INT):
        return False
    limit, least = written_out(condition.right), {">": -1, ">=": 0}.get(condition.operator)
    return limit is not None and least is not None and limit >= least
