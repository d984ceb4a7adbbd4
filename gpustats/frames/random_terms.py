"""Terms of groups in a formula, ``(1 + x | county)``, which no library of formulas knows: taken out of its text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

_OPEN, _CLOSE, _QUOTES = "([{", ")]}", "`'\""
MOST_SHOWN = 24  # characters of a formula in an error
_NAME = re.compile(r"\s*(?:`([^`]+)`|([^\W\d]\w*))\s*")


class RandomTerm(NamedTuple):
    """Intercepts or slopes of groups."""

    columns: str  # formula of the columns that each group has coefficients of, such as "1 + x"
    groups: tuple[str, ...]  # columns whose labels together make a group
    correlated: bool  # whether the coefficients of a group belong together; else each column is a term by itself


class Parts(NamedTuple):
    """Parts of a formula."""

    observations: str  # left of the tilde
    columns: str  # the rest of the right-hand side
    terms: tuple[RandomTerm, ...]


def split(formula: str) -> Parts:
    """Parts of a formula; ValueError where it has no left-hand side, or a term of groups is not understood."""
    if not isinstance(formula, str):
        raise TypeError(f"formula must be a string such as 'y ~ x', not {type(formula).__name__}")
    _check_closed(formula)
    depths = list(_depths(formula))
    tildes = [i for i, depth in enumerate(depths) if formula[i] == "~" and depth == 0]
    if len(tildes) != 1 or not formula[: tildes[0]].strip():
        what = "no ~" if not tildes else "several ~" if len(tildes) > 1 else "nothing before its ~"
        raise ValueError(f"the formula {formula!r} has {what}: it must be such as 'y ~ x + z', with observations at the left")
    terms, kept, end = list[RandomTerm](), list[str](), tildes[0] + 1
    for first, last in _parentheses(formula, depths, tildes[0] + 1):
        inner = formula[first + 1 : last]
        bars = [i for i, depth in enumerate(_depths(inner)) if inner[i] == "|" and depth == 0]
        if not bars:
            continue
        before, behind = formula[end:first].rstrip(), formula[last + 1 :].lstrip()
        if not (before.endswith("+") or (not before and not kept)) or not (not behind or behind[0] in "+-"):
            raise ValueError(f"the formula has ({inner}) in a product or a difference: terms of groups are added, + ({inner})")
        terms += _terms(inner, bars)
        kept.append(before.removesuffix("+"))
        end = last + 1
    kept.append(formula[end:])
    columns = "".join(kept).strip().removeprefix("+").strip()
    return Parts(formula[: tildes[0]].strip(), columns or "1", tuple(terms))


def quoted(text: str) -> list[str]:
    """Names in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def _check_closed(formula: str) -> None:
    """ValueError where a bracket or a quote of a formula is not closed, or closes what is not open."""
    opened = list[int]()
    quoted, escaped = False, False
    for i, c in enumerate(formula):
        if quoted:
            quote = formula[opened[-1]]
            quoted = escaped or c != quote
            escaped = c == "\\" and not escaped and quote != "`"
            if not quoted:
                opened.pop()
        elif c in _OPEN or c in _QUOTES:
            opened.append(i)
            quoted = c in _QUOTES
        elif c in _CLOSE:
            if not opened or formula[opened[-1]] != _OPEN[_CLOSE.index(c)]:
                where = f"nothing but {_CLOSE[_OPEN.index(formula[opened[-1]])]} closes" if opened else "nothing is open"
                raise ValueError(f"the formula {formula!r} has a {c} behind {formula[:i][-MOST_SHOWN:]!r}, where {where}")
            opened.pop()
    if opened:
        raise ValueError(
            f"the formula {formula!r} opens {formula[opened[-1]]} and does not close it: {_from(formula, opened[-1])!r}"
        )


def _from(formula: str, place: int) -> str:
    """Formula from a place on, in short."""
    return formula[place:] if len(formula) - place <= MOST_SHOWN else f"{formula[place : place + MOST_SHOWN]}…"


def _depths(text: str) -> Iterator[int]:
    """Number of brackets around each character, which counts for the brackets themselves; -1 within quotes."""
    depth, quote = 0, ""
    for c in text:
        if quote or c in _QUOTES:
            yield -1
            quote = c if not quote else "" if c == quote else quote
        else:
            depth += c in _OPEN
            yield depth
            depth -= c in _CLOSE


def _parentheses(text: str, depths: list[int], start: int) -> Iterator[tuple[int, int]]:
    """Places of outer parentheses and of what closes them, without those of calls."""
    first = None
    for i in range(start, len(text)):
        if text[i] == "(" and depths[i] == 1:
            first = None if re.search(r"[\w`.\])]\s*$", text[start:i]) else i
        elif text[i] == ")" and depths[i] == 1 and first is not None:
            yield first, i
            first = None


def _terms(inner: str, bars: list[int]) -> list[RandomTerm]:
    """Terms of what stands between parentheses, with its bars: several for nested groups."""
    double = len(bars) == 2 and bars[1] == bars[0] + 1
    if len(bars) > 1 and not double:
        raise ValueError(f"the term ({inner}) has several bars: it must be such as (1 + x | county)")
    columns = inner[: bars[0]].strip()
    if not columns:
        raise ValueError(f"the term ({inner}) has nothing before its bar: it must be such as (1 | county)")
    levels = [_names(part, inner) for part in inner[bars[-1] + 1 :].split("/")]
    nested = itertools.accumulate(levels, lambda outer, own: (*outer, *own))
    return [RandomTerm(columns, groups, not double) for groups in nested]


def _names(text: str, inner: str) -> tuple[str, ...]:
    """Names of columns between colons."""
    found = [_NAME.fullmatch(part) for part in text.split(":")]
    if any(match is None for match in found):
        raise ValueError(
            f"the term ({inner}) has groups {text.strip()!r}: they must be names of columns, county, county:school for "
            "combinations, county/school for both"
        )
    return tuple(match[1] or match[2] for match in found if match is not None)
