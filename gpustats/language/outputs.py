"""Functions of sequences without some of the outputs that they write by step, and without what only these need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from . import nodes as lang
from .nodes import OUTPUT, Assign, Declare, Expression, For, Function, If, Name, Node, Return, Statement, Store

Statements = tuple[Statement, ...]


def writing(function: Function, outputs: Collection[str]) -> Function:
    """Function that writes some of its outputs, and those that it reads for that or for its value.

    It has the name and the other parameters of `function`. What only other outputs need is not computed, and calls give no
    others.
    """
    left_out = {p.name for p in function.parameters if p.type == OUTPUT} - set(outputs)
    while True:
        live = _Live(left_out)
        body, _ = live.block(function.body, set())
        if not live.read:
            return replace(function, parameters=tuple(p for p in function.parameters if p.name not in left_out), body=body)
        left_out -= live.read


class _Live:
    """Finder of the statements that matter, which goes through a function from its end.

    A state is the set of the variables whose values are needed behind a place.
    """

    def __init__(self, left_out: set[str]):
        self.left_out = left_out
        self.read: set[str] = set()  # those of `left_out` that statements which matter read
        self.assigned: set[str] = set()  # variables, by such statements

    def block(self, statements: Sequence[Statement], live: set[str]) -> tuple[Statements, set[str]]:
        """Statements that matter, where `live` is needed behind them, and what is needed before them."""
        found: list[Statement] = []
        for s in reversed(statements):
            its, live = self.statement(s, live)
            found = [*its, *found]
        return tuple(found), live

    def statement(self, s: Statement, live: set[str]) -> tuple[Statements, set[str]]:
        match s:
            case Store() if s.array.name in self.left_out:
                return (), live
            case Declare() | Assign():
                return self.variable(s, live)
            case If():
                (then, before), (otherwise, other) = (self.block(side, live) for side in (s.then, s.otherwise))
                if not then and not otherwise:
                    return (), live
                condition = self.without(s.condition)
                return (replace(s, condition=condition, then=then, otherwise=otherwise),), before | other | _names(condition)
            case For():
                return self.loop(s, live)
        made = self.without(s)
        return (made,), (set() if isinstance(s, Return) else live) | _names(made)

    def variable(self, s: Declare | Assign, live: set[str]) -> tuple[Statements, set[str]]:
        if s.name in live and s.value is not None:
            self.assigned.add(s.name)
            made = self.without(s)
            return (made,), (live - {s.name}) | _names(made.value)
        if isinstance(s, Declare) and (s.name in live or s.name in self.assigned):
            return (replace(s, value=None),), live - {s.name}
        return (), live

    def loop(self, s: For, live: set[str]) -> tuple[Statements, set[str]]:
        inside = set(live)
        if not any(self.turn(s, inside)[:2]):
            return self.statement(s.start, live) if isinstance(s.start, Assign) else ((), live)
        condition = self.without(s.condition)
        while True:  # what a turn needs, the turn before has to leave
            body, step, before = self.turn(s, inside | _names(condition))
            if before | _names(condition) <= inside:
                break
            inside |= before | _names(condition)
        start: Any
        start, before = self.statement(s.start, inside) if s.start is not None else ((), inside)
        made = replace(s, start=next(iter(start), None), condition=condition, step=next(iter(step), None), body=body)
        return (made,), before

    def turn(self, s: For, live: set[str]) -> tuple[Statements, tuple[Any, ...], set[str]]:
        """Statements of the body and of the step that matter, and what is needed before them."""
        step, live = self.statement(s.step, live) if s.step is not None else ((), live)
        body, live = self.block(s.body, live)
        return body, step, live

    def without(self, node: Any) -> Any:
        """Node of a statement that matters: its calls get none of the outputs that are left out."""
        if isinstance(node, lang.Call) and any(map(self.is_left_out, node.arguments)):
            node = replace(node, arguments=tuple(a for a in node.arguments if not self.is_left_out(a)))
        if isinstance(node, Name) and self.is_left_out(node):
            self.read.add(node.name)
        return lang.rebuild(node, self.without)

    def is_left_out(self, e: Expression) -> bool:
        return isinstance(e, Name) and e.type == OUTPUT and e.name in self.left_out


def _names(node: Node | None) -> set[str]:
    return set() if node is None else {n.name for n in lang.walk(node) if isinstance(n, Name)}
