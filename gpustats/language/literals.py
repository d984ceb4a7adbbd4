"""Literals, and the constants that C has names for."""

from __future__ import annotations

import math
import operator as operators
import re

from . import nodes as lang
from .bounds import LARGEST_INT
from .nodes import INT, REAL, Expression

_MINUS_LARGEST_INT = lang.Unary("-", lang.Number(str(LARGEST_INT), INT), INT)
#: The least `int`. In C the literal 2147483648 is none, so that -2147483648 is not one, either.
SMALLEST_INT = lang.Binary("-", _MINUS_LARGEST_INT, lang.Number("1", INT), INT)

_INFINITY = lang.Name("INFINITY", REAL)

#: What C and OpenCL call some numbers; users may give variables these names.
CONSTANTS: dict[str, Expression] = {
    "true": lang.Number("1", INT),
    "false": lang.Number("0", INT),
    "INT_MAX": lang.Number(str(LARGEST_INT), INT),
    "INT_MIN": SMALLEST_INT,
    "HUGE_VAL": _INFINITY,
    "HUGE_VALF": _INFINITY,
    **{
        name: lang.Number(text, REAL)
        for name, text in {
            "M_E": "2.71828182845904523536",
            "M_LOG2E": "1.44269504088896340736",
            "M_LOG10E": "0.43429448190325182765",
            "M_LN2": "0.69314718055994530942",
            "M_LN10": "2.30258509299404568402",
            "M_PI": "3.14159265358979323846",
            "M_PI_2": "1.57079632679489661923",
            "M_PI_4": "0.78539816339744830962",
            "M_1_PI": "0.31830988618379067154",
            "M_2_PI": "0.63661977236758134308",
            "M_2_SQRTPI": "1.12837916709551257390",
            "M_SQRT2": "1.41421356237309504880",
            "M_SQRT1_2": "0.70710678118654752440",
        }.items()
    },
}

_HINTS = {
    **dict.fromkeys(("DBL_EPSILON", "FLT_EPSILON"), "EPSILON"),
    **dict.fromkeys(("inf", "Inf", "INF", "infinity", "Infinity", "DBL_MAX", "FLT_MAX"), "INFINITY, or a number"),
    **dict.fromkeys(("nan", "NaN", "Nan", "None", "NA"), "NAN"),
    **dict.fromkeys(("True", "TRUE"), "1"), **dict.fromkeys(("False", "FALSE"), "0"),
    **dict.fromkeys(("pi", "Pi", "CUDART_PI", "CUDART_PI_F"), "PI"),
    **dict.fromkeys(("DBL_MIN", "FLT_MIN", "NULL", "EOF"), "a number"),
}


def advice(name: str) -> str:
    """Suggestion in the place of an undefined name, as the end of a message."""
    name = name.removesuffix("_F") if name.startswith("M_") else name
    hint = name if name in CONSTANTS else _HINTS.get(name, "")
    return f": write {hint}" if hint else ""


def literal(kind: str, text: str) -> lang.Number | str:
    """Number that a literal of C is, or the message that refuses it; `kind` is "int", "double", …, as the parser has it."""
    if kind == "int" and re.fullmatch(r"0|[1-9]\d*", text):
        if len(text) > 10 or int(text) > LARGEST_INT:
            return f"{text} does not fit an `int`, which ends at {LARGEST_INT}: write {text}.0"
        return lang.Number(text, INT)
    if kind in ("double", "float", "long double"):
        if text[-1] in "fFlL":
            return f"write {text[:-1]}: literals take the type of `real`"
        if "x" not in text.lower():
            if float(text) == math.inf:
                return f"{text} is too large: write INFINITY"
            return lang.Number(text if float(text) else "0.0", REAL)
    return f"literal {text} is not supported: write a decimal number"


def cut_off(a: int, b: int) -> str:
    """Message about a quotient of literals that is not whole."""
    if b == 0:
        return f"{a} / 0 is a division of whole numbers by 0"
    exact = f"{a / b}, or " if a / b == round(a / b, 4) else ""
    rounded = int(a / b)
    return (
        f"{a} / {b} is a division of whole numbers, which cuts off the fraction: write {exact}{a}.0 / {b}; "
        f"or {rounded}, if a whole number is meant"
    )


#: What whole numbers that are written out come to.
OPERATIONS = {"+": operators.add, "-": operators.sub, "*": operators.mul, "/": operators.floordiv}
