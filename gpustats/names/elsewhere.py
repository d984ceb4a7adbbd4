"""The densities in other packages: one table of names, for descriptions of a density and for hints."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator

from . import pymc, r, scipy, stan
from .lines import Line, lines_of
from .near import did_you_mean

#: How near a name must be to be suggested.
_NEAR = 0.75


@functools.cache
def _scipys() -> dict[str, tuple[str, Line]]:
    """Parameters behind the shapes, and the line, of each of SciPy's distributions."""
    tables = (scipy.CONTINUOUS, ", loc, scale"), (scipy.DISCRETE, ", loc"), (scipy.OF_VECTORS, "")
    return {line.name: (behind, line) for table, behind in tables for line in lines_of(table)}


@functools.cache
def _rs() -> dict[str, Line]:
    """Line of each of R's distributions."""
    return {line.name: line for line in lines_of(r.DISTRIBUTIONS)}


@functools.cache
def _stans() -> dict[str, Line]:
    """Line of each of Stan's distributions."""
    return {line.name: line for line in lines_of(stan.DISTRIBUTIONS)}


def in_scipy(density: str) -> list[tuple[str, str]]:
    """Calls of SciPy's distributions that a density is, and what its parameters are of theirs."""
    return [_made(f"scipy.stats.{n}", behind, line) for n, (behind, line) in _scipys().items() if line.density == density]


def in_pymc(density: str) -> str:
    """PyMC's class of a density; "" where it has none."""
    return name if (name := pymc.class_name(density)) in pymc.DISTRIBUTIONS else ""


def in_r(density: str) -> list[tuple[str, str]]:
    """Call of R's function of a density, and what its parameters are of R's."""
    return [_made(f"{r.LETTERS.get(n, 'd')[0]}{n}", "", line) for n, line in _rs().items() if line.density == density]


def in_stan(density: str) -> list[tuple[str, str]]:
    """Names of Stan's distributions that a density is, with Stan's parameters, and what its parameters are of these."""
    return [_made(n, "", line) for n, line in _stans().items() if line.density == density]


def in_others(density: str, parameters: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Packages that have a density of these parameters: a package, its call, and what the parameters are of its own."""
    yield from (("SciPy", *found) for found in in_scipy(density))
    if name := in_pymc(density):
        theirs = {p: pymc.PARAMETERS.get(density, {}).get(p, p) for p in parameters}
        yield "PyMC", f"pymc.{name}({', '.join(theirs.values())})", ", ".join(f"{p}={their}" for p, their in theirs.items())
    yield from (("Stan", *found) for found in in_stan(density))
    yield from (("R", *found) for found in in_r(density))


def hint_of_parameter(density: str, parameter: str) -> str:
    """Advice for somebody who gives a density a parameter by its name in SciPy or R; "" where there is none."""
    found = []
    for calls in (in_scipy(density), in_r(density)):
        own = [(call, here) for call, here in calls if parameter in re.split(r"[(), ]+", call)[1:]]
        own.sort(key=lambda of: f".{density}(" not in of[0])  # gamma before erlang, which is one
        found += [f"{call} is {here}" for call, here in own[:1]]
    return f"; {', '.join(found)}" if found else ""


def _made(name: str, behind: str, line: Line) -> tuple[str, str]:
    shapes = ", ".join(shape.partition(":")[0] for shape in line.parameters.split(", ") if shape)
    at = f" at {line.at}" if line.at else ""
    return f"{name}({(shapes + behind).removeprefix(', ')})", line.values + at


def hint(name: str, known: Collection[str]) -> str:
    """Advice for somebody who looks for a density of this name, of another package or misspelled; "" where there is none."""
    found = [f"scipy.stats.{name} is gpustats.{_scipys()[name][1].density}"] if name in _scipys() else []
    found += [f"PyMC's {name} is gpustats.{n}" for n in known if pymc.class_name(n) == name in pymc.DISTRIBUTIONS]
    letter, of_r = name[:1], _rs().get(name[1:])
    if of_r is not None and letter in r.LETTERS.get(of_r.name, "dpqr"):
        found.append(f"R's {name} is gpustats.{of_r.density}.{r.METHODS[letter]}")
    if not found and name in _stans():
        found = [f"Stan's {name} is gpustats.{_stans()[name].density}"]
    if not found and (near := did_you_mean(name.lower(), known, 2, _NEAR, str)):
        found = [near]
    return ": " + ", ".join(found) if found else ""
