"""Device functions: parsing and checking the few lines of C that a user writes."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from pycparser import c_ast

from ..errors import DeviceFunctionError
from .nodes import OUTPUT, RNG, VECTOR, VOID, Function, Parameter, Resolve
from .translate import COMMENT, Translator, fail, syntax_tree

#: What a function can compute, by the ending of its name.
ROLES = ("logpdf", "logpmf", "logcdf", "logsf", "cdf", "sample", "cov")
#: What a covariance function sees of two points: their squared distance, and their scalar product.
COVARIANCE_INPUTS = ("sqdist", "dot")
#: The words that a domain is made of.
DOMAIN_WORDS = frozenset("real positive nonnegative unit integer vector simplex ordered covariance".split())
_VECTOR_WORDS = {"vector", "simplex", "ordered"}


@dataclass(frozen=True)
class Argument:
    """An argument as the user sees it: an observation or a parameter."""

    name: str
    domain: str = "real"
    description: str = ""

    @functools.cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.domain.split())

    @functools.cached_property
    def rank(self) -> int:
        """Number of trailing axes that belong to one value: 0 scalar, 1 vector, 2 matrix."""
        return 2 if "covariance" in self.words else 1 if self.words & _VECTOR_WORDS else 0


@dataclass(frozen=True)
class DeviceFunction:
    """One parsed source: the functions in it and what its comment says of the arguments.

    Attributes
    ----------
    name : str
        Name of the distribution: that of its functions without their ending, as `normal` for `normal_logpdf`.
    source : str
        The text, as the user wrote it.
    functions : dict
        Name as printed in a kernel -> parsed function, in the order of the text.
    arguments : tuple of Argument
        Observation first, then the parameters in the order in which users pass them.
    description, reference : str
        First line of the comment; its `source:` entry.
    """

    name: str
    source: str
    functions: dict[str, Function] = field(repr=False)
    arguments: tuple[Argument, ...] = ()
    description: str = ""
    reference: str = ""

    def role(self, *endings: str) -> Function | None:
        """The function whose name ends in one of `endings`."""
        return next((f for e in endings if (f := self.functions.get(f"{self.name}_{e}"))), None)

    @property
    def density(self) -> Function:
        function = self.role("logpdf", "logpmf")
        if function is None:
            raise DeviceFunctionError(f"{self.name} has no function named {self.name}_logpdf or {self.name}_logpmf")
        return function

    @property
    def discrete(self) -> bool:
        if self.role("logpdf", "logpmf") is None:  # a sampler alone
            return bool(self.arguments) and "integer" in self.arguments[0].words
        return self.role("logpmf") is not None

    @property
    def covariance(self) -> bool:
        """Whether it is a covariance function, and no distribution."""
        return self.role(*ROLES[:-1]) is None and self.role("cov") is not None

    @property
    def elliptical(self) -> bool:
        """Whether the density sees its observation through the squared Mahalanobis distance `sqdist` only."""
        function = self.role("logpdf", "logpmf")
        return function is not None and tuple(p.name for p in function.parameters[:2]) == ("sqdist", "logdet")


def parse(source: str, resolve: Resolve = lambda name: None, name: str | None = None) -> DeviceFunction:
    """Parse and check the source of a device function.

    Parameters
    ----------
    source : str
        One or several C functions and a comment that gives the domains; see CONTRIBUTING.md.
    resolve : callable
        Finds functions defined elsewhere: name -> Function, or None.
    name : str, optional
        Name of the distribution, where the functions' names do not tell it.

    Raises
    ------
    DeviceFunctionError
        With the line and column in `source` of what is wrong.
    """
    if not isinstance(source, str):
        raise TypeError(f"source must be a string of C, not {type(source).__name__}")
    tree = syntax_tree(source)
    found = [node for node in tree if isinstance(node, c_ast.FuncDef)]
    name = name or _distribution_name(source, [f.decl.name for f in found])
    functions: dict[str, Function] = {}
    names: dict[str, list[str]] = {}  # of the arguments, as the user wrote them
    for node in tree:
        if not isinstance(node, c_ast.FuncDef):
            fail(source, node, "only functions may stand at the top level")
        translator = Translator(source, name, functions, resolve)
        function = translator.function(node)
        if function.name in functions:
            fail(source, node, f"function {node.decl.name} is defined twice")
        functions[function.name] = function
        names[function.name] = list(translator.scopes[0])
    comment = _comment(source)
    if not any(f"{name}_{role}" in functions for role in ROLES):
        return DeviceFunction(name, source, functions, (), *comment[:2])
    return DeviceFunction(name, source, functions, _arguments(source, name, functions, names, comment[2]), *comment[:2])


def _distribution_name(source: str, names: list[str]) -> str:
    stems = {n.rpartition("_")[0] for n in names if n.rpartition("_")[2] in ROLES and "_" in n}
    if len(stems) != 1:
        wanted = ", ".join(f"name_{role}" for role in ROLES)
        raise DeviceFunctionError(
            f"found {'several distributions' if stems else 'no distribution'} in the functions "
            f"{', '.join(names)}: name the one that matters with an ending out of {wanted}",
            line=1, column=1, source=source,
        )  # fmt: skip
    return stems.pop()


# ---- the comment


def _comment(source: str) -> tuple[str, str, dict[str, tuple[str, str, int]]]:
    """(description, reference, {argument: (domain, description, line)}) from the comments before the first function."""
    entries: dict[str, tuple[str, str, int]] = {}
    description = reference = ""
    for match in COMMENT.finditer(source):
        if "(" in COMMENT.sub("", source[: match.start()]):
            break  # comments inside and after the first function are the author's own
        line = source.count("\n", 0, match.start()) + 1
        for i, text in enumerate(match.group().strip("/*").splitlines()):
            text = text.strip().lstrip("*/").strip()
            for entry in re.split(r"\s{2,}(?=\w+:)", text):
                key, colon, rest = entry.partition(":")
                key, rest = key.strip(), rest.strip()
                if not colon or not key.isidentifier():
                    continue
                if key == "source":
                    reference = rest
                elif rest.split(",")[0].split() and set(rest.split(",")[0].split()) <= DOMAIN_WORDS:
                    domain, _, about = rest.partition(",")
                    entries[key] = (" ".join(domain.split()), about.strip(), line + i)
                elif not description:
                    description = rest
    return description, reference, entries


def _drawn(source: str, sampler: Function, names: list[str]) -> dict[str, Parameter]:
    """The parameters of the distribution that a sampler takes."""
    if not sampler.parameters or sampler.parameters[0].type != RNG:
        raise DeviceFunctionError(
            f"{sampler.name} must take its stream first, `rng_t *rng`", sampler.line, sampler.column, source
        )
    own = zip(names, sampler.parameters, strict=True)
    return {n: p for n, p in own if p.type not in (RNG, OUTPUT) and n != "dim"}


def _same_parameters(source: str, sampler: Function | None, drawn: dict[str, Parameter], names: list[str]) -> None:
    wanted = [n for n in names if n != "dim"]
    if sampler is not None and list(drawn) != wanted:
        raise DeviceFunctionError(
            f"{sampler.name} must take the parameters ({', '.join(wanted)}) behind its stream, not ({', '.join(drawn)})",
            sampler.line, sampler.column, source,
        )  # fmt: skip


def _check_covariance(source: str, function: Function) -> None:
    names = [p.name for p in function.parameters]
    inputs = [n for n in names if n in COVARIANCE_INPUTS]
    if not inputs or names[: len(inputs)] != inputs:
        raise DeviceFunctionError(
            f"{function.name} must take what it sees of two points first: sqdist, their squared distance, or dot, their scalar "
            "product, or both", function.line, function.column, source,
        )  # fmt: skip
    if vectors := [p.name for p in function.parameters if p.type == VECTOR]:
        raise DeviceFunctionError(
            f"{function.name} must take numbers, but {vectors[0]} is a vector", function.line, function.column, source
        )


def _arguments(
    source: str, name: str, functions: dict[str, Function], public: dict[str, list[str]],
    entries: dict[str, tuple[str, str, int]],
) -> tuple[Argument, ...]:
    """The public arguments: those of the signature, with the domains of the comment."""
    function = next(f for role in ROLES if (f := functions.get(f"{name}_{role}")))
    sampler = functions.get(f"{name}_sample")
    drawn = _drawn(source, sampler, public[sampler.name]) if sampler else {}
    if function is sampler:  # there are draws of it, but no density
        observation = {"x": VECTOR if sampler.type == VOID else "real"}
        names, types = ["x", *drawn], {**observation, **{n: p.type for n, p in drawn.items()}}
    else:
        names = public[function.name]
        types = dict(zip(names, (p.type for p in function.parameters), strict=True))
    if not names:
        raise DeviceFunctionError(f"{function.name} takes no observation", line=function.line, source=source)
    if names[:2] == ["sqdist", "logdet"]:  # an elliptical density: the comment says what users pass
        for needed in ("x", "mu", "cov"):
            if needed not in entries:
                raise DeviceFunctionError(
                    f"the comment must give the domain of {needed} for a density of sqdist and logdet",
                    line=function.line, source=source,
                )  # fmt: skip
        _same_parameters(source, sampler, drawn, names[2:])
        order = list(entries)
        return tuple(Argument(n, *entries[n][:2]) for n in ["x", *(n for n in order if n != "x")])
    if function.name == f"{name}_cov":
        _check_covariance(source, function)
    for role in ("logcdf", "logsf", "cdf"):
        other = functions.get(f"{name}_{role}")
        if other is not None and public[other.name] != names:
            raise DeviceFunctionError(
                f"{other.name} must take the arguments of {function.name}, ({', '.join(names)})",
                line=other.line, column=other.column, source=source,
            )  # fmt: skip
    _same_parameters(source, sampler, drawn, names[1:])
    if sampler is not None and (sampler.type == VOID) != (types[names[0]] == VECTOR):
        raise DeviceFunctionError(
            f"{sampler.name} must {'write a vector, `real *`' if types[names[0]] == VECTOR else 'return a number'}, as "
            f"{names[0]} of {function.name} is", line=sampler.line, column=sampler.column, source=source,
        )  # fmt: skip
    for key, (_, _, line) in entries.items():
        if key not in names:
            raise DeviceFunctionError(
                f"the comment gives a domain for '{key}', which is not an argument of {function.name}"
                f"({', '.join(names)})", line=line, column=1, source=source,
            )  # fmt: skip
    arguments = []
    for n in names:
        if n == "dim":
            continue
        domain, about, line = entries.get(n, ("", "", function.line))
        argument = Argument(n, domain or ("vector" if types[n] == VECTOR else "real"), about)
        if (argument.rank == 1) != (types[n] == VECTOR):
            raise DeviceFunctionError(
                f"the comment calls {n} '{domain}', but the signature has it as "
                f"{'const real *' if types[n] == VECTOR else types[n]}", line=line, column=1, source=source,
            )  # fmt: skip
        arguments.append(argument)
    return tuple(arguments)
