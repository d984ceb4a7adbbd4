"""Variables declared without a value: none may be read before it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import nodes as lang
from .nodes import INT, REAL, Node, Statement

# What is known of a variable, from best to worst: it has a value; it has one if a loop ran; there is a way here without one.
_SET, _BY_LOOP, _UNSET = range(3)

_State = dict[str, int]


def with_values(body: tuple[Statement, ...], refuse: Callable[[lang.Name], NoReturn]) -> tuple[Statement, ...]:
    """Statements of a function in which every variable has a value when it is read.

    A variable that only a loop assigns to is nan, or 0 if an `int`, where the loop never runs. `refuse` gets any other that may
    have no value.
    """
    reader = _Reader(refuse)
    reader.block(body, {})
    return _given(body, reader.by_loop) if reader.by_loop else body


def _given(statements: tuple[Statement, ...], names: set[str]) -> tuple[Statement, ...]:
    """Statements with first values for the variables of some names."""

    def given(node: Any) -> Any:
        if isinstance(node, lang.Declare) and node.value is None and node.name in names:
            value = lang.Number("0", INT) if node.type == INT else lang.Name("NAN", REAL)
            return lang.Declare(node.type, node.name, value, line=node.line, column=node.column)
        return lang.rebuild(node, given) if isinstance(node, (lang.If, lang.For)) else node

    return tuple([given(s) for s in statements])


class _Reader:
    def __init__(self, refuse: Callable[[lang.Name], NoReturn]):
        self.refuse = refuse
        self.by_loop: set[str] = set()  # variables that are read where only a loop has set them

    def block(self, statements: Sequence[Statement], state: _State) -> _State | None:
        """State of the variables behind some statements, None where they do not end; `state` is that before them."""
        for s in statements:
            after = self.statement(s, state)
            if after is None:
                return None
            state = after
        return state

    def statement(self, s: Statement, state: _State) -> _State | None:
        match s:
            case lang.Declare() | lang.Assign():
                if s.value is not None:
                    self.read(s.value, state)
                if s.value is None:
                    return {**state, s.name: _UNSET}
                return {**state, s.name: _SET} if s.name in state else state
            case lang.If():
                self.read(s.condition, state)
                return _either(self.block(s.then, state), self.block(s.otherwise, state))
            case lang.For():
                if s.start is not None:
                    state = self.statement(s.start, state) or state
                self.read(s.condition, state)
                inside = self.block(s.body, state)
                if inside is not None and s.step is not None:
                    inside = self.statement(s.step, inside)
                ran = {n: _BY_LOOP for n, known in (inside or {}).items() if known != _UNSET and state.get(n) == _UNSET}
                return {**state, **ran}
            case lang.Return():
                self.read(s.value, state)
                return None
        self.read(s, state)
        return state

    def read(self, node: Node, state: _State) -> None:
        if all(known == _SET for known in state.values()):
            return
        for n in lang.walk(node):
            if not isinstance(n, lang.Name):
                continue
            if (known := state.get(n.name, _SET)) == _BY_LOOP:
                self.by_loop.add(n.name)
            elif known == _UNSET:
                self.refuse(n)


def _either(one: _State | None, other: _State | None) -> _State | None:
    """State of the variables where two branches join."""
    if one is None or other is None:
        return one if other is None else other
    return {n: max(one.get(n, _SET), other.get(n, _SET)) for n in {**one, **other}}
