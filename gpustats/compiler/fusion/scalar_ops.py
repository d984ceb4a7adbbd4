"""PyTensor's operations on numbers, in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.scalar.basic import ScalarOp

from .expression import Expression
from .simplify import Expressions


class Unsupported(Exception):
    """Operation that a row function cannot have, in words for a user."""


class NoData(Unsupported):
    """Sum over parameters alone."""


class UnknownLength(Unsupported):
    """Length that only the call tells."""


#: Class of an operation on truth values or numbers whose result is true or false -> C.
COMPARISONS = {
    "LT": "{} < {}", "GT": "{} > {}", "LE": "{} <= {}", "GE": "{} >= {}", "EQ": "{} == {}", "NEQ": "{} != {}",
    "IsNan": "isnan({})", "IsInf": "isinf({})",
}  # fmt: skip
LOGIC = {"AND": "{} && {}", "OR": "{} || {}"}
#: Class -> the function of C, or of gpustats, that does the same.
C_FUNCTIONS = {
    "Log": "log", "Exp": "exp", "Log1p": "log1p", "Expm1": "expm1", "Sqrt": "sqrt", "Abs": "fabs", "Sigmoid": "expit",
    "Softplus": "log1pexp", "GammaLn": "log_gamma", "Psi": "digamma", "TriGamma": "trigamma", "Erf": "erf", "Erfc": "erfc",
    "Erfcx": "scaled_erfc", "Log1mexp": "log1mexp", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Tanh": "tanh", "Sinh": "sinh",
    "Cosh": "cosh", "ArcTan": "atan", "ArcSin": "asin", "ArcCos": "acos", "ArcTan2": "atan2", "ArcSinh": "asinh",
    "ArcCosh": "acosh", "ArcTanh": "atanh", "Floor": "floor", "Ceil": "ceil", "Trunc": "trunc", "Log2": "log2",
    "Log10": "log10", "Exp2": "exp2",
    "LogAddExp": "logaddexp", "XLogY": "xlogy", "XLog1PY": "xlog1py", "RoundHalfToEven": "rint",
}  # fmt: skip
C_FORMS = {
    "Sub": "{} - {}", "TrueDiv": "{} / {}", "Reciprocal": "1 / {}", "Inv": "1 / {}", "Neg": "-{}",
    "Deg2Rad": "{} * (PI / 180)", "Rad2Deg": "{} * (180 / PI)", "IntDiv": "floor({} / {})",
}  # fmt: skip
#: Exponents that are products and roots: x is used as often as the form has it.
C_POWERS = {2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}", -1.0: "1 / {0}", 0.5: "sqrt({0})", -0.5: "1 / sqrt({0})", 1.0: "{0}"}


def in_c(op: ScalarOp, arguments: Sequence[Expression], expressions: Expressions) -> Expression:
    """Scalar operation of PyTensor on these arguments; `Unsupported` where there is no such operation in C."""
    name = type(op).__name__
    reals = [expressions.real(a) for a in arguments]
    if name in ("Add", "Mul"):
        return expressions.folded("{} + {}" if name == "Add" else "{} * {}", reals)
    if name in (*LOGIC, "XOR") and not all(a.whole for a in arguments):
        raise Unsupported("an operation on whole numbers, bit by bit")
    if name in LOGIC:
        return expressions.folded(LOGIC[name], [expressions.truth(a) for a in arguments], whole=True)
    if name in COMPARISONS:
        return expressions.make(COMPARISONS[name], *reals, whole=True)
    if name in C_FORMS:
        return expressions.make(C_FORMS[name], *reals)
    if name in C_FUNCTIONS:
        return expressions.make(f"{C_FUNCTIONS[name]}({', '.join(['{}'] * len(reals))})", *reals)
    match name:
        case "Invert":
            if not arguments[0].whole:
                raise Unsupported("the complement of a whole number, bit by bit")
            return expressions.make("!{}", arguments[0], whole=True)
        case "XOR":
            return expressions.make("{} != {}", *map(expressions.truth, arguments), whole=True)
        case "Sqr":
            return expressions.make("{} * {}", reals[0], reals[0])
        case "Pow":
            return _power(reals[0], reals[1], expressions)
        case "Switch" | "Where":
            condition, *options = arguments
            return expressions.choice(expressions.truth(condition), *options)
        case "Sign" | "Sgn":
            return _sign(reals[0], expressions)
        case "ScalarMaximum" | "Maximum":
            return _outer("{} < {}", reals[0], reals[1], expressions)
        case "ScalarMinimum" | "Minimum":
            return _outer("{} > {}", reals[0], reals[1], expressions)
        case "Clip":
            x, low, high = reals
            below, above = expressions.make("{} < {}", x, low, whole=True), expressions.make("{} > {}", x, high, whole=True)
            return expressions.choice(below, low, expressions.choice(above, high, x))
        case "Mod":
            return _modulo(reals[0], reals[1], expressions)
        case "Second":
            return arguments[1]
        case "Identity":
            return arguments[0]
        case "Cast":
            return _cast(op, arguments[0], expressions)
    raise Unsupported(f"the operation {str(op).split('{')[0]}")


def _power(base: Expression, exponent: Expression, expressions: Expressions) -> Expression:
    try:
        form = C_POWERS[float(exponent.form.strip("()"))] if not exponent.arguments else None
    except (ValueError, KeyError):
        form = None
    if form is None:
        return expressions.make("pow({}, {})", base, exponent)
    if form == "{0}":
        return base
    times = form.count("{0}")
    return expressions.make(form.replace("{0}", "{}"), *[base] * times)


def _sign(x: Expression, expressions: Expressions) -> Expression:
    one, minus_one = expressions.number(1.0), expressions.number(-1.0)
    positive = expressions.make("{} > 0.0", x, whole=True)
    negative = expressions.make("{} < 0.0", x, whole=True)
    zero = expressions.choice(expressions.make("{} == {}", x, x, whole=True), expressions.number(0.0), expressions.make("NAN"))
    return expressions.choice(positive, one, expressions.choice(negative, minus_one, zero))


def _outer(comparison: str, x: Expression, y: Expression, expressions: Expressions) -> Expression:
    """Larger or smaller of two numbers, nan where one is; of equal ones the first, as for PyTensor's derivatives."""
    beyond = expressions.make(comparison, x, y, whole=True)
    if y.arguments or y.form.isidentifier():
        beyond = expressions.make("{} || {} != {}", beyond, y, y, whole=True)
    return expressions.choice(beyond, y, x)


def _modulo(x: Expression, y: Expression, expressions: Expressions) -> Expression:
    rest, zero = expressions.make("fmod({}, {})", x, y), expressions.number(0.0)  # of the sign of x
    signs = [expressions.make("{} < {}", e, zero, whole=True) for e in (rest, y)]
    tests = [expressions.make("{} != {}", rest, zero, whole=True), expressions.make("{} != {}", *signs, whole=True)]
    return expressions.choice(expressions.folded("{} && {}", tests, whole=True), expressions.make("{} + {}", rest, y), rest)


def _cast(op: Any, x: Expression, expressions: Expressions) -> Expression:
    kind = np.dtype(op.o_type.dtype).kind
    if kind == "b":
        return expressions.truth(x)
    if kind == "f":
        if op.o_type.dtype != "float64":
            raise Unsupported(f"numbers that are rounded to {op.o_type.dtype}")
        return expressions.real(x)
    if kind in "iu" and x.whole:
        return x
    if op.o_type.dtype not in ("int64", "int32"):
        raise Unsupported(f"numbers that become {op.o_type.dtype}")
    return expressions.make("trunc({})", expressions.real(x))
