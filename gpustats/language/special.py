"""Functions that gpustats ships, and entries of special ones: what comments in `device_functions/special/` say of them.

``// derivative: tanh(x) * dx`` is the rule by which calls of it are differentiated, in terms of its arguments and of their
derivatives; without one, its text is differentiated. ``// reference: log_cosh(x) = log(cosh(x)), x in (-3, 3.5)`` is its
meaning in mpmath, and where tests compare both; several may stand there, or the path of a test that covers it. A line that
begins with four more spaces goes on with the one before.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .kinds import endings

SPECIAL = "special"
_FUNCTION = re.compile(r"^__device__ (?:real|int|void) (\w+)\(([^)]*)\)", re.MULTILINE)
_KEY = re.compile(r"// (derivative|reference): (.*)")
_FURTHER = re.compile(r"//     +(\S.*)")


@functools.cache
def folder() -> Path:
    """Folder of the built-in device functions: beside the modules when installed, beside the package in a checkout."""
    here = Path(__file__).parents[1]
    installed = here / "device_functions"
    return installed if installed.is_dir() else here.parent / "device_functions"


def shipped_functions() -> Iterator[str]:
    """Names of functions that any source may call: special ones, and those with an ending that has a meaning."""
    for path in (*folder().glob("*.cu"), *folder().glob(f"{SPECIAL}/*.cu")):
        names = (match[1] for match in _FUNCTION.finditer(path.read_text(encoding="utf-8")))
        yield from (n for n in names if path.parent.name == SPECIAL or n.rpartition("_")[2] in endings())


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
