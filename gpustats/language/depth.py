"""Deep code, cut into pieces: rewriting goes down the trees of functions step by step, and so do compilers.

Parts of long expressions become variables, in the order in which they are evaluated anyway; chains of ``else if`` go on behind
a variable that tells whether none of their conditions held so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from . import nodes as lang
from .names import UnusedNames
from .nodes import INT, Expression, Node, Statement

#: How deep an expression may be; how many blocks may lie in one another; how many conditions a chain of ``else if`` may have.
LEVELS, BLOCKS, CHAIN = 64, 50, 25

_ZERO, _ONE = lang.Number("0", INT), lang.Number("1", INT)


def flat(body: tuple[Statement, ...], used: set[str], fail: Callable[[Node, str], NoReturn]) -> tuple[Statement, ...]:
    """Statements of a function, none of which is deep.

    `used` are the names that it uses; those of new variables are added. `fail` refuses what cannot be cut.
    """
    waiting: list[tuple[Node, int]] = [(s, 1) for s in body]
    while waiting:
        node, level = waiting.pop()
        if level > CHAIN:
            return tuple(_Cut(used, fail).block(body, 1))
        waiting += [(child, level + 1) for child in lang.children(node)]
    return body


class _Cut:
    """Cutter of deep statements, whose recursion is that of plain calls, which take none of the interpreter's own stack."""

    def __init__(self, used: set[str], fail: Callable[[Node, str], NoReturn]):
        self.fresh, self.fail = UnusedNames(used), fail

    # -- expressions

    def whole(self, e: Expression, ahead: list[Statement] | None) -> Expression:
        """Expression of a statement, cut to size, before which `ahead` is executed; None where nothing can be."""
        made: Expression = self.expression(e, ahead, False)[0]
        return made

    def expression(self, e: Any, ahead: list[Statement] | None, lazy: bool) -> tuple[Any, int]:
        """Expression cut to size, and its depth; `lazy`: a condition decides whether it is evaluated."""
        depth, new = 0, {}
        decides = isinstance(e, lang.Conditional) or (isinstance(e, lang.Binary) and e.operator in ("&&", "||"))
        for name, value in lang.fields_of(e):
            nodes = value if isinstance(value, tuple) else (value,)
            made = []
            for n in nodes:
                below = 0
                if isinstance(n, Node):
                    n, below = self.expression(n, ahead, lazy or (decides and depth > 0))
                made.append(n)
                depth = max(depth, below)
            if any([m is not n for m, n in zip(made, nodes, strict=True)]):
                new[name] = tuple(made) if isinstance(value, tuple) else made[0]
        e = replace(e, **new) if new else e
        if depth < LEVELS:
            return e, depth + 1
        if ahead is None or lang.draws(e) or (lazy and not _harmless(e)):
            self.fail(e, f"this expression is more than {LEVELS} levels deep: make parts of it variables")
        part = self.fresh("part")
        ahead.append(lang.Declare(e.type, part, e))
        return lang.Name(part, e.type, line=e.line, column=e.column), 1

    # -- statements

    def block(self, statements: Sequence[Statement], level: int) -> list[Statement]:
        found: list[Statement] = []
        for s in statements:
            found += self.statement(s, level)
        return found

    def statement(self, s: Statement, level: int) -> list[Statement]:
        if level > BLOCKS:
            self.fail(s, f"more than {BLOCKS} blocks lie in one another here: make some of them functions")
        ahead: list[Statement] = []
        match s:
            case lang.If():
                return self.chain(s, level)
            case lang.For():
                start = None if s.start is None else self.plain(s.start, ahead)
                step = None if s.step is None else self.plain(s.step, None)
                body = tuple(self.block(s.body, level + 1))
                return [*ahead, replace(s, start=start, condition=self.whole(s.condition, None), step=step, body=body)]
            case lang.Store():
                subscript = self.whole(s.subscript, ahead)
                return [*ahead, replace(s, subscript=subscript, value=self.whole(s.value, ahead))]
            case lang.Perform():
                return [replace(s, call=self.whole(s.call, ahead))]
        made = self.plain(s, ahead)
        return [*ahead, made]

    def plain(self, s: Any, ahead: list[Statement] | None) -> Any:
        return s if s.value is None else replace(s, value=self.whole(s.value, ahead))

    def chain(self, s: lang.If, level: int) -> list[Statement]:
        """Statements for an ``if`` and all that stand in its ``else``."""
        links = [s]
        while len(s.otherwise) == 1 and isinstance(s.otherwise[0], lang.If):
            links.append(s := s.otherwise[0])
        last = tuple(self.block(s.otherwise, level + 1))
        found: list[Statement] = []
        size = max(CHAIN // level, 2)  # deep within others, short
        before = ""  # the variable that tells whether no condition held so far
        for first in range(0, len(links), size):
            otherwise, at_end, going_on = last, first + size >= len(links), ""
            if not at_end:
                going_on = self.fresh("otherwise")
                found.insert(0, lang.Declare(INT, going_on, _ZERO))
                otherwise = (lang.Assign(going_on, INT, _ONE),)
            for link in reversed(links[first : first + size]):
                ahead: list[Statement] = []
                condition = self.whole(link.condition, ahead)
                then = tuple(self.block(link.then, level + 1))
                otherwise = (*ahead, replace(link, condition=condition, then=then, otherwise=otherwise))
            found += [lang.If(lang.Name(before, INT), otherwise, ())] if before else otherwise
            before = going_on
        return found


def _harmless(e: Expression) -> bool:
    """True if the expression `e` may be evaluated although a condition says no."""
    return all(not isinstance(n, lang.Call) or n.function in lang.MATH for n in lang.walk(e))
