"""Transforms: a device function in, another device function out.

They compose, with one another and with every kernel shape, and take a user's functions as well as built-in ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import language as lang
from .device_function import Argument, Resolve, parse
from .language import Function

if TYPE_CHECKING:
    from .pointwise import Pointwise

_SCALAR_TESTS = {
    "positive": "{0} > 0",
    "nonnegative": "{0} >= 0",
    "unit": "{0} >= 0 && {0} <= 1",
    "integer": "{0} == floor({0}) && fabs({0}) < INFINITY",
}


def _test(words: frozenset[str], value: str) -> str:
    """A C condition that holds where `value` lies in the domain `words`, and never for nan."""
    if "simplex" in words:
        words = words | {"nonnegative"}
    tests = [test.format(value) for word, test in _SCALAR_TESTS.items() if word in words]
    return " && ".join(tests) or f"{value} == {value}"


def _check(argument: Argument, name: str, outside: str) -> str:
    """C statements that declare `bad_NAME`: 0 where the argument lies in its domain, else `outside`."""
    if not argument.rank:
        return f"    real bad_{name} = {_test(argument.words, name)} ? 0 : {outside};\n"
    element = f"{name}[i]"
    text = f"    real bad_{name} = 0;\n"
    if "ordered" in argument.words:
        text += (
            f"    for (int i = 1; i < dim; i++)\n        if (!(name[i - 1] < {element})) bad_{name} = {outside};\n"
        ).replace("name[i - 1]", f"{name}[i - 1]")
    text += f"    for (int i = 0; i < dim; i++)\n        if (!({_test(argument.words, element)})) bad_{name} = {outside};\n"
    if "simplex" in argument.words:
        text += (
            f"    real sum_{name} = 0;\n    for (int i = 0; i < dim; i++)\n        sum_{name} += {element};\n"
            f"    if (!(fabs(sum_{name} - 1) <= sqrt(EPSILON))) bad_{name} = {outside};\n"
        )
    return text


def derived(function: Function, suffix: str, body: str, resolve: Resolve) -> Function:
    """The function `<name>_<suffix>` with the arguments of `function` and the given body."""
    declared = ", ".join(
        f"{'const real *' if p.type == lang.VECTOR else p.type + ' '}{p.name}" for p in function.parameters
    )
    name = f"{function.name}_{suffix}"
    known = lambda called: function if called == function.name else resolve(called)  # noqa: E731
    return parse(f"real {name}({declared})\n{{\n{body}}}\n", known, name=function.name).functions[name]


def checked(function: Function, arguments: Sequence[Argument], resolve: Resolve) -> Function:
    """`function` with scipy.stats' rules around it.

    nan where a parameter lies outside its domain or the observation is nan, -inf where the observation does, else the
    function's value.

    Parameters
    ----------
    function : Function
        A log-density; the observation is its first parameter.
    arguments : sequence of Argument
        Their domains, in the order of the function's parameters (``dim`` left out).
    """
    names = [p.name for p in function.parameters if p.name != "dim"]
    call = f"{function.name}({', '.join(p.name for p in function.parameters)})"
    x, observation = names[0], arguments[0]
    body = ""
    for argument, name in zip(arguments[1:], names[1:], strict=True):
        body += _check(argument, name, "NAN")
    if observation.rank:
        body += _check(observation, x, "-INFINITY")
        body += f"    int nan_{x} = 0;\n    for (int i = 0; i < dim; i++)\n"
        body += f"        if ({x}[i] != {x}[i]) nan_{x} = 1;\n"
        body += f"    real outside = nan_{x} ? NAN : bad_{x};\n    int inside = bad_{x} == 0;\n"
    else:
        body += f"    real outside = {x} == {x} ? -INFINITY : NAN;\n    int inside = {_test(observation.words, x)};\n"
    bad = " + ".join(f"bad_{name}" for name in names[1:])
    value = call
    if all(p.type != lang.VECTOR for p in function.parameters):  # no branch: cheaper than one where threads run in lockstep
        body += f"    real value = {call};\n"
        value = "value"
    body += f"    return (inside ? {value} : outside){f' + ({bad})' if bad else ''};\n"
    return derived(function, "checked", body, resolve)


def Exp(inner: Pointwise) -> Pointwise:  # noqa: N802  transforms are named like the mathematics they stand for
    """exp of a function: the density of a log-density.

    Parameters
    ----------
    inner : Pointwise or Density
        A density's logarithm, or anything a transform made.

    Examples
    --------
    >>> import gpustats as gs
    >>> pdf = gs.transforms.Exp(gs.normal)
    >>> round(float(pdf(0.0, 0.0, 1.0)), 6)
    0.398942
    """
    return _pointwise(inner).map("exp", "exp({})")


def _pointwise(inner: Any) -> Pointwise:
    return getattr(inner, "log_density", inner)
