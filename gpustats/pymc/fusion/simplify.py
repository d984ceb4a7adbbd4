"""Expressions that are written shorter: what PyMC writes several times, or there and back.

All of these have the same value for all numbers, nan and infinity among them, up to rounding and the sign of zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expression import Expression, Expressions

CHOICE = "{} ? {} : {}"
_UNARY = re.compile(r"\w+\(\{\}\)|-\{\}")  # a call with one argument, or its negative


def simplified(made: Expressions, form: str, arguments: Sequence[Expression]) -> Expression | None:
    """A shorter expression for a form of these arguments; None where there is none."""
    match form, *(a.form for a in arguments):
        case ("{} * {}", "(-1.0)", _):
            return made.make("-{}", arguments[1])
        case ("{} * {}", _, "(-1.0)"):
            return made.make("-{}", arguments[0])
        case ("{} + {}", "0.0", _):
            return arguments[1]
        case ("{} + {}" | "{} - {}", _, "0.0"):
            return arguments[0]
        case ("-{}", "-{}"):
            return arguments[0].arguments[0]
        case ("{} && {}", "1", _):
            return arguments[1]
        case ("{} && {}", _, "1"):
            return arguments[0]
        case ("{} && {}", _, _) if arguments[0] is arguments[1]:
            return arguments[0]
        case ("{} >= {}", "exp({})" | "expit({})", "0.0") | ("{} <= {}", "expit({})", "1.0"):
            (x,) = arguments[0].arguments
            return made.make("{} == {}", x, x, whole=True)
        case ("{} != {}", "{} * {}", "0.0") if all(a.form == "(real)({})" for a in arguments[0].arguments):
            return made.make("{} && {}", *(a.arguments[0] for a in arguments[0].arguments), whole=True)
        case ("log1p({})", "-{}"):
            return _log1p_of_negative(made, arguments[0].arguments[0])
        case ("log1mexp({})", _):
            return _log1mexp(made, arguments[0])
        case ("{} ? {} : {}", _, yes, no) if yes == no and _UNARY.fullmatch(yes):
            condition, *options = arguments
            return made.make(yes, made.choice(condition, *(o.arguments[0] for o in options)))
    return None


def _log1p_of_negative(made: Expressions, x: Expression) -> Expression | None:
    """log(1 - x), where x is a logistic function: the logarithm of another one."""
    return made.make("-{}", made.make("log1pexp({})", x.arguments[0])) if x.form == "expit({})" else None


def _log1mexp(made: Expressions, x: Expression) -> Expression | None:
    """log(1 - exp(x)), which is its own inverse: of a logarithm of a survival function, that of the distribution function."""
    if x.form == "(-INFINITY)":
        return made.number(0.0)
    if x.form == "log1mexp({})":
        (inner,) = x.arguments
        return made.choice(made.make("{} <= {}", inner, made.number(0.0), whole=True), inner, made.make("NAN"))
    if x.form == CHOICE and any(a.form == "log1mexp({})" for a in x.arguments[1:]):
        condition, *options = x.arguments
        return made.choice(condition, *(made.make("log1mexp({})", o) for o in options))
    return None
