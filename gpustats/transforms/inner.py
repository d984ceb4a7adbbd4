"""Inner density of a transform: calls of its functions, as C code for the new density."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..density import ELLIPTICAL, Density
from ..distribution.given import check_density
from ..language.derived import resolve_in, taken_in
from ..language.device_function import Argument, parse
from ..language.kinds import NUMBERS, QUANTILES
from ..language.names import fresh_name
from ..language.nodes import Function
from ..rewriting.checks import checked
from ..rewriting.distribution_functions import distribution_function, has_distribution_function, log_between
from ..rewriting.inversion import has_quantiles, inverted, quantile
from ..rewriting.numbers import number
from ..runtime.types import Values


class Inner:
    """Density that a transform takes, as the text of the new one refers to it.

    Its functions are called with the rules of `checked` around them, which so hold inside of the new density.

    Parameters
    ----------
    transform : str
        The name of the transform, for errors.
    density : Density
    given : mapping, optional
        C expressions for its arguments in the new text, by their names; by default the arguments themselves.
    """

    def __init__(self, transform: str, density: Density, given: Mapping[str, str] | None = None):
        check_density(density, transform)
        self.transform, self.density, self.definition = transform, density, density.definition
        self.functions = dict(density.log_density.functions)
        function = self.definition.density
        self.arguments: Sequence[Argument] = self.definition.arguments  # of the C functions
        elliptical = self.definition.kind is ELLIPTICAL
        if elliptical:
            self.arguments = [Argument(p.name) for p in function.parameters if p.name != "dim"]
        self.observed = len(ELLIPTICAL.inputs) if elliptical else 1  # how many of them stand for the observation
        self._passed = [(given or {}).get(a.name, a.name) for a in self.arguments]
        self.x = self._passed[0]
        self.stream, self.q = self.fresh("rng"), self.fresh("q")  # what samplers call theirs, and quantiles the probability

    def refuse(self, needed: str) -> ValueError:
        return ValueError(f"{self.transform} takes {needed}, which {self.density.name} is not")

    def require_scalar(self) -> None:
        if self.definition.arguments[0].rank:
            raise self.refuse("the density of a single number")

    def log_density(self, at: str | None = None) -> str:
        """Call of the log-density at the observation, or at another C expression."""
        return self.call(self.density.log_density.function, at)

    def log_density_between(self) -> str:
        """Call of the log-density of whole numbers that goes on between them, as its moments by quadrature need it."""
        x, *parameters = self.definition.arguments
        between = Argument(x.name, " ".join(word for word in x.domain.split() if word != "integer") or "real")
        function = checked(self.definition.density, [between, *parameters], resolve_in(self.functions))
        self.functions[function.name] = function
        return self.call(function, None)

    def log_cdf(self, at: str) -> str:
        """Call of the logarithm of the distribution function."""
        return self.call(distribution_function(self.definition, "logcdf", self.functions), at)

    def log_sf(self, at: str) -> str:
        """Call of the logarithm of the survival function."""
        return self.call(distribution_function(self.definition, "logsf", self.functions), at)

    def probabilities(self, reflected: bool = False) -> dict[str, str]:
        """Bodies of the distribution function and its complement, if the density's source writes them.

        `reflected`: each has the value of the other one.
        """
        others = {"cdf": "sf", "sf": "cdf"} if reflected else {"cdf": "cdf", "sf": "sf"}
        return {
            ending: f"    return {self.call(distribution_function(self.definition, other, self.functions), None)};\n"
            for ending, other in others.items()
            if self.definition.role(other) is not None
        }

    def quantiles(self, formula: str, reflected: bool = False) -> dict[str, str]:
        """Bodies of both quantiles, C in which {} stands for the inner quantile; none where there is no inner quantile.

        `reflected`: in which {} stands for that of the other tail.
        """
        if not has_quantiles(self.definition):
            return {}
        calls = [self.call(quantile(self.definition, e, self.functions), self.q) for e in QUANTILES]
        calls = calls[::-1] if reflected else calls
        return {e: f"    return {formula.format(call)};\n" for e, call in zip(QUANTILES, calls, strict=True)}

    def number(self, ending: str) -> str:
        """Call of a function of the parameters alone; empty where the density's source does not write it.

        The ends of the support can always be had.
        """
        if self.definition.role(ending) is None and ending not in ("lower", "upper"):
            return ""
        function = number(self.definition, ending, self.functions)
        return _called(function, *(self._passed[1:] or ["0"]))

    def numbers(self, **formulas: str) -> dict[str, str]:
        """Bodies of functions of the parameters alone: C in which {} stands for the inner function, where there is one."""
        calls = {ending: self.number(ending) for ending in formulas}
        return {e: f"    return {formula.format(calls[e])};\n" for e, formula in formulas.items() if calls[e]}

    def stretched(self, shift: str, stretch: str, reflected: bool = False) -> dict[str, str]:
        """Bodies of quantiles, numbers and a sampler for ``shift + stretch * y``, y having the inner density.

        `shift` and `stretch` are C expressions. `reflected`: for ``shift - stretch * y``.
        """
        wide, factor = stretch != "1", enclosed(stretch)
        moved = f"{factor} * {{}}" if wide else "{}"
        if reflected or shift != "0":
            moved = f"{enclosed(shift)} {'-' if reflected else '+'} {moved}"
        bodies = {} if self.density.discrete else self.quantiles(moved, reflected)
        bodies |= self.numbers(
            **dict.fromkeys(("mean", "median", "mode"), moved), skewness="-{}" if reflected else "{}", kurtosis="{}",
            lower=moved, upper=moved, var=f"{factor} * {factor} * {{}}" if wide else "{}",
            entropy=f"{{}} + log({stretch})" if wide else "{}",
        )  # fmt: skip
        if reflected:
            bodies["lower"], bodies["upper"] = bodies["upper"], bodies["lower"]
        if drawn := self.sample():
            bodies["sample"] = f"    return {moved.format(drawn)};\n"
        return bodies

    def sample(self) -> str | None:
        """Call of the sampler, or of the inverted distribution function; None where there is neither."""
        try:
            sampler = self.definition.role("sample") or inverted(self.definition, self.functions)
        except NotImplementedError:
            return None
        return _called(sampler, self.stream, *self._passed[self.observed :])

    def tails(self, at: str) -> str:
        """Calls of `log_cdf` and `log_sf`, as two arguments."""
        return f"\n        {self.log_cdf(at)}, {self.log_sf(at)}"

    def fresh(self, name: str) -> str:
        """Name for a new variable, which hides no argument."""
        return fresh_name(name, {a.name for a in self.arguments})

    @property
    def has_tails(self) -> bool:
        """True if the density has a distribution function."""
        return has_distribution_function(self.definition)

    def log_between(self, lower: str, upper: str, below: str, above: str) -> str:
        """Call of the log-probability between two numbers, whose `tails` are given."""
        function = log_between(self.density.log_density.function, self.density.discrete, self.functions)
        dim = ["dim"] * any(p.name == "dim" for p in function.parameters)
        return f"{function.name}({', '.join([lower, *self._passed[1:], upper, below, above, *dim])})"

    def call(self, function: Function, at: str | None) -> str:
        """Call of a function of an observation (or a probability) and the parameters, at a C expression."""
        return _called(function, at or self.x, *self._passed[1:])

    def transformed(
        self, suffix: str, description: str, bodies: Mapping[str, str], *, domain: str | None = None,
        first: Sequence[Argument] = (), last: Sequence[Argument] = (), defaults: Mapping[str, Values] | None = None,
    ) -> Density:  # fmt: skip
        """Density that a transform makes.

        Parameters
        ----------
        suffix, description : str
            Suffix of the inner density's name in the name of the new one, and of its comment.
        bodies : mapping
            The C statements of its functions by the endings of their names, ``density`` for the log-density.
        domain : str, optional
            Domain of the observation, where it is not the inner density's.
        first, last : sequence of Argument
            New parameters before and behind those of the inner density.
        defaults : mapping, optional
            Values of new parameters. Parameters that have one stand behind those that have none, as in Python.
        """
        density, name = self.density, f"{self.density.name}_{suffix}"
        defaults = {**density.defaults, **(defaults or {})}
        if taken := [a.name for a in (*first, *last) if a.name in density.domains]:
            raise ValueError(f"{self.transform} adds a parameter {taken[0]}, but {density.name} has one of this name")

        def arranged(arguments: Sequence[Argument], observed: int) -> list[Argument]:
            parameters = [*first, *arguments[observed:], *last]
            return [*arguments[:observed], *sorted(parameters, key=lambda a: a.name in defaults)]

        x, *parameters = arranged(self.definition.arguments, 1)
        arguments = [Argument(x.name, domain or x.domain, x.description), *parameters]
        declared = arranged(self.arguments, self.observed)
        return self.written(name, f"{density.name} {description}", arguments, declared, self.observed, bodies, defaults)

    def written(
        self, name: str, description: str, arguments: Sequence[Argument], declared: Sequence[Argument], observed: int,
        bodies: Mapping[str, str], defaults: Mapping[str, Values],
    ) -> Density:  # fmt: skip
        """Density of a name whose functions have these bodies.

        Parameters
        ----------
        arguments : sequence of Argument
            As users know them, the observation first.
        declared : sequence of Argument
            Arguments of the functions; `observed` of them stand for the observation.
        description, bodies, defaults
            As for `transformed`.
        """
        density = self.density
        text = f"// {name}: {description}\n"
        for a in arguments:
            text += f"// {a.name}: {a.domain}{a.description and ', ' + a.description}\n"
        text += f"// source: {density.reference}\n" if density.reference else ""
        types = [f"{'const real *' if a.rank else 'real '}{a.name}" for a in declared]
        types += ["int dim"] * self.definition.density.has_dim
        behind = types[observed:]
        first_of: dict[str, list[str]] = {"sample": [f"rng_t *{self.stream}"], **dict.fromkeys(NUMBERS, [])}
        first_of |= dict.fromkeys(QUANTILES, [f"real {self.q}"])
        for ending, body in bodies.items():
            given = [*first_of.get(ending, types[:observed]), *behind]
            if ending == "density":
                ending = "logpmf" if density.discrete else "logpdf"
            text += f"__device__ real {name}_{ending}({', '.join(given)})\n{{\n{body}}}\n"
        definition = parse(text, resolve_in(self.functions), name, taken_in(self.functions))
        return Density(definition, self.functions, defaults)


def enclosed(expression: str) -> str:
    """Expression as an operand: in brackets, unless it is a name or has some."""
    return expression if re.fullmatch(r"\w+|\(.*\)", expression) else f"({expression})"


def _called(function: Function, *arguments: str) -> str:
    """Call of a function in C, which may take ``dim`` beside these arguments."""
    given = iter(arguments)
    return f"{function.name}({', '.join('dim' if p.name == 'dim' else next(given) for p in function.parameters)})"
