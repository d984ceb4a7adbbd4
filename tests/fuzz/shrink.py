"""A program that fails is made smaller, for as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .interpreter import CONSTANTS
from .numbers import _CHOICES, _STEPS, _TESTS, FUNCTIONS
from .tree import (
    INT,
    REAL,
    VECTOR,
    Assign,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Element,
    Expression,
    For,
    Function,
    If,
    Literal,
    Program,
    Return,
    Variable,
    While,
    changed,
    sites,
    walk,
)

_STATEMENTS = (Declare, Assign, If, For, While, Block, Return)


def weight(node: Any) -> int:
    """What becomes smaller: literals weigh less than variables, these less than all else."""
    plain = {Literal: 1, Variable: 2}
    numbers = sum(n.text not in ("0", "1", "1.0") for n in walk(node) if isinstance(n, Literal))
    return sum(plain.get(type(n), 3) for n in walk(node)) + numbers


def shrunk(program: Program, fails: Callable[[Program], bool], seconds: float = 120) -> tuple[Program, int]:
    """The smallest program that was found in that time, and how many were tried."""
    end, tried, start = time.monotonic() + seconds, 0, 0
    seen = {program}
    while True:
        for number, candidate in enumerate(candidates(program)):
            if number < start or weight(candidate) >= weight(program) or candidate in seen or not valid(candidate):
                continue
            if time.monotonic() > end:
                return program, tried
            seen.add(candidate)
            tried += 1
            if fails(candidate):
                program, start = candidate, number  # what came before has been tried, on a larger program
                break
        else:
            if start == 0:
                return program, tried
            start = 0


# ---- smaller programs


def candidates(program: Program) -> Iterator[Program]:
    """Programs with a piece less, the largest pieces first; not all of them are valid."""
    for i in range(len(program.functions) - 1):
        yield replace(program, functions=(*program.functions[:i], *program.functions[i + 1 :]))
    for function in program.functions:
        for i in range(function is program.density, len(function.parameters)):
            yield _without_parameter(program, function, i)
    places = sorted(sites(program), key=lambda site: -weight(site[1]))
    for path, node in places:
        if isinstance(node, tuple) and node and isinstance(node[0], _STATEMENTS):
            for i, s in enumerate(node):
                for instead in ((), *_instead_of(s)):
                    yield changed(
                        program, path, lambda block, i=i, instead=instead: (*block[:i], *instead, *block[i + 1 :])
                    )
    for path, node in places:
        if isinstance(node, Expression):
            for smaller in _smaller(node):
                yield changed(program, path, lambda _, smaller=smaller: smaller)


def _instead_of(s: Any) -> Iterator[tuple]:
    """Statements that may stand for one of several parts."""
    match s:
        case If():
            yield s.then
            yield s.otherwise
            yield (replace(s, otherwise=()),)
        case For():
            yield (Declare(INT, s.name, s.start), *s.body)
        case While() | Block():
            yield s.body
        case Assign() if s.operator:
            yield (replace(s, operator=""),)


def _smaller(e: Any) -> Iterator[Any]:
    """Expressions that may stand for a larger one."""
    if e.type not in (REAL, INT) or isinstance(e, Literal) and e.text in ("0", "1", "1.0"):
        return
    yield from [Literal("0", INT), Literal("1", INT)] if e.type == INT else [Literal("1.0", REAL), Literal("0", INT)]
    for part in walk(e):
        if part is not e and getattr(part, "type", None) in (REAL, INT) and (e.type == REAL or part.type == INT):
            yield part
    match e:
        case Conditional(condition=condition, then=then):
            yield Conditional(condition, Literal("1.0", REAL), Literal("0.0", REAL), REAL) if then.type == REAL else e
        case Cast(operand=operand) if operand.type == e.type:
            yield operand
        case Element():
            yield replace(e, index=Literal("0", INT))


def _without_parameter(program: Program, function: Function, i: int) -> Program:
    """A parameter less, also in all calls."""
    kept = replace(function, parameters=(*function.parameters[:i], *function.parameters[i + 1 :]))
    program = replace(program, functions=tuple(kept if f is function else f for f in program.functions))
    while True:
        for path, node in sites(program):
            if (
                isinstance(node, Call)
                and node.function == function.name
                and len(node.arguments) == len(function.parameters)
            ):
                rest = (*node.arguments[:i], *node.arguments[i + 1 :])
                program = changed(program, path, lambda call, rest=rest: replace(call, arguments=rest))
                break
        else:
            return program


# ---- validity


def valid(program: Program) -> bool:
    """Whether every name is known where it is used, and every function returns."""
    known: dict[str, Function] = {}
    for f in program.functions:
        scope = {p.name: p.type for p in f.parameters} | ({"dim": INT} if f.of_vectors else {})
        if not _valid_block(f.body, [scope], known) or not (f.body and isinstance(f.body[-1], Return)):
            return False
        known[f.name] = f
    return len(program.density.parameters) > 0


def _valid_block(statements: tuple, scopes: list[dict[str, str]], known: dict[str, Function]) -> bool:
    scopes = [*scopes, {}]
    for s in statements:
        if isinstance(s, For):
            inside = [*scopes, {s.name: INT}]
            parts = _known_names((s.start,), scopes, known) and _known_names((s.condition, s.step), inside, known)
            if not parts or not _valid_block(s.body, inside, known):
                return False
            continue
        blocks = {If: ("then", "otherwise"), While: ("body",), Block: ("body",)}.get(type(s), ())
        heads = tuple(getattr(s, name) for name in ("condition", "value") if getattr(s, name, None) is not None)
        if not _known_names(heads, scopes, known) or (isinstance(s, Assign) and not _type_of(s.name, scopes) == s.type):
            return False
        if not all(_valid_block(getattr(s, name), scopes, known) for name in blocks):
            return False
        if isinstance(s, Declare):
            scopes[-1][s.name] = s.type
    return True


def _type_of(name: str, scopes: list[dict[str, str]]) -> str | None:
    return next((scope[name] for scope in reversed(scopes) if name in scope), None)


def _known_names(nodes: tuple, scopes: list[dict[str, str]], known: dict[str, Function]) -> bool:
    for n in walk(nodes):
        match n:
            case Variable() if n.name not in CONSTANTS and _type_of(n.name, scopes) != n.type:
                return False
            case Element() if _type_of(n.vector, scopes) != VECTOR:
                return False
            case Assign() if _type_of(n.name, scopes) != n.type:
                return False
            case Call() if n.function in known:
                needs_dim = known[n.function].of_vectors
                if _type_of(n.function, scopes) or (needs_dim and _type_of("dim", scopes) != INT):
                    return False
                if len(n.arguments) != len(known[n.function].parameters):
                    return False
            case Call() if n.function not in _OUTSIDE:
                return False
    return True


_OUTSIDE = frozenset({*FUNCTIONS, *_CHOICES, *_STEPS, *_TESTS, "fma", "abs"})
