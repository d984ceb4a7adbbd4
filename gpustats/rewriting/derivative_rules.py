"""Rules of differentiation, and expressions that are simplified as they are made.

Rules of special functions stand in their comments; without one, a function's own text is differentiated.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..language import nodes as lang
from ..language.kinds import DISTRIBUTION_FUNCTIONS
from ..language.library import library
from ..language.nodes import INT, REAL, Binary, Conditional, Expression, Function, Name, Number
from ..language.special import Entry

#: The derivative of each operator and function, in C, from the arguments a, b, c, d and their derivatives da, …. Terms with
#: a derivative that is zero vanish. What goes to a limit has the derivative 0 at infinity, where da may be infinite. Special
#: functions without a rule are differentiated like any other.
RULES = {
    "+": "da + db",
    "-": "da - db",
    "/": "(da - a / b * db) * (1 / b)",
    "/ (1 + exp)": "da / b - a / b * (expit(c) * dc)",  # a / b, where b is 1 + exp(c) and may overflow
    # C99
    "acos": "-da / sqrt(1 - a * a)",
    "acosh": "da / (sqrt(a - 1) * sqrt(a + 1))",
    "asin": "da / sqrt(1 - a * a)",
    "asinh": "da / hypot(1, a)",
    "atan": "isinf(a) ? 0 : 1 / (1 + a * a) * da",
    "atan2": "(b / hypot(a, b) * da - a / hypot(a, b) * db) / hypot(a, b)",
    "atanh": "1 / (1 - a * a) * da",
    "cbrt": "1 / (3 * cbrt(a) * cbrt(a)) * da",
    "ceil": "0",
    "copysign": "(a < 0) == (copysign(1, b) < 0) ? da : -da",
    "cos": "-sin(a) * da",
    "cosh": "sinh(a) * da",
    "erf": "isinf(a) ? 0 : 2 / SQRT_PI * exp(-a * a) * da",
    "erfc": "isinf(a) ? 0 : -2 / SQRT_PI * exp(-a * a) * da",
    "exp": "exp(a) * da",
    "exp2": "LOG_2 * exp2(a) * da",
    "expm1": "exp(a) * da",
    "fabs": "a > 0 ? da : a < 0 ? -da : 0",
    "fdim": "a > b ? da - db : 0",
    "floor": "0",
    "fma": "da * b + a * db + dc",
    "fmax": "a > b || b != b ? da : db",
    "fmin": "a <= b || b != b ? da : db",
    "fmod": "da - rint((a - fmod(a, b)) / b) * db",
    "hypot": "a == 0 && b == 0 ? 0 : a / hypot(a, b) * da + b / hypot(a, b) * db",
    "ldexp": "ldexp(1, b) * da",
    "lgamma": "(a > 0 ? digamma(a) : digamma(1 - a) - PI / tan(PI * a)) * da",
    "log": "log_slope(a) * da",
    "log10": "1 / (a * log(10)) * da",
    "log1p": "1 / (1 + a) * da",
    "log2": "1 / (a * LOG_2) * da",
    "nextafter": "da",
    "pow": "(b == 0 ? 0 : b * pow(a, b - 1)) * da + (a == 0 && b > 0 ? 0 : pow(a, b) * log(a)) * db",
    "quotient": "(da - quotient(a, b) * db) * quotient(1, b)",
    "remainder": "da - rint((a - remainder(a, b)) / b) * db",
    "rint": "0",
    "round": "0",
    "stop_gradient": "0",
    "sin": "cos(a) * da",
    "sinh": "cosh(a) * da",
    "sqrt": "0.5 / sqrt(a) * da",
    "tan": "(1 + tan(a) * tan(a)) * da",
    "tanh": "isinf(a) ? 0 : 4 * expit(2 * a) * expit(-2 * a) * da",
    "tgamma": "tgamma(a) * (a > 0 ? digamma(a) : digamma(1 - a) - PI / tan(PI * a)) * da",
    "trunc": "0",
}

RULE_ARGUMENTS = "abcd"  # what the arguments of a rule are called
SPECIAL_PREFIX = "special_"  # what the printed names of special functions begin with


def _in_letters(entry: Entry) -> str:
    """Rule of a special function, with letters for its arguments."""
    letters = dict(zip(entry.arguments, RULE_ARGUMENTS, strict=False))
    names = letters | {f"d{name}": f"d{letter}" for name, letter in letters.items()}
    return re.sub(r"[A-Za-z_]\w*", lambda match: names.get(match[0], match[0]), entry.derivative)


RULES |= {name: _in_letters(entry) for name, entry in library.special.items() if entry.derivative}
ZERO, ONE = Number("0", INT), Number("1", INT)


def is_number(e: Expression, value: float) -> bool:
    """True if an expression is the literal `value`, or a cast of it to `real`."""
    if isinstance(e, lang.Cast) and e.type == REAL:
        e = e.operand
    return isinstance(e, Number) and float(e.text) == value


def _kind(*expressions: Expression) -> str:
    return REAL if any(e.type == REAL for e in expressions) else INT


def negative(a: Expression) -> Expression:
    if is_number(a, 0):
        return ZERO
    if isinstance(a, Binary) and a.operator == "-":
        return replace(a, left=a.right, right=a.left)
    return a.operand if isinstance(a, lang.Unary) and a.operator == "-" else lang.Unary("-", a, a.type)


def negated(a: Expression) -> Expression | None:
    """Operand b where `a` is -b."""
    return a.operand if isinstance(a, lang.Unary) and a.operator == "-" else None


def add(a: Expression, b: Expression) -> Expression:
    if is_number(a, 0) or is_number(b, 0):
        return b if is_number(a, 0) else a
    if (c := negated(b)) is not None:
        return subtract(a, c)
    if (c := negated(a)) is not None:
        return subtract(b, c)
    return Binary("+", a, b, _kind(a, b))


def subtract(a: Expression, b: Expression) -> Expression:
    if is_number(a, 0) or is_number(b, 0):
        return negative(b) if is_number(a, 0) else a
    if (c := negated(b)) is not None:
        return add(a, c)
    return Binary("-", a, b, _kind(a, b))


def multiply(a: Expression, b: Expression) -> Expression:
    if is_number(a, 0) or is_number(b, 0):
        return ZERO
    if is_number(a, 1) or is_number(b, 1):
        return b if is_number(a, 1) else a
    for left, right in ((a, b), (b, a)):
        if (c := negated(left)) is not None:
            return negative(multiply(c, right))
        if isinstance(left, Conditional) and isinstance(left.then, Number) and isinstance(left.otherwise, Number):
            return choose(left.condition, multiply(left.then, right), multiply(left.otherwise, right))  # 0 times infinity is 0
    return Binary("*", a, b, _kind(a, b))


def divide(a: Expression, b: Expression) -> Expression:
    if is_number(a, 0):
        return ZERO
    if (c := negated(a)) is not None:
        return negative(divide(c, b))
    if a.type == INT and b.type == INT:  # would cut off the fraction
        a = Number(a.text + ".0", REAL) if isinstance(a, Number) else lang.Cast(REAL, a)
    return Binary("/", a, b, REAL)


def choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    return then if then == otherwise else Conditional(condition, then, otherwise, _kind(then, otherwise))


_SIMPLIFIERS: dict[str, Callable[[Expression, Expression], Expression]] = {
    "+": add, "-": subtract, "*": multiply, "/": divide,
}  # fmt: skip


def filled(e: Expression, given: dict[str, Expression]) -> Expression:
    """Expression `e` with other expressions in the place of names."""
    match e:
        case Name():
            return given.get(e.name, e)
        case Binary() if e.operator in _SIMPLIFIERS:
            return _SIMPLIFIERS[e.operator](filled(e.left, given), filled(e.right, given))
        case lang.Unary() if e.operator == "-":
            return negative(filled(e.operand, given))
        case Conditional():
            return choose(*(filled(part, given) for part in (e.condition, e.then, e.otherwise)))
    return lang.rebuild(e, lambda child: filled(child, given))


def logistic_exponent(e: Expression) -> Expression | None:
    """Exponent c of 1 + exp(c), None of other expressions."""
    if isinstance(e, Binary) and e.operator == "+":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if is_number(one, 1) and isinstance(other, lang.Call) and other.function == "exp":
                return other.arguments[0]
    return None


@functools.cache
def rule(name: str, types: tuple[str, ...]) -> tuple[Expression, dict[str, Function]]:
    """Rule of an operator or function, parsed, and the functions that it calls."""
    from ..language.device_function import parse

    letters = RULE_ARGUMENTS[: len(types)]
    declared = ", ".join([*(f"{t} {n}" for n, t in zip(letters, types, strict=True)), *(f"real d{n}" for n in letters)])
    source = f"real derivative_rule({declared}) {{ return {RULES[name]}; }}"
    function = parse(source, library.resolve, "derivative").functions["derivative_rule"]
    (statement,) = function.body
    assert isinstance(statement, lang.Return)
    called = library.closure([function])
    del called[function.name]
    return statement.value, called


def factors(e: Expression) -> list[Expression]:
    """Factors of the product `e`, signs aside."""
    if isinstance(e, Binary) and e.operator == "*":
        return factors(e.left) + factors(e.right)
    return [e]


def terms(e: Expression) -> list[tuple[str, Expression]]:
    """Terms of the sum `e`, from left to right, each with its sign."""
    found: list[tuple[str, Expression]] = []
    while isinstance(e, Binary) and e.operator in ("+", "-"):
        found.append((e.operator, e.right))
        e = e.left
    return [("+", e), *reversed(found)]


_DISTRIBUTION_FUNCTION = re.compile(rf".*_({'|'.join(DISTRIBUTION_FUNCTIONS)})_*")


def flat_at_infinity(function: Function, results: Mapping[str, Expression], value: str) -> dict[str, Expression]:
    """Results of a gradient: all derivatives (but `value`) of a distribution function are 0 where its x is infinite.

    The chain rule says 0 times infinity there. What occurs in several results should be a variable before.
    """
    first = function.parameters[0] if function.parameters else None
    if first is None or first.type != REAL or not _DISTRIBUTION_FUNCTION.fullmatch(function.name):
        return dict(results)
    infinite = lang.Call("isinf", (Name(first.name, REAL),), INT)
    return {r: e if r == value else choose(infinite, ZERO, e) for r, e in results.items()}
