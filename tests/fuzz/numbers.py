"""Numbers with derivatives, and with as much noise in each operation as tells how far rounding may carry a result.

A result without noise is what is expected. The same computation with noise, several times, shows its condition, and whether
a branch, a cut off fraction or the side of a kink hangs on rounding: then it decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from scipy import special

NOISE = 64  # in units of rounding
LEAST, LARGEST = -(2**31), 2**31 - 1  # of `int`


class Undefined(Exception):
    """What C leaves open, such as a function without a result: nothing is expected."""


class Endless(Undefined):
    """A computation that takes too long to be waited for."""


@dataclass(frozen=True)
class Dual:
    """A `real`: its value, and its derivatives in all directions, none where nothing varies."""

    value: float
    slopes: tuple[float, ...] | None = None


Number = Dual | int


@dataclass
class Arithmetic:
    """One run of a program at one point.

    Attributes
    ----------
    dtype : {"float64", "float32"}
    noise : Random, optional
        Where each operation on reals is off by some units of rounding.
    decisions : list
        What hung on values: branches, sides of kinks, fractions that were cut off.
    out_of_range, rough : bool
        Whether a number was too large or too small to be one of `dtype`, or for the formula of a derivative.
    """

    dtype: str = "float64"
    noise: Random | None = None
    decisions: list[Any] = field(default_factory=list)
    out_of_range: bool = False
    rough: bool = False

    def __post_init__(self) -> None:
        single = self.dtype == "float32"
        self.unit = 2.0**-24 if single else 2.0**-53
        self.largest, self.comfortable = (1e36, 1e9) if single else (1e300, 1e75)

    def literal(self, text: str) -> Dual:
        return Dual(float(np.float32(text)) if self.dtype == "float32" else float(text))

    def constant(self, value: float) -> Dual:
        return Dual(self.off(value) if math.isfinite(value) else value)

    def off(self, value: float) -> float:
        """`value`, off by the noise."""
        if self.noise is None or value == 0 or not math.isfinite(value):
            return value
        return value * (1 + NOISE * self.unit * self.noise.uniform(-1, 1))

    def decide(self, decision: Any) -> Any:
        self.decisions.append(decision)
        return decision

    def result(self, value: float, *terms: tuple[float | Callable[[], float], Dual], exact: bool = False) -> Dual:
        """A result, from its value and its partial derivative in each argument that has derivatives."""
        magnitude = abs(value)
        if math.isfinite(value) and magnitude and not 1 / self.largest < magnitude < self.largest:
            self.out_of_range = True
        if magnitude and not 1 / self.comfortable < magnitude < self.comfortable:
            self.rough = True
        slopes: list[float] | None = None
        for partial, argument in terms:
            factor = partial() if callable(partial) else partial
            if not math.isfinite(factor) or abs(factor) > self.comfortable:
                self.rough = True  # also where nothing varies: a compiler may count with slopes of 0
            if argument.slopes is None:
                continue
            factor = factor if exact else self.off(factor)
            own = [factor * s if s else 0.0 for s in argument.slopes]
            slopes = own if slopes is None else [a + b for a, b in zip(slopes, own)]
        return Dual(value if exact else self.off(value), None if slopes is None else tuple(slopes))

    # -- operators

    def real(self, a: Number) -> Dual:
        return a if isinstance(a, Dual) else Dual(float(np.float32(a)) if self.dtype == "float32" else float(a))

    def binary(self, operator: str, a: Number, b: Number) -> Number:
        if not isinstance(a, Dual) and not isinstance(b, Dual):
            return whole(operator, a, b)
        if operator in _COMPARE:
            return int(self.decide(_COMPARE[operator](self.real(a).value, self.real(b).value)))
        return self.of_reals(operator, self.real(a), self.real(b))

    def of_reals(self, operator: str, a: Dual, b: Dual) -> Dual:
        x, y = a.value, b.value
        # Sums and products of small whole numbers, and with 0 and 1, have no error.
        exact = operator != "/" and abs(x) < 1e6 and abs(y) < 1e6 and x == int(x) and y == int(y)
        match operator:
            case "+":
                return self.result(x + y, (1.0, a), (1.0, b), exact=exact)
            case "-":
                return self.result(x - y, (1.0, a), (-1.0, b), exact=exact)
            case "*":
                return self.result(x * y, (y, a), (x, b), exact=exact)
            case "/":
                value = _divided(x, y)
                return self.result(value, (_divided(1.0, y), a), (-_divided(value, y), b))
        raise AssertionError(operator)

    def negative(self, a: Number) -> Number:
        if isinstance(a, Dual):
            return self.result(-a.value, (-1.0, a), exact=True)
        return whole("-", 0, a)

    def truth(self, a: Number) -> bool:
        """Of a condition."""
        return bool(self.decide(a.value != 0)) if isinstance(a, Dual) else a != 0

    def cut(self, a: Number) -> int:
        """``(int)a``: of nan 0, of what is too large the nearest."""
        if not isinstance(a, Dual):
            return a
        return int(self.decide(0 if math.isnan(a.value) else math.trunc(min(max(a.value, LEAST), LARGEST))))

    # -- functions

    def call(self, name: str, arguments: Sequence[Number]) -> Number:
        if name == "abs":
            (whole_number,) = arguments
            assert isinstance(whole_number, int)
            return whole_number if whole_number >= 0 else whole("-", 0, whole_number)
        if name in _TESTS:
            return int(self.decide(_TESTS[name](self.real(arguments[0]).value)))
        reals = [self.real(a) for a in arguments]
        values = [a.value for a in reals]
        if name in _CHOICES:
            return self.choice(name, reals)
        if name in _STEPS:
            x = values[0]
            step = float(self.decide(_STEPS[name](x))) if math.isfinite(x) else x
            return Dual(step if step else math.copysign(step, x))
        if name == "fma":
            a, b, c = reals
            return self.of_reals("+", self.of_reals("*", a, b), c)
        function, *partials = FUNCTIONS[name]
        if name in _OF_POSITIVE and values[0] <= 0:
            raise Undefined(f"{name} of what is not positive")
        near = [self.off(v) for v in values]
        terms = [(lambda p=p: _quiet(p, *near), a) for p, a in zip(partials, reals)]
        return self.result(_quiet(function, *near), *terms)

    def choice(self, name: str, reals: list[Dual]) -> Dual:
        """Functions that give one of their arguments, or its opposite."""
        a, b = reals[0], reals[-1]
        x, y = a.value, b.value
        match name:
            case "fabs":
                sign = self.decide((x > 0) - (x < 0))
                return self.result(abs(x), (float(sign), a), exact=True)
            case "fmax":
                return a if self.decide(x > y or y != y) else b
            case "fmin":
                return a if self.decide(x <= y or y != y) else b
            case "fdim":
                return self.of_reals("-", a, b) if self.decide(x > y) else Dual(math.nan if x != x or y != y else 0.0)
            case "copysign":
                same = self.decide((x < 0) == (math.copysign(1, y) < 0))
                return self.result(math.copysign(x, y), (1.0 if same else -1.0, a), exact=True)
        raise AssertionError(name)


def whole(operator: str, a: int, b: int) -> int:
    """An operation on `int`."""
    if operator in _COMPARE:
        return int(_COMPARE[operator](a, b))
    if operator in "/%":
        quotient = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # what is divided by 0 gives 0
        value = quotient if operator == "/" else a - b * quotient
    else:
        value = a + b if operator == "+" else a - b if operator == "-" else a * b
    return (value - LEAST) % 2**32 + LEAST  # beyond its ends it wraps around


def _divided(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def _quiet(f: Callable[..., Any], *arguments: float) -> float:
    with np.errstate(all="ignore"):
        return float(f(*map(np.float64, arguments)))


def _round(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_TESTS = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}
_OF_POSITIVE = {"digamma", "log_gamma"}  # their formulas hold there
_CHOICES = {"fabs", "fmax", "fmin", "fdim", "copysign"}
_STEPS = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round, "round": _round}

#: Function, and its partial derivative in each argument.
FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "acos": (np.arccos, lambda x: -1 / np.sqrt(1 - x * x)),
    "acosh": (np.arccosh, lambda x: 1 / np.sqrt(x * x - 1)),
    "asin": (np.arcsin, lambda x: 1 / np.sqrt(1 - x * x)),
    "asinh": (np.arcsinh, lambda x: 1 / np.sqrt(1 + x * x)),
    "atan": (np.arctan, lambda x: 1 / (1 + x * x)),
    "atan2": (np.arctan2, lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    "atanh": (np.arctanh, lambda x: 1 / (1 - x * x)),
    "cbrt": (np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "cosh": (np.cosh, np.sinh),
    "erf": (special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "erfc": (special.erfc, lambda x: -2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "exp": (np.exp, np.exp),
    "exp2": (np.exp2, lambda x: np.log(2) * np.exp2(x)),
    "expm1": (np.expm1, np.exp),
    "hypot": (np.hypot, lambda x, y: x / np.hypot(x, y), lambda x, y: y / np.hypot(x, y)),
    "lgamma": (special.gammaln, special.digamma),
    "log": (np.log, lambda x: 1 / x),
    "log10": (np.log10, lambda x: 1 / (x * np.log(10))),
    "log1p": (np.log1p, lambda x: 1 / (1 + x)),
    "log2": (np.log2, lambda x: 1 / (x * np.log(2))),
    "pow": (np.power, lambda a, b: 0.0 if b == 0 else b * a ** (b - 1), lambda a, b: a**b * np.log(a)),
    "sin": (np.sin, np.cos),
    "sinh": (np.sinh, np.cosh),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "tan": (np.tan, lambda x: 1 + np.tan(x) ** 2),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "tgamma": (special.gamma, lambda x: special.gamma(x) * special.digamma(x)),
    # special functions
    "digamma": (special.digamma, lambda x: special.polygamma(1, x)),
    "expit": (special.expit, lambda x: special.expit(x) * special.expit(-x)),
    "log1pexp": (lambda x: np.logaddexp(0, x), special.expit),
    "log_ndtr": (special.log_ndtr, lambda x: np.exp(-x * x / 2 - special.log_ndtr(x)) / np.sqrt(2 * np.pi)),
    "log_gamma": (special.gammaln, special.digamma),
    "logaddexp": (np.logaddexp, lambda a, b: special.expit(a - b), lambda a, b: special.expit(b - a)),
    "xlogy": (special.xlogy, lambda a, b: np.log(b), lambda a, b: a / b),
}
GCC_LACKS = frozenset({"digamma", "expit", "log1pexp", "log_ndtr", "log_gamma", "logaddexp", "xlogy"})
