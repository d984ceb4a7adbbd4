"""Loops as functions of their own: of the variables that they read, with those that they change as results."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..language import nodes as lang
from ..language.names import numbered_name
from ..language.nodes import INT, Assign, Call, Declare, Expression, For, Function, Name, Parameter, Return, Statement
from .turns import parts_of


def outlined(
    loop: For, known: Collection[str], types: Mapping[str, str], name: str
) -> tuple[Function, list[str], dict[str, tuple[str, ...]]]:
    """Function of a loop, the variables that it takes, and those that it changes, with the results that tell them.

    `known` are the variables that have a value before the loop; `types` has their types, and those of others around it.
    """
    nodes = list(lang.walk(loop))
    inner = {n.name for n in nodes if isinstance(n, Declare)}
    changed = list(dict.fromkeys(n.name for n in nodes if isinstance(n, Assign) and n.name not in inner))
    read = dict.fromkeys([*(n.name for n in nodes if isinstance(n, Name)), *changed])
    taken = [n for n in read if n in known]
    used, parameters, body = {*read, *inner}, list[Parameter](), list[Statement]()
    for n in taken:
        if n in changed:
            first = numbered_name(f"first_{n}", used, "_")
            used.add(first)
            body.append(Declare(types[n], n, Name(first, types[n])))
            parameters.append(Parameter(first, types[n]))
        else:
            parameters.append(Parameter(n, types[n]))
    body += [Declare(types[n], n, None) for n in changed if n not in known]
    results: dict[str, tuple[str, ...]] = {}
    values: list[Expression] = []
    for n in changed:
        if n in known:
            whole = types[n] == INT
            results[n] = (f"{n}_high", f"{n}_low") if whole else (n,)
            values += parts_of(Name(n, INT)) if whole else [Name(n, types[n])]
    made = Function(name, tuple(parameters), (), f"{name}_results", tuple(r for own in results.values() for r in own))
    end = Return(Call(made.maker, tuple(values), made.type))
    return Function(name, made.parameters, (*body, loop, end), made.type, made.results), taken, results
