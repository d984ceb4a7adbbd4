"""Checks of what texts in C are made of: names, and numbers that are written into them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from typing import Any

from ..language.nodes import CONSTANTS, SPECIAL_CONSTANTS

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while real rng_t".split()
)


def check_name(argument: str, name: Any) -> None:
    """Refuse a name that a function or a variable in C cannot have."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"{argument}: {name!r} is no name in C, which consists of letters, digits and _")
    if name in _KEYWORDS:
        raise ValueError(f"{argument}: {name} is a word of C itself: choose another name")
    if name in CONSTANTS or name in SPECIAL_CONSTANTS:
        raise ValueError(f"{argument}: {name} is a constant of gpustats: choose another name")


def check_parameters(argument: str, names: Sequence[str], taken: Sequence[str], function: str) -> None:
    """Refuse names of parameters of a function of the text that has others of these names."""
    if isinstance(names, str):
        raise TypeError(f"{argument} is {names!r}: give a sequence of names, [{names!r}]")
    for name in names:
        check_name(argument, name)
    if again := [p for i, p in enumerate(names) if p in (*taken, *names[:i])]:
        raise ValueError(f"{argument}: {again[0]} is a parameter of {function} already: call yours otherwise")


def whole_number(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """Whole number between two others, the ends included; ValueError for anything else, True and 1.0 among it."""
    wanted = f"of {least} to {most}" if most is not None else f"of at least {least}"
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        raise ValueError(f"{argument} is {value!r}, and must be a whole number {wanted}")
    return number


def positive_number(argument: str, value: Any) -> float:
    """Positive number that is finite; ValueError for anything else."""
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{argument} is {value!r}, and must be a positive number")
    return number


def unlike(names: Sequence[str], text: str) -> list[str]:
    """Names for parameters of a text: their own, with underscores behind those that it has for something else."""
    taken, made = set(re.findall(r"\w+", re.sub("//.*", "", text))), list[str]()
    for name in names:
        while name in taken:
            name += "_"
        taken.add(name)
        made.append(name)
    return made
