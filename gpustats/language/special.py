"""Entries of special functions: what the comment above a function in `device_functions/special/` says of it.

``// derivative: tanh(x) * dx`` is the rule by which calls of it are differentiated, in terms of its arguments and of their
derivatives; without one, its text is differentiated. ``// reference: log_cosh(x) = log(cosh(x)), x in (-3, 3.5)`` is its
meaning in mpmath, and where tests compare both; several may stand there, or the path of a test that covers it. A line that
begins with four more spaces goes on with the one before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FUNCTION = re.compile(r"^__device__ (?:real|int|void) (\w+)\(([^)]*)\)", re.MULTILINE)
_KEY = re.compile(r"// (derivative|reference): (.*)")
_FURTHER = re.compile(r"//     +(\S.*)")


@dataclass
class Entry:
    """A special function's file, arguments, derivative and references; see the module."""

    name: str
    path: Path
    line: int  # of the function, from 1
    arguments: list[str]
    derivative: str = ""  # "" where the function's text is differentiated
    references: list[str] = field(default_factory=list)


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a file, in its order."""
    text = path.read_text(encoding="utf-8")
    for match in _FUNCTION.finditer(text):
        above = text[: match.start()].splitlines()
        comment = list(itertools.takewhile(lambda line: line.startswith("//"), reversed(above)))[::-1]
        said: list[list[str]] = []
        for line in comment:
            if key := _KEY.match(line):
                said.append([key[1], key[2]])
            elif (further := _FURTHER.match(line)) and said:
                said[-1][1] += " " + further[1]
        arguments = [a.split()[-1].lstrip("*") for a in match[2].split(",") if a.strip()]
        derivative = "".join(text for key, text in said if key == "derivative")
        references = [text for key, text in said if key == "reference"]
        yield Entry(match[1], path, len(above) + 1, arguments, derivative, references)
