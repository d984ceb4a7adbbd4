"""Domains of arguments, in words like ``positive integer``, each of which is one record here.

A word knows its test in C, for kernels, and in NumPy, for arrays on the host, and a point that lies well inside.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Values = Any  #: a number, a NumPy array, or a PyTensor variable


@dataclass(frozen=True)
class Domain:
    """Meaning of one word of a domain."""

    word: str
    meaning: str  # for the guide
    rank: int = 0  # number of axes that belong to one value: 0 for a number, 1 for a vector, 2 for a matrix
    #: the condition for a number, or for an element of a vector, as C with ``{0}`` in its place; "" where there is none
    c: str = ""
    inside: Callable[[Values], Values] | None = None  # the same condition for a number or a NumPy array
    #: C statements for a vector ``{x}`` as a whole, which set ``{bad}`` to ``{outside}`` where it lies outside. They may use
    #: ``{own}i`` and ``{own}sum_{x}`` as variables, the condition ``{inside}`` for the element ``{x}[{own}i]``, and the number
    #: ``{tolerance}`` for sums.
    c_whole: str = ""
    whole: Callable[[Values], Values] | None = None  # the same condition for vectors along the last axis of a NumPy array
    #: takes a module, NumPy or PyTensor's, and the length of a vector, and gives a value well inside the domain
    point: Callable[[Any, Values], Values] | None = None


def _sums_to_one(v: Values) -> Values:
    import numpy as np  # here, as it takes long

    tolerance = max(np.sqrt(np.finfo(v.dtype).eps), 1e-5) if v.dtype.kind == "f" else 0
    return np.abs(v.sum(-1) - 1) <= tolerance


_ELEMENTS = """\
    for (int {own}i = 0; {own}i < dim; {own}i++)
        if (!({inside})) {bad} = {outside};
"""
_ORDERED = """\
    for (int {own}i = 1; {own}i < dim; {own}i++)
        if (!({x}[{own}i - 1] < {x}[{own}i])) {bad} = {outside};
"""
_SUMS_TO_ONE = """\
    real {own}sum_{x} = 0;
    for (int {own}i = 0; {own}i < dim; {own}i++)
        {own}sum_{x} += {x}[{own}i];
    if (!(fabs({own}sum_{x} - 1) <= {tolerance})) {bad} = {outside};
"""

_WHOLE_OR_INFINITE = Domain(
    "integer", "a whole number, or an infinite one", c="{0} == floor({0})",
    inside=lambda v: (v % 1 == 0) | (abs(v) == math.inf),
)  # fmt: skip

#: All words of domains; where a domain has several of them, the point is that of the last one.
DOMAINS = {
    domain.word: domain
    for domain in (
        Domain("real", "any number: what an argument is of which the comment says nothing", point=lambda module, n: 0.0),
        Domain("positive", "> 0", c="{0} > 0", inside=lambda v: v > 0, point=lambda module, n: 1.0),
        Domain("nonnegative", "≥ 0", c="{0} >= 0", inside=lambda v: v >= 0, point=lambda module, n: 1.0),
        Domain(
            "unit", "in the closed interval [0, 1]", c="{0} >= 0 && {0} <= 1", inside=lambda v: (v >= 0) & (v <= 1),
            point=lambda module, n: 0.5,
        ),
        Domain(
            "integer", "a whole number", c="{0} == floor({0}) && fabs({0}) < INFINITY",
            inside=lambda v: (v % 1 == 0) & (abs(v) < math.inf),
        ),
        Domain("extended", "before `integer`: it may be infinite, too"),
        Domain(
            "ordered", "a vector that increases strictly", 1, c_whole=_ORDERED,
            whole=lambda v: (v[..., 1:] > v[..., :-1]).all(-1), point=lambda module, n: module.arange(n) - (n - 1) / 2,
        ),
        Domain("vector", "a vector of length `dim`, passed as `const real *`", 1, c_whole=_ELEMENTS),
        Domain(
            "simplex", "a vector of nonnegative numbers that sum to one, within 0.00001 (in float32 0.00035)", 1, "{0} >= 0",
            lambda v: v >= 0, _SUMS_TO_ONE, _sums_to_one, point=lambda module, n: module.ones((n,)) / n,
        ),
        Domain(
            "covariance", "a covariance matrix, of a density of `sqdist` and `logdet`", 2, point=lambda module, n: module.eye(n)
        ),
    )
}  # fmt: skip


#: What domains are called elsewhere -> the words for it here, "" where it says nothing more.
ELSEWHERE = {
    **dict.fromkeys(("float", "double", "scalar", "continuous", "unbounded", "unconstrained", "angle"), "real"),
    **dict.fromkeys(("interval", "probability", "proportion", "fraction"), "unit"),
    ">": "positive", **dict.fromkeys((">=", "≥"), "nonnegative"),
    **dict.fromkeys(("discrete", "whole"), "integer"),
    **dict.fromkeys(("count", "counts", "natural"), "nonnegative integer"),
    **dict.fromkeys(("binary", "bool", "boolean"), "unit integer"),
    **dict.fromkeys(("probabilities", "proportions"), "simplex"),
    **dict.fromkeys(("sorted", "increasing", "ascending"), "ordered"),
    **dict.fromkeys(("array", "vectors"), "vector"),
    **dict.fromkeys(("the", "a", "an", "in", "number", "numbers", "strictly", "valued", "0"), ""),
}
#: Words that are spelled nearly as one that means something else.
_APART = frozenset(("negative", "nonpositive", "bounded"))


def nearest(word: str) -> str:
    """Word of a domain that is spelled nearly as `word`, "" where none is near."""
    return "" if word.lower() in _APART else "".join(difflib.get_close_matches(word.lower(), DOMAINS, 1))


def _here(word: str) -> str | None:
    """Words here for one that somebody wrote in a domain; None where none is known."""
    found = word if word in DOMAINS else ELSEWHERE.get(word.lower())
    return found if found is not None else nearest(word) or None


def refusal(words: Iterable[str], argument: str) -> tuple[str, str]:
    """First word that names no domain, and the message that refuses it."""
    words = tuple(words)
    word = next(w for w in words if w not in DOMAINS)
    here = [_here(w) for w in words]
    meant = nearest(word)
    if word.lower() in ELSEWHERE and None not in here:
        meant = " ".join(dict.fromkeys(" ".join(filter(None, here)).split())) or "real"
    advice = f"did you mean {meant}?" if meant else f"there are {', '.join(DOMAINS)}; a description follows a comma"
    return word, f"'{word}' is not a domain, for {argument}: {advice}"


def domains_of(words: Iterable[str]) -> list[Domain]:
    """Records of some words, in the order of the table."""
    of_word = {**DOMAINS, "integer": _WHOLE_OR_INFINITE} if "extended" in words else DOMAINS
    return [domain for word, domain in of_word.items() if word in words]


def point_of(words: Iterable[str], module: Any, n: Values) -> Values:
    """Value well inside a domain: a number, also for the elements of vectors that are free of one another.

    The module is ``numpy`` or ``pytensor.tensor``; vectors have the length n, a number or a PyTensor variable.
    """
    point = [d.point for d in domains_of({"real", *words}) if d.point is not None][-1](module, n)
    whole = isinstance(point, float) and "integer" in words
    return math.ceil(point) if whole and not point.is_integer() else point
