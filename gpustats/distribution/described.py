"""Descriptions of densities: their own docstrings, and what Python shows of their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..language.kinds import DENSITY
from ..language.library import library
from ..names.elsewhere import in_others

if TYPE_CHECKING:
    from ..language.device_function import Argument
    from .available import WithFunctions

C = TypeVar("C", bound=type)

#: Values of parameters in examples, as code: by the last word of a domain of numbers; by name; and by density, where these do
#: not go together.
_BY_DOMAIN = {"real": "0.0", "positive": "1.0", "nonnegative": "1.0", "unit": "0.5", "integer": "1"}
_OF_VECTORS = {
    "ordered": "[-1.0, 1.0]", "simplex": "[0.4, 0.6]", "covariance": "[[2.0, 0.5], [0.5, 1.0]]", "vector": "[{0}, {0}]",
}  # fmt: skip
_BY_NAME = {"upper": "2"}
_BY_DENSITY = {
    "crystal_ball": {"m": "2.0"}, "generalized_gamma": {"c": "1.5"}, "interpolated": {"x_points": "[0.0, 1.0]"},
    "negative_hypergeometric": {"M": "20", "n": "7", "r": "5"}, "studentized_range": {"k": "3.0"}, "tweedie": {"p": "1.5"},
    "trapezoidal": {"c": "0.5", "d": "1.5"}, "triangular": {"c": "0.5"}, "truncated_pareto": {"alpha": "2.0"},
    "von_mises_fisher": {"mu": "[0.0, 1.0]"}, "zipf": {"a": "2.0"}, "normal_inverse_gamma": {"alpha": "3.0"},
}  # fmt: skip


class OfEach:
    """Attribute that each density makes for itself; the class has another, or none."""

    def __init__(self, make: Callable[[Any], object], of_class: object = None):
        self.make, self.of_class = make, of_class

    def __get__(self, density: object, owner: type) -> Any:
        if density is not None:
            return self.make(density)
        if self.of_class is None:
            raise AttributeError(f"{owner.__name__} has this of single densities alone")
        return self.of_class


def with_own_docstrings(owner: C) -> C:
    """Class whose objects have docstrings of their own."""
    owner.__doc__ = OfEach(docstring, owner.__doc__)  # type: ignore[assignment]
    return owner


def docstring(density: WithFunctions) -> str:
    """Docstring of a density: its formula, parameters, names elsewhere, and an example."""
    definition, name = density.definition, density.name
    x, *parameters = definition.arguments
    is_known = library.has(name, DENSITY) and library.get(name) is definition
    sentence = f"{name}: {density.description}".removesuffix(".").removesuffix(": ") + "."
    parts = [[sentence]] + [[f"Used for {definition.use}."]] * bool(definition.use)
    if definition.formula:
        head = f"{'Mass function' if density.discrete else 'Density'} of {x.name} ({x.domain}):"
        parts += [[head], [f"    {line}" for line in definition.formula.splitlines()]]
    else:
        parts += [[f"{'Mass function' if density.discrete else 'Density'} of {x.name} ({x.domain})."]]
    if parameters:
        parts += [["Parameters", "----------", *(line for a in parameters for line in _lines(a))]]
    if unsaid := [a.name for a in definition.arguments if not a.stated]:
        said = f"The comment gives no domain of {', '.join(unsaid)}: any number is taken, and none refused."
        parts += [["Notes", "-----", said]]
    if is_known and definition is library.shipped(name) and (elsewhere := list(_elsewhere(name, parameters))):
        parts += [["Notes", "-----", "In other packages:"], elsewhere]
    if definition.reference:
        parts += [["References", "----------", f"{definition.reference.removesuffix('.')}."]]
    if is_known:
        parts += [["Examples", "--------", *_example(density, x, parameters)]]
    parts += [["Methods: see `gpustats.Density`."]]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _elsewhere(name: str, parameters: list[Argument]) -> Iterator[str]:
    """Items of a list: a density in other packages."""
    for package, call, values in in_others(name, [a.name for a in parameters]):
        owner = "" if call.startswith(("scipy.", "pymc.")) else f"{package}'s "
        yield f"- {owner}{call}: {values}"


def _lines(argument: Argument) -> Iterator[str]:
    """Entry of a parameter."""
    yield f"{argument.name} : {argument.domain}"
    if about := argument.description:
        yield f"    {about[:1].upper()}{about[1:]}."


def _example(density: WithFunctions, x: Argument, parameters: list[Argument]) -> Iterator[str]:
    """Lines of an example that runs."""
    given = ", ".join(f"{name}={value}" for name, value in _given(density, parameters).items())
    is_free = x.rank > 0 and not any(a.rank for a in parameters)  # no parameter tells the length of vectors
    draws = "out=np.empty((1000, 2))" if is_free else "1000"
    yield ">>> import numpy as np, gpustats as gs" if is_free else ">>> import gpustats as gs"
    yield f">>> distribution = gs.{density.name}({given})"
    if density._lack_of("ppf") and density.definition.role("sample") is None:
        yield f">>> value = distribution.logpdf({_value(x)})"
        return
    yield f">>> x = distribution.rvs({draws}, rng=1)"
    yield ">>> distribution.logpdf(x).shape"
    yield "(1000,)"


def example_of(density: WithFunctions) -> dict[str, float] | None:
    """Parameters of an example, where all of them are numbers."""
    parameters = density.definition.arguments[1:]
    if any(a.rank for a in parameters):
        return None
    return {n: float(v) for n, v in _given(density, parameters).items()}


def _given(density: WithFunctions, parameters: Sequence[Argument]) -> dict[str, str]:
    """Values of the parameters in an example, as code."""
    own = _BY_DENSITY.get(density.name, {})
    return {a.name: own.get(a.name) or _value(a) for a in parameters}


def _value(argument: Argument) -> str:
    """Value of an argument in an example."""
    number = _BY_NAME.get(argument.name) or next(v for n, v in reversed(_BY_DOMAIN.items()) if n in {"real", *argument.words})
    of_vector = next((text for word, text in _OF_VECTORS.items() if word in argument.words), "{0}")
    return of_vector.format(number)
