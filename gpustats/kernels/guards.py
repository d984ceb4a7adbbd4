"""Guards: conditions under which statements are reached, and statements evaluated elsewhere under the same conditions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from ..language import nodes as lang
from ..language.nodes import INT, REAL, Expression, Statement

#: A condition that holds wherever a statement is reached; None where it is not a matter of one expression.
Guard = Expression | None


def negation(condition: Expression) -> Expression:
    if isinstance(condition, lang.Unary) and condition.operator == "!":
        return condition.operand
    return lang.Unary("!", condition, INT)


def beyond(s: Statement) -> tuple[Guard, ...]:
    """Guards that hold wherever the statement after `s` is reached; None stands for an unknown one."""
    if not any(isinstance(n, lang.Return) for n in lang.statements(s)):
        return ()
    if isinstance(s, lang.If):
        for block, other, condition in ((s.then, s.otherwise, negation(s.condition)), (s.otherwise, s.then, s.condition)):
            if _returns(block):
                return (condition, *(guard for inner in other for guard in beyond(inner)))
    return (None,)


def _returns(block: Sequence[Statement]) -> bool:
    """True if no way through `block` reaches its end."""
    if not block:
        return False
    last = block[-1]
    return isinstance(last, lang.Return) or (isinstance(last, lang.If) and _returns(last.then) and _returns(last.otherwise))


def guarded(s: Statement, guards: Sequence[Expression]) -> list[Statement]:
    """Statements that evaluate `s` only where all `guards` hold; variables are declared anyway."""
    if not guards:
        return [s]
    condition = functools.reduce(lambda a, b: lang.Binary("&&", a, b, INT), guards)
    if not isinstance(s, lang.Declare) or s.value is None:
        return [lang.If(condition, (s,), ())]
    return [replace(s, value=None), lang.If(condition, (lang.Assign(s.name, s.type, s.value),), ())]


def with_zero(s: Statement) -> Statement:
    """Statement `s`, with 0 for a number that is declared without a value; structs have zeros anyway."""
    if isinstance(s, lang.Declare) and s.value is None and s.type in (REAL, INT):
        return replace(s, value=lang.Number("0", INT))
    return s
