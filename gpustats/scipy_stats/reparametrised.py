"""SciPy's distributions as densities in the language of device functions, each written by means of a density."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..density import Density, densities
from ..language.device_function import Argument
from ..names.lines import Line, lines_of
from ..names.scipy import CONTINUOUS, DISCRETE, SUPPORTS
from ..runtime.cached import cached_property
from ..transforms.inner import Inner, enclosed

#: SciPy's distributions are in their standard form unless a call moves or stretches them.
DEFAULTS = {"loc": 0.0, "scale": 1.0}

_AT = re.compile(r"\((?P<inner>.*)\) / (?P<stretch>\w+|\(.*\))|(?P<whole>.*)")


@dataclass(frozen=True)
class Named:
    """Line of the table: one of SciPy's distributions, and how it is made of a density.

    The distribution is that of ``shift + stretch * y``, or ``shift - stretch * y`` where it is `reflected`, y having the
    density.

    Attributes
    ----------
    name : str
        SciPy's.
    shapes : dict
        The names of its shapes, and the domains of those that do not have that of the density's parameter.
    density : str
        The name of the density.
    values : dict
        A C expression for each of its parameters.
    shift, stretch : str
        C expressions.
    reflected, discrete : bool
    within : tuple of str
        C expressions of the ends of the support of y, where the density goes on beyond them.
    """

    name: str
    shapes: dict[str, str]
    density: str
    values: dict[str, str]
    shift: str
    stretch: str
    reflected: bool
    discrete: bool
    within: tuple[str, ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Parameters of a call, in SciPy's order."""
        return (*self.shapes, "loc") if self.discrete else (*self.shapes, "loc", "scale")

    @cached_property
    def arguments(self) -> list[Argument]:
        """Arguments of the density: SciPy's parameters and their domains."""
        inner = {a.name: a for a in densities[self.density].definition.arguments}
        same = {formula: inner[name] for name, formula in self.values.items()}
        found = []
        for name, domain in self.shapes.items():
            argument = same.get(name, Argument(name))
            found.append(Argument(name, domain or argument.domain, argument.description))
        found.append(Argument("loc", "integer" if self.discrete else "real", "location"))
        return found if self.discrete else [*found, Argument("scale", "positive", "scale")]

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the support in the standard form, -inf and inf where shapes may move them."""
        if self.name in SUPPORTS:
            return SUPPORTS[self.name]
        words = densities[self.density].definition.arguments[0].words
        low = 0.0 if words & {"nonnegative", "positive", "unit"} else -math.inf
        low = 1.0 if {"positive", "integer"} <= words else low
        high = 1.0 if "unit" in words or self.name == "bernoulli" else math.inf
        return (-high, 0.0 - low) if self.reflected else (low, high)

    def made(self, standard: bool = False) -> Density:
        """Density of SciPy's parameters, or, of the standard form, of its shapes alone.

        In a table of the standard form what depends on x alone, such as its logarithm, is computed once for each x: a kernel
        that is given a location has to see that of x - loc for each set of parameters.
        """
        density = densities[self.density]
        x = "x" if self.shift == "0" else f"(x - {enclosed(self.shift)})"
        if self.reflected:
            x = f"({enclosed(self.shift)} - x)"
        at = x if self.stretch == "1" else f"({x} / {enclosed(self.stretch)})"
        observation, *parameters = density.definition.arguments
        if lacking := [a.name for a in parameters if a.name not in self.values]:
            raise ValueError(f"{self.name}: {self.density} has a parameter {lacking[0]}, of which the table says nothing")
        inner = Inner("scipy_stats", density, {observation.name: at, **{n: f"({v})" for n, v in self.values.items()}})
        bodies, arguments, name = self._bodies(inner, at), self.arguments, f"scipy_{self.name}"
        if standard:
            known = "".join(f"    real {n} = {int(v)};\n" for n, v in self.defaults.items())
            bodies = {ending: known + body for ending, body in bodies.items()}
            arguments, name = arguments[: len(self.shapes)], f"{name}_standard"
        arguments = [Argument("x", "integer" if self.discrete else "real"), *arguments]
        return inner.written(name, density.description, arguments, arguments, 1, bodies, {} if standard else self.defaults)

    @property
    def defaults(self) -> dict[str, float]:
        return {n: v for n, v in DEFAULTS.items() if n in self.parameters}

    def _bodies(self, inner: Inner, at: str) -> dict[str, str]:
        """Statements in C of the functions of the new density."""
        stretched = self.stretch != "1"
        log_density = inner.log_density_between() if self.discrete else inner.log_density()
        log_density += f" - log({self.stretch})" if stretched else ""
        bodies = {"density": f"    return {log_density};\n"}
        if self.within:
            low, high = self.within
            bodies["density"] = f"    if ({at} < {low} || {at} > {high}) return -INFINITY;\n" + bodies["density"]
        if inner.has_tails:
            below, above = inner.log_cdf(inner.x), inner.log_sf(inner.x)
            below, above = (above, below) if self.reflected else (below, above)
            bodies |= {"logcdf": f"    return {below};\n", "logsf": f"    return {above};\n"}
            bodies |= inner.probabilities(self.reflected)
        return bodies | inner.stretched(self.shift, self.stretch, self.reflected)


def _read(line: Line, discrete: bool) -> Named:
    """Entry of the table, from its line."""
    name, shapes, density, values, at, within = line
    shift, stretch, reflected = "0", "1", False
    if at:
        moved = _AT.fullmatch(at)
        assert moved is not None
        stretch = moved["stretch"] or "1"
        first, _, second = (moved["inner"] or moved["whole"]).partition(" - ")
        reflected = second == "x"
        shift = first if reflected else second or "0"
    split = (shape.partition(":") for shape in re.split(", ", shapes) if shape)
    return Named(
        name, {shape: domain.strip() for shape, _, domain in split}, density, _values(values), _plain(shift), _plain(stretch),
        reflected, discrete, tuple(within.split(", ")) if within else (),
    )  # fmt: skip


def _plain(expression: str) -> str:
    """Expression without the brackets around the whole."""
    return expression[1:-1] if re.fullmatch(r"\([^()]*\)", expression) else expression


def _values(text: str) -> dict[str, str]:
    """Values ``alpha=a, beta=fmax(b, c)`` as a dictionary."""
    return {part.partition("=")[0]: part.partition("=")[2] for part in re.split(r", (?=\w+=)", text) if part}


@functools.cache
def names() -> Mapping[str, Named]:
    """Lines of the table by SciPy's names."""
    tables = (CONTINUOUS, False), (DISCRETE, True)
    return {line.name: _read(line, discrete) for table, discrete in tables for line in lines_of(table)}
