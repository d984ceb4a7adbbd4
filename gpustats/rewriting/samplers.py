"""Samplers rewritten so that a kernel draws many numbers together.

A sampler that takes one number from its stream becomes a function of that number, and one that rejects attempts becomes a
first attempt that may be given up: neighbouring draws then share random words, and no thread waits for the slowest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..language import nodes as lang
from ..language.names import unlike_others
from ..language.nodes import INT, REAL, RNG, VOID, Function

DRAW, ONCE = lang.Name("draw", REAL), lang.Name("once", INT)


def of_one_number(function: Function, functions: dict[str, Function]) -> tuple[str, Function] | None:
    """Kind of draw (``uniform``, ``normal`` or ``exponential``) and the sampler as a function of it, if it draws just one.

    Functions made on the way are added to `functions`.
    """
    calls = lang.draws(function)
    loops = [n for n in lang.walk(function) if isinstance(n, lang.For)]
    if len(calls) != 1 or function.type == VOID or any(lang.draws(loop) for loop in loops):
        return None
    (call,) = calls
    if call.function in lang.DRAWS.values():
        kind = next(name for name, function in lang.DRAWS.items() if function == call.function)
        value: lang.Expression = DRAW
    else:
        inner = of_one_number(functions[call.function], functions)
        if inner is None:
            return None
        kind, made = inner
        value = lang.Call(made.name, tuple(DRAW if a.type == RNG else a for a in call.arguments))

    def replaced(node: Any) -> Any:
        return value if node == call else lang.rebuild(node, replaced)

    parameters = tuple(lang.Parameter(DRAW.name, REAL) if p.type == RNG else p for p in function.parameters)
    name, body = f"{function.name}_of_{kind}", tuple(map(replaced, function.body))
    made = unlike_others(replace(function, name=name, parameters=parameters, body=body), functions.get)
    functions[made.name] = made
    return kind, made


def with_first_turn(function: Function, functions: dict[str, Function]) -> Function | None:
    """Sampler with one more argument, ``int once``, if it draws in loops.

    Where ``once`` is 1, the sampler gives up, with nan, when a loop would take a second turn or a condition called unlikely
    holds. So a kernel makes the first attempts at many draws together, and then all the draws that were put off. Functions
    made on the way are added to `functions`.
    """
    found = {c.function: made for c in lang.draws(function)
             if c.function in functions and (made := with_first_turn(functions[c.function], functions))}  # fmt: skip
    if not found and not any(isinstance(n, lang.For) and lang.draws(n) for n in lang.walk(function)):
        return None

    def call(node: Any) -> Any:
        node = lang.rebuild(node, call)
        if isinstance(node, lang.Call) and node.function in found:
            return replace(node, function=found[node.function].name, arguments=(*node.arguments, ONCE))
        return node

    def give_up(condition: lang.Expression) -> lang.Statement:
        return lang.If(lang.Binary("&&", ONCE, condition, INT), (lang.Return(lang.Name("NAN", REAL)),), ())

    def block(statements: tuple[lang.Statement, ...]) -> tuple[lang.Statement, ...]:
        return tuple(t for s in statements for t in turned(s))

    def turned(s: lang.Statement) -> list[lang.Statement]:
        if isinstance(s, lang.If):
            made = replace(s, condition=call(s.condition), then=block(s.then), otherwise=block(s.otherwise))
            rare = isinstance(s.condition, lang.Call) and s.condition.function == lang.UNLIKELY and not lang.draws(s.condition)
            return [give_up(made.condition), made] if rare else [made]
        if not isinstance(s, lang.For) or not lang.draws(s) or lang.draws(s.condition):  # it would be drawn once more
            return [call(s)]
        one, condition = lang.Number("1", INT), call(s.condition)
        turn = f"turn_{s.line}_{s.column}"
        more = lang.Binary("||", lang.Unary("!", ONCE, INT), lang.Unary("!", lang.Name(turn, INT), INT), INT)
        count = lang.Assign(turn, INT, one)
        body = (*block(s.body), *([s.step] if s.step else []))
        return [
            *([s.start] if s.start else []),
            lang.Declare(INT, turn, lang.Number("0", INT)),
            lang.For(None, lang.Binary("&&", more, condition, INT), count, body),
            give_up(condition),
        ]

    parameters = (*function.parameters, lang.Parameter(ONCE.name, INT))
    made = replace(function, name=f"{function.name}_turns", parameters=parameters, body=block(function.body))
    made = unlike_others(made, functions.get)
    functions[made.name] = made
    return made
