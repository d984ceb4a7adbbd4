"""Expressions of C over the arguments of a row function, and the text of the function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...runtime import thresholds

LONGEST_EXPRESSION = 100  # characters that are written in one statement
CHEAP_FUNCTIONS = {"fmax", "fmin", "fabs", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "sqrt"}
#: Calls of a logarithm, about, that a gamma function or a density takes.
LOGARITHMS_PER_DENSITY = thresholds.COMPILER_LOGARITHMS_PER_DENSITY.value
_CALL = re.compile(r"\w+\([\w(){}, ]*\)")


@dataclass(frozen=True, eq=False)
class Expression:
    """Expression of C."""

    form: str  # C text with ``{}`` for each of the arguments: an infix form, a call, a name or a literal
    arguments: tuple[Expression, ...] = ()
    whole: bool = False  # whether it is an int, which is true or false

    @property
    def is_atom(self) -> bool:
        """True if the expression needs no parentheses anywhere."""
        return not self.arguments or _CALL.fullmatch(self.form) is not None


def parts_of(result: Expression) -> list[Expression]:
    """Parts of an expression, and the expression itself: each once, behind its own parts."""
    order: list[Expression] = []
    seen: set[int] = set()
    stack = [(result, False)]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(current)
        elif id(current) not in seen:
            seen.add(id(current))
            stack.append((current, True))
            stack += [(argument, False) for argument in reversed(current.arguments)]
    return order


def operations(expressions: Iterable[Expression]) -> tuple[int, int]:
    """Numbers of cheap operations and of calls of functions that make expressions of others; some calls count several times."""
    forms = [e.form for e in expressions if e.arguments]
    calls = [form.partition("(")[0] for form in forms if re.match(r"\w+\(", form)]
    dear = [name for name in calls if name not in CHEAP_FUNCTIONS]
    return len(forms) - len(dear), sum(LOGARITHMS_PER_DENSITY if "gamma" in name or "_log" in name else 1 for name in dear)


def body(result: Expression) -> str:
    """Statements of a function that returns an expression: a part that is used several times, or is long, has a name."""
    order = parts_of(result)
    uses = Counter(id(argument) for expression in order for argument in expression.arguments)
    texts: dict[int, tuple[str, bool]] = {}  # what stands for an expression, and whether it needs no parentheses
    lines = []
    for expression in order:
        text = filled(expression, [texts[id(a)] for a in expression.arguments])
        if expression is result:
            lines.append(f"    return {f'(real)({text})' if expression.whole else text};")
        elif expression.arguments and (uses[id(expression)] > 1 or len(text) > LONGEST_EXPRESSION):
            name = f"t{len(lines)}"
            lines.append(f"    const {'int' if expression.whole else 'real'} {name} = {text};")
            texts[id(expression)] = name, True
        else:
            texts[id(expression)] = text, expression.is_atom
    return "\n".join(lines)


def filled(expression: Expression, arguments: Sequence[tuple[str, bool]]) -> str:
    """Text of an expression, with those of its arguments, and whether each needs no parentheses."""
    call = expression.is_atom
    return expression.form.format(*(text if atom or call else f"({text})" for text, atom in arguments))
