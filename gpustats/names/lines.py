"""Lines of tables: a distribution of another package, and how it is made of a density."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"(\w+)\((.*?)\)\s*->\s*(\w+)\((.*?)\)(?: at (.*?))?(?: within (.*))?")


class Line(NamedTuple):
    """Line of a table, ``name(parameters) -> density(values) at x within ends``, the last two of which may be missing."""

    name: str
    parameters: str
    density: str
    values: str
    at: str
    within: str


def lines_of(table: str) -> list[Line]:
    """Lines of a table; ValueError for one that has another form."""
    return [_read(line) for line in table.strip().splitlines()]


def _read(line: str) -> Line:
    matched = _LINE.fullmatch(line.strip())
    if matched is None:
        raise ValueError(f"no line of the table: {line!r}")
    return Line(*(part or "" for part in matched.groups()))
