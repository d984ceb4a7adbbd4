"""A device function's own text, executed with mpmath's numbers: what it is worth where nothing is rounded, over- or underflows.

It tells rounding from formulas: what both have wrong, it does not see. Special functions count with their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath as mp
from references_functions import FUNCTIONS

from gpustats.language import nodes as lang
from gpustats.language.nodes import INT, REAL, Function
from gpustats.rewriting.derivative_rules import SPECIAL_PREFIX

STEPS = 200_000  # that a run may take
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "PI": lambda: +mp.pi, "LOG_2PI": lambda: mp.log(2 * mp.pi), "HALF_LOG_2PI": lambda: mp.log(2 * mp.pi) / 2,
    "LOG_2": lambda: mp.log(2), "LOG_PI": lambda: mp.log(mp.pi), "SQRT_2": lambda: mp.sqrt(2),
    "SQRT_PI": lambda: mp.sqrt(mp.pi), "SQRT_2_OVER_PI": lambda: mp.sqrt(2 / mp.pi), "EULER_GAMMA": lambda: +mp.euler,
    "EPSILON": lambda: mp.mpf(10) ** -25, "INFINITY": lambda: mp.inf, "NAN": lambda: mp.nan,
}  # fmt: skip
_TESTS = {"isnan": mp.isnan, "isinf": mp.isinf, "isfinite": mp.isfinite}


class Undecided(Exception):
    """Nothing can be said here."""


class _Returned(Exception):
    pass


def executed(function: Function, functions: Mapping[str, Function], arguments: list[Any]) -> Any:
    """The value of a function of numbers."""
    return _Run(functions).call(function, arguments)


class _Run:
    def __init__(self, functions: Mapping[str, Function]):
        self.functions, self.steps = functions, 0

    def call(self, function: Function, arguments: list[Any]) -> Any:
        scope: dict[str, Any] = {p.name: a for p, a in zip(function.parameters, arguments)}
        try:
            self.block(function.body, scope)
        except _Returned as returned:
            return returned.args[0]
        raise Undecided("a function without a result")

    def block(self, statements: tuple[Any, ...], scope: dict[str, Any]) -> None:
        for s in statements:
            self.statement(s, scope)

    def statement(self, s: Any, scope: dict[str, Any]) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise Undecided("too many steps")
        match s:
            case lang.Declare():
                scope[s.name] = mp.nan if s.value is None else self.value(s.value, scope)
            case lang.Assign():
                scope[s.name] = self.value(s.value, scope)
            case lang.If():
                self.block(s.then if self.value(s.condition, scope) else s.otherwise, scope)
            case lang.For():
                if s.start is not None:
                    self.statement(s.start, scope)
                while self.value(s.condition, scope):
                    self.block(s.body, scope)
                    self.steps += 1
                    if self.steps > STEPS:
                        raise Undecided("too many steps")
                    if s.step is not None:
                        self.statement(s.step, scope)
            case lang.Return():
                raise _Returned(self.value(s.value, scope))
            case _:
                raise Undecided(f"{type(s).__name__} is not executed")

    def value(self, e: Any, scope: dict[str, Any]) -> Any:
        match e:
            case lang.Number():
                return int(e.text) if e.type == INT else mp.mpf(e.text)
            case lang.Name():
                return _CONSTANTS[e.name]() if e.name in _CONSTANTS else scope[e.name]
            case lang.Unary(operator="!"):
                return int(not self.value(e.operand, scope))
            case lang.Unary():
                value = self.value(e.operand, scope)
                return -value if e.operator == "-" else value
            case lang.Binary(operator="&&"):
                return int(bool(self.value(e.left, scope)) and bool(self.value(e.right, scope)))
            case lang.Binary(operator="||"):
                return int(bool(self.value(e.left, scope)) or bool(self.value(e.right, scope)))
            case lang.Binary():
                return _binary(e.operator, self.value(e.left, scope), self.value(e.right, scope), e.type)
            case lang.Conditional():
                return self.value(e.then if self.value(e.condition, scope) else e.otherwise, scope)
            case lang.Cast():
                value = self.value(e.operand, scope)
                if e.type == REAL:
                    return mp.mpf(value)
                return 0 if mp.isnan(value) else int(min(max(value, -(2**31)), 2**31 - 1))
            case lang.Call():
                return self.called(e.function, [self.value(a, scope) for a in e.arguments])
        raise Undecided(f"{type(e).__name__} is not executed")

    def called(self, name: str, arguments: list[Any]) -> Any:
        if name in _TESTS:
            return int(_TESTS[name](arguments[0]))
        if name in (lang.LIKELY, lang.UNLIKELY):
            return arguments[0]
        if name == "ldexp":
            return mp.ldexp(arguments[0], int(arguments[1]))
        meaning = FUNCTIONS.get(name.removeprefix(SPECIAL_PREFIX))
        if meaning is not None and all(mp.isfinite(a) for a in arguments):
            try:
                found = meaning[0](*arguments)
                if not isinstance(found, mp.mpc):
                    return found
            except (ValueError, ZeroDivisionError, ArithmeticError):
                pass
        if name in self.functions:
            return self.call(self.functions[name], arguments)
        return _limit(name, arguments)


def _limit(name: str, arguments: list[Any]) -> Any:
    """Functions of C where mpmath has no value: at infinities and poles."""
    (x, *more) = arguments
    if any(mp.isnan(a) for a in arguments):
        return mp.nan
    if name in ("log", "log2", "log10"):
        return -mp.inf if x == 0 else mp.inf if x > 0 else mp.nan
    if name == "log1p":
        return -mp.inf if x == -1 else mp.inf if x > 0 else mp.nan
    if name in ("exp", "exp2"):
        return mp.inf if x > 0 else mp.mpf(0)
    if name == "expm1":
        return mp.inf if x > 0 else mp.mpf(-1)
    if name in ("sqrt", "floor", "ceil", "rint", "round", "trunc", "asinh", "sinh", "cbrt"):
        return x if name != "sqrt" or x >= 0 else mp.nan
    if name in ("fabs", "cosh"):
        return mp.inf
    if name in ("tanh", "erf"):
        return mp.sign(x)
    if name == "erfc":
        return 1 - mp.sign(x)
    if name == "atan":
        return mp.sign(x) * mp.pi / 2
    if name in ("fmin", "fmax"):
        return (min if name == "fmin" else max)(x, more[0])
    if name in ("lgamma", "tgamma"):
        return mp.inf
    if name == "fma":
        return x * more[0] + more[1]
    raise Undecided(f"{name} of {arguments}")


def _binary(operator: str, a: Any, b: Any, type: str) -> Any:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            if isinstance(a, int) and isinstance(b, int):
                return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            if b == 0:
                return mp.nan if a == 0 or mp.isnan(a) else mp.sign(a) * mp.inf
            return a / b
        case "%":
            return a - b * _binary("/", a, b, INT)
        case "<":
            return int(a < b)
        case ">":
            return int(a > b)
        case "<=":
            return int(a <= b)
        case ">=":
            return int(a >= b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
    raise Undecided(operator)
