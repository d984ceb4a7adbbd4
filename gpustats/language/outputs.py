"""Functions of sequences without some of the outputs that they write by step, and without what only these need."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from . import nodes as lang
from .liveness import names_in, needed
from .nodes import OUTPUT, Function, Name, Statement, Store


def writing(function: Function, outputs: Collection[str]) -> Function:
    """Function that writes some of its outputs, and those that it reads for that or for its value.

    It has the name and the other parameters of `function`. What only other outputs need is not computed, and calls give no
    others.
    """
    left_out = {p.name for p in function.parameters if p.type == OUTPUT} - set(outputs)
    while True:
        body, _ = needed(_without(function.body, left_out), ())
        if not (read := left_out & names_in(*body)):
            return replace(function, parameters=tuple(p for p in function.parameters if p.name not in left_out), body=body)
        left_out -= read


def _without(statements: tuple[Statement, ...], outputs: set[str]) -> tuple[Statement, ...]:
    """Statements that write to some outputs no more."""

    def without(node: Any) -> Any:
        match node:
            case lang.Call() if any(map(is_left_out, node.arguments)):
                node = replace(node, arguments=tuple(a for a in node.arguments if not is_left_out(a)))
            case lang.If():
                return replace(
                    node, condition=without(node.condition), then=_without(node.then, outputs),
                    otherwise=_without(node.otherwise, outputs),
                )  # fmt: skip
            case lang.For():
                return replace(lang.rebuild(replace(node, body=()), without), body=_without(node.body, outputs))
        return lang.rebuild(node, without)

    def is_left_out(e: lang.Node) -> bool:
        return isinstance(e, Name) and e.name in outputs

    return tuple(without(s) for s in statements if not (isinstance(s, Store) and is_left_out(s.array)))
