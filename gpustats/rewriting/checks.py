"""Rules of scipy.stats around device functions: nan for bad parameters, -inf outside the support.

A density or a distribution function, as its author wrote it, sees only arguments that lie in their domains.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from ..language import nodes as lang
from ..language.derived import call_of, derived
from ..language.device_function import Argument
from ..language.domains import domains_of
from ..language.nodes import Function, Resolve
from .termination import Termination


def inside(words: Iterable[str], value: str) -> str:
    """Condition, in C, that holds where the number `value` lies in the domain `words`, and never for nan."""
    tests = dict.fromkeys(domain.c.format(value) for domain in domains_of(words) if domain.c)
    return " && ".join(tests) or f"{value} == {value}"


def _check(argument: Argument, name: str, own: str, outside: str, tolerance: str = "fmax(sqrt(EPSILON), 1e-5)") -> str:
    """Statements, in C, that declare `own` + `bad_NAME`: 0 where the argument lies in its domain, else `outside`.

    A simplex sums to one within `tolerance`, by default at least that of PyMC: it may have been made in float32.
    """
    bad = f"{own}bad_{name}"
    if not argument.rank:
        return f"    real {bad} = {inside(argument.words, name)} ? 0 : {outside};\n"
    test = inside(argument.words, f"{name}[{own}i]")
    return f"    real {bad} = 0;\n" + "".join(
        domain.c_whole.format(x=name, own=own, bad=bad, outside=outside, inside=test, tolerance=tolerance)
        for domain in domains_of({"vector", *argument.words})
    )


def own_prefix(names: Sequence[str]) -> str:
    """Prefix of a wrapper's own variables, so that none hides an argument."""
    own = ""
    while any(re.match(f"{own}(bad_|nan_|sum_|(i|at|inside|outside|value)$)", name) for name in names):
        own += "own_"
    return own


def says_nan(function: Function) -> bool:
    """True if the function itself gives nan somewhere, rather than a function that it calls."""
    return any(isinstance(n, lang.Name) and n.name == "NAN" for s in function.body for n in lang.walk(s))


def refuses(function: Function, resolve: Resolve) -> bool:
    """True if an author's text gives nan somewhere: for parameters that do not go together."""
    called = (resolve(n) for n in lang.called(function) if not n.startswith("special_"))
    own = says_nan(function) and not re.search("_checked_*$", function.name)
    return own or any(refuses(f, resolve) for f in called if f is not None)


def checked(
    function: Function, arguments: Sequence[Argument], resolve: Resolve, outside: str = "-INFINITY",
    unchecked: Collection[str] = (),
) -> Function:  # fmt: skip
    """Function with scipy.stats' rules around `function`, of an observation, its first parameter, and parameters.

    nan where a parameter lies outside its domain, where parameters do not go together, or the observation is nan; `outside`,
    in C, where the observation lies outside its domain, nan for functions that have no observation; else the function's value.
    `arguments` have the domains, in the order of the function's parameters (``dim`` left out); those in `unchecked` are taken
    as they are.
    """
    names = [p.name for p in function.parameters if p.name != "dim" and p.type not in (lang.OUTPUT, lang.RNG)]
    call = call_of(function)
    x, observation = names[0], arguments[0]
    own = own_prefix([p.name for p in function.parameters])
    body = ""
    for argument, name in zip(arguments[1:], names[1:], strict=True):
        body += _check(argument, name, own, "NAN") if argument.name not in unchecked else f"    real {own}bad_{name} = 0;\n"
    if observation.rank and observation.name not in unchecked:
        body += _check(observation, x, own, outside)
        body += f"    int {own}nan_{x} = 0;\n    for (int {own}i = 0; {own}i < dim; {own}i++)\n"
        body += f"        if ({x}[{own}i] != {x}[{own}i]) {own}nan_{x} = 1;\n"
        body += f"    real {own}outside = {own}nan_{x} ? NAN : {own}bad_{x};\n"
        body += f"    int {own}inside = likely({own}bad_{x} == 0);\n"
    elif observation.name not in unchecked:
        body += f"    real {own}outside = {x} == {x} ? {outside} : NAN;\n"
        body += f"    int {own}inside = likely({inside(observation.words, x)});\n"
    bad = " + ".join(f"{own}bad_{name}" for name in names[1:])
    scalar = all(p.type != lang.VECTOR for p in function.parameters)
    within = call_of(function, {x: f"({own}inside ? {x} : 1)"})  # every domain has a 1
    where = f"{own}inside"
    if scalar and observation.words != {"real"} and refuses(function, resolve):  # parameters are wrong wherever x is
        call, where = within, f"({own}inside || {own}value != {own}value)"
    writes = any(p.type == lang.OUTPUT for p in function.parameters)
    if writes or not Termination(resolve).is_certain(*function.body):  # outside of its domains it may have no end
        good = " && ".join(f"{own}bad_{name} == 0" for name in names[1:])
        body += f"    if (!({good})) return NAN;\n" if good else ""
        call = within if scalar else call
    if scalar:  # no branch: cheaper than one where threads run in lockstep
        body += f"    real {own}value = {call};\n"
    value = f"{own}value" if scalar else call
    value = value if observation.name in unchecked else f"({where} ? {value} : {own}outside)"
    body += f"    return {value}{f' + ({bad})' if bad else ''};\n"
    return derived(function, "checked", body, resolve)


def checked_sampler(function: Function, arguments: Sequence[Argument], resolve: Resolve) -> Function:
    """Sampler that gives nan where a parameter lies outside its domain; `arguments` are in the order of the parameters."""
    unchecked = {lang.RNG, lang.OUTPUT}
    names = [p.name for p in function.parameters if p.type not in unchecked and p.name != "dim"]
    call = call_of(function)
    own = own_prefix([p.name for p in function.parameters])
    # That of float32: whole numbers are drawn in float64, whatever the type of the probabilities.
    body = "".join(_check(argument, name, own, "NAN", "3.5e-4") for argument, name in zip(arguments, names, strict=True))
    good = " && ".join(f"{own}bad_{name} == 0" for name in names) or "1"
    if function.type == lang.VOID:
        vector = next(p.name for p in function.parameters if p.type == lang.OUTPUT)
        body += f"    if ({good}) {call};\n    else for (int {own}i = 0; {own}i < dim; {own}i++) {vector}[{own}i] = NAN;\n"
    else:
        body += f"    if (!({good})) return NAN;\n    return {call};\n"
    return derived(function, "checked", body, resolve)
