"""Meanings, in mpmath, of the functions that device functions may call; those of special functions stand in their comments."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mpmath as mp

from gpustats.language.library import library


def normal_mass(a, b):
    """Phi(b) - Phi(a)"""
    return (mp.erf(b / mp.sqrt(2)) - mp.erf(a / mp.sqrt(2))) / 2


def normal_integral(a, b):
    """The integral of exp((m^2 - t^2) / 2) from a to b, m being the number of smallest size there"""
    mode = min(max(a, 0), b)
    return normal_mass(a, b) * mp.exp(mode * mode / 2) * mp.sqrt(2 * mp.pi)


def stirling_error(x):
    return mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


def log_gamma_p(a, x):
    """log P(a, x), from the smaller one of P and Q"""
    if x < a or x < 1:
        return mp.log(mp.gammainc(a, 0, x, regularized=True))
    return mp.log1p(-mp.gammainc(a, x, regularized=True))


def log_gamma_q(a, x):
    if x < a and x > 1:
        return mp.log1p(-mp.gammainc(a, 0, x, regularized=True))
    return mp.log(mp.gammainc(a, x, regularized=True))


def log_beta_p(a, b, x):
    """log I_x(a, b), from the smaller one of I and 1 - I"""
    if x * (a + b) < a:
        return mp.log(mp.betainc(a, b, 0, x, regularized=True))
    return mp.log1p(-mp.betainc(b, a, 0, 1 - x, regularized=True))


def log_student(a, t, within):
    """log P(|T| <= t sqrt(2 a)) if `within`, else log P(|T| > t sqrt(2 a)), T having 2 a degrees of freedom"""
    s, half = t * t, mp.mpf(1) / 2
    return log_beta_p(half, a, s / (1 + s)) if within else log_beta_p(a, half, 1 / (1 + s))


def truncated(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


# name: (meaning, where each argument lies)
MATH = {
    "acos": (mp.acos, (-0.9, 0.9)),
    "acosh": (mp.acosh, (1.1, 5)),
    "asin": (mp.asin, (-0.9, 0.9)),
    "asinh": (mp.asinh, (-3, 3.5)),
    "atan": (mp.atan, (-3, 3.5)),
    "atan2": (mp.atan2, (-3, 3.5), (-3, 3.5)),
    "atanh": (mp.atanh, (-0.9, 0.8)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), (-3, -0.2)),
    "ceil": (mp.ceil, (-2.4, 2.9)),
    "copysign": (lambda a, b: abs(a) * mp.sign(b), (-3, 3.5), (-3, 3.5)),
    "cos": (mp.cos, (-3, 3.5)),
    "cosh": (mp.cosh, (-2, 2.5)),
    "erf": (mp.erf, (-2, 2.5)),
    "erfc": (mp.erfc, (-2, 2.5)),
    "exp": (mp.exp, (-3, 2.5)),
    "exp2": (lambda x: mp.mpf(2) ** x, (-3, 2.5)),
    "expm1": (mp.expm1, (-3, 2.5)),
    "fabs": (abs, (-3, 3.5)),
    "fdim": (lambda a, b: max(a - b, mp.mpf(0)), (-3, 3.5), (-3, 3.5)),
    "floor": (mp.floor, (-2.4, 2.9)),
    "fma": (lambda a, b, c: a * b + c, (-3, 3.5), (-3, 3.5), (-3, 3.5)),
    "fmax": (max, (-3, 3.5), (-3, 3.5)),
    "fmin": (min, (-3, 3.5), (-3, 3.5)),
    "fmod": (lambda a, b: a - b * truncated(a / b), (-9, 9.5), (0.7, 2.1)),
    "hypot": (mp.hypot, (-3, 3.5), (-3, 3.5)),
    "lgamma": (mp.loggamma, (0.2, 6)),
    "log": (mp.log, (0.2, 6)),
    "log10": (mp.log10, (0.2, 6)),
    "log1p": (mp.log1p, (-0.9, 4)),
    "log2": (lambda x: mp.log(x, 2), (0.2, 6)),
    "nextafter": (lambda a, b: a, (-3, 3.5), (-3, 3.5)),
    "pow": (mp.power, (0.2, 3), (-2, 2.5)),
    "quotient": (lambda a, b: a / b, (-9, 9.5), (0.7, 2.1)),
    "remainder": (lambda a, b: a - b * mp.nint(a / b), (-9, 9.5), (0.7, 2.1)),
    "rint": (mp.nint, (-2.4, 2.9)),
    "round": (mp.nint, (-2.4, 2.9)),
    "sin": (mp.sin, (-3, 3.5)),
    "sinh": (mp.sinh, (-2, 2.5)),
    "sqrt": (mp.sqrt, (0.2, 6)),
    "tan": (mp.tan, (-1.2, 1.3)),
    "tanh": (mp.tanh, (-2, 2.5)),
    "tgamma": (mp.gamma, (0.3, 4)),
    "trunc": (truncated, (-2.4, 2.9)),
}

ROOT = Path(__file__).parents[2]
NAMES = {n: getattr(mp, n) for n in dir(mp) if not n.startswith("_")} | {
    f.__name__: f for f in (log_beta_p, log_gamma_p, log_gamma_q, log_student, normal_integral, normal_mass, stirling_error)
}
FORM = re.compile(r"(.*?\)) = (.*?)((?:, \w+ in \([^()]*\))+)")


class Reference(NamedTuple):
    """A call of a special function, in C, what it means in mpmath, and where each of its variables lies."""

    call: str
    meaning: Callable
    ranges: dict[str, tuple[float, float]]


def reference_of(text):
    """The reference that an entry's text is; None where it names a test."""
    if not (match := FORM.fullmatch(text)):
        return None
    ranges = {name: ast.literal_eval(interval) for name, interval in re.findall(r", (\w+) in (\([^()]*\))", match[3])}
    return Reference(match[1], eval(f"lambda {', '.join(ranges)}: {match[2]}", NAMES), ranges)


REFERENCES = {
    name: [r for text in entry.references if (r := reference_of(text))] for name, entry in library.special.items()
}
#: Those of a function's own arguments.
SPECIAL_FUNCTIONS = {
    name: (r.meaning, *r.ranges.values())
    for name, of_name in REFERENCES.items() for r in of_name if r.call == f"{name}({', '.join(r.ranges)})"
}  # fmt: skip
FUNCTIONS = MATH | SPECIAL_FUNCTIONS
