"""Functions of sequences without some of the outputs that they write by step, and without what only these need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, NoReturn

from . import nodes as lang
from .liveness import names_in, needed
from .nodes import OUTPUT, RNG, Function, Name, Parameter, Statement, Store


def writing(function: Function, outputs: Collection[str]) -> Function:
    """Function that writes some of its outputs, and those that it reads for that or for its value.

    It has the name and the other parameters of `function`, but for a stream of random numbers that it does not draw from. What
    only other outputs need is not computed, and calls give no others.
    """
    left_out = {p.name for p in function.parameters if p.type == OUTPUT} - set(outputs)
    while True:
        body, _ = needed(_without(function.body, left_out), ())
        if not (read := left_out & (names := names_in(*body))):
            unused = left_out | {p.name for p in function.parameters if p.type == RNG} - names
            return replace(function, parameters=tuple(p for p in function.parameters if p.name not in unused), body=body)
        left_out -= read


def without_outputs(function: Function, refuse: Callable[[Parameter, str], NoReturn]) -> Function:
    """Function without its outputs. `refuse` gets a parameter that the value is made of, or that is no output."""
    stored = {s.array.name for s in lang.walk(function) if isinstance(s, Store)}
    given = (a for call in lang.walk(function) if isinstance(call, lang.Call) for a in call.arguments)
    stored |= {a.name for a in given if isinstance(a, Name)}
    if unused := [p for p in function.parameters if p.type == OUTPUT and p.name not in stored]:
        refuse(unused[0], f"nothing is written to {unused[0].written}: declare it `const real *{unused[0].written}`")
    made = writing(function, ())
    for p in made.parameters:
        if p.type == OUTPUT:
            refuse(p, f"the value is made of {p.written}, which is written by step: keep what it needs in variables")
        if p.type == RNG:
            refuse(p, f"the value is made of random numbers, {p.written}: only outputs by step may be")
    return made


def drawn(function: Function) -> list[str]:
    """Names, as its author wrote them, of the outputs of a function that are made of random numbers."""
    made = {p.name for p in function.parameters if p.type == RNG}
    before = None
    while made and before != made:  # whatever is assigned to a variable, and in whatever order
        before = set(made)
        _made_of(function.body, made, False)
    suspects = [p for p in function.parameters if p.type == OUTPUT and p.name in made]
    return [s.written for s in suspects if any(p.type == RNG for p in writing(function, [s.name]).parameters)]


def _made_of(statements: Iterable[Statement | None], names: set[str], under: bool) -> None:
    """Add to names the variables and the outputs that statements make of them; `under`: a condition is made of them."""
    for s in statements:
        match s:
            case lang.Declare() | lang.Assign() if under or names & names_in(s.value):
                names.add(s.name)
            case Store() if under or names & names_in(s.subscript, s.value):
                names.add(s.array.name)
            case lang.If():
                _made_of((*s.then, *s.otherwise), names, under or bool(names & names_in(s.condition)))
            case lang.For():
                _made_of((s.start, *s.body, s.step), names, under or bool(names & names_in(s.condition)))


def _without(statements: tuple[Statement, ...], outputs: set[str]) -> tuple[Statement, ...]:
    """Statements that write to some outputs no more."""

    def without(node: Any) -> Any:
        match node:
            case lang.Call() if any(map(is_left_out, node.arguments)):
                kept = [a for a in node.arguments if not is_left_out(a)]
                if all(a.type != OUTPUT for a in kept):
                    kept = [a for a in kept if a.type != RNG]
                node = replace(node, arguments=tuple(kept))
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
