"""Expressions of C, each made once, and shorter where PyMC writes a part several times, or there and back.

A shorter expression has the same value for all numbers, nan and infinity among them, up to rounding and the sign of zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .expression import Expression

CHOICE = "{} ? {} : {}"
_UNARY = re.compile(r"\w+\(\{\}\)|-\{\}")  # a call with one argument, or its negative


class Expressions:
    """Expressions of C, of which there is one of each."""

    def __init__(self) -> None:
        self._known: dict[tuple, Expression] = {}

    def make(self, form: str, *arguments: Expression, whole: bool = False) -> Expression:
        """Expression of a form, or a shorter one of the same value."""
        if (shorter := _simplified(self, form, arguments)) is not None:
            return shorter
        return self._known.setdefault((form, *map(id, arguments)), Expression(form, arguments, whole))

    def number(self, value: float | bool) -> Expression:
        if isinstance(value, bool):
            return self.make(str(int(value)), whole=True)
        value = float(value)
        if value != value:
            return self.make("NAN")
        if value in (float("inf"), -float("inf")):
            return self.make("INFINITY" if value > 0 else "(-INFINITY)")
        text = repr(abs(value)) if abs(value) >= 1e16 or value != int(value) else f"{abs(value):.1f}"
        return self.make(f"(-{text})" if str(value).startswith("-") else text)

    def real(self, value: Expression) -> Expression:
        """Expression as a number of floating point: 1 or 0 for a truth value."""
        return self.make("(real)({})", value) if value.whole else value

    def folded(self, form: str, parts: Sequence[Expression], whole: bool = False) -> Expression:
        """Expression of parts joined from the left by a form with two arguments: their sum, say."""
        total = parts[0]
        for one in parts[1:]:
            total = self.make(form, total, one, whole=whole)
        return total

    def choice(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        """Choice between two values, by a truth value."""
        if yes is no or condition.form == "1":
            return yes
        if condition.form == "0":
            return no
        if yes.whole and no.whole:
            return self.make(CHOICE, condition, yes, no, whole=True)
        return self.make(CHOICE, condition, self.real(yes), self.real(no))

    def truth(self, value: Expression) -> Expression:
        """Truth value of a number: true if it is not 0."""
        if value.form in ("0.0", "1.0"):
            return self.number(value.form == "1.0")
        return value if value.whole else self.make("{} != {}", value, self.number(0.0), whole=True)


def _simplified(expressions: Expressions, form: str, arguments: Sequence[Expression]) -> Expression | None:
    """Shorter expression for a form of these arguments; None where there is none."""
    match form, *(a.form for a in arguments):
        case ("{} * {}", "(-1.0)", _):
            return expressions.make("-{}", arguments[1])
        case ("{} * {}", _, "(-1.0)"):
            return expressions.make("-{}", arguments[0])
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
            return expressions.make("{} == {}", x, x, whole=True)
        case ("{} != {}", "{} * {}", "0.0") if all(a.form == "(real)({})" for a in arguments[0].arguments):
            return expressions.make("{} && {}", *(a.arguments[0] for a in arguments[0].arguments), whole=True)
        case ("{} - {}", "1.0", "expit({})"):
            return expressions.make("expit({})", expressions.make("-{}", arguments[1].arguments[0]))
        case ("{} - {}", "expit({})" | "{} ? {} : {}", "expit({})" | "{} ? {} : {}"):
            odds = _log_odds(expressions, arguments)
            return expressions.make("expit_difference({}, {})", *odds) if odds else None
        case ("log1p({})", "-{}"):
            return _log1p_of_negative(expressions, arguments[0].arguments[0])
        case ("log1mexp({})", _):
            return _log1mexp(expressions, arguments[0])
        case ("{} ? {} : {}", _, yes, no) if yes == no and _UNARY.fullmatch(yes):
            condition, *options = arguments
            return expressions.make(yes, expressions.choice(condition, *(o.arguments[0] for o in options)))
    return None


def _log_odds(expressions: Expressions, probabilities: Sequence[Expression]) -> list[Expression] | None:
    """Arguments of expressions that are logistic functions; None where an expression is no logistic function."""
    arguments = []
    for p in probabilities:
        if p.form == "expit({})":
            arguments.append(p.arguments[0])
        elif p.form in ("0.0", "1.0"):
            arguments.append(expressions.number(float("inf") if p.form == "1.0" else -float("inf")))
        elif p.form == CHOICE and (odds := _log_odds(expressions, p.arguments[1:])):
            arguments.append(expressions.choice(p.arguments[0], *odds))
        else:
            return None
    return arguments


def _log1p_of_negative(expressions: Expressions, x: Expression) -> Expression | None:
    """Expression of log(1 - x), where x is a logistic function: the logarithm of another one."""
    return expressions.make("-{}", expressions.make("log1pexp({})", x.arguments[0])) if x.form == "expit({})" else None


def _log1mexp(expressions: Expressions, x: Expression) -> Expression | None:
    """Expression of log(1 - exp(x)), its own inverse: of a log survival function, the log distribution function."""
    if x.form == "(-INFINITY)":
        return expressions.number(0.0)
    if x.form == "log1mexp({})":
        (inner,) = x.arguments
        is_valid = expressions.make("{} <= {}", inner, expressions.number(0.0), whole=True)
        return expressions.choice(is_valid, inner, expressions.make("NAN"))
    if x.form == CHOICE and any(a.form == "log1mexp({})" for a in x.arguments[1:]):
        condition, *options = x.arguments
        return expressions.choice(condition, *(expressions.make("log1mexp({})", o) for o in options))
    return None
