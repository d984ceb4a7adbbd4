"""Functions beside a density, checked and ready to be evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..evaluation.pointwise import Pointwise
from ..language.device_function import Argument
from ..language.kinds import DISTRIBUTION_FUNCTIONS, QUANTILES
from ..language.names import numbered_name
from ..rewriting.beside import NO_PARAMETER
from ..rewriting.distribution_functions import (
    distribution_function,
    has_distribution_function,
    lacks_distribution_function,
)
from ..rewriting.inversion import has_quantiles, quantile
from ..rewriting.numbers import ORDER, lacks_number, number

if TYPE_CHECKING:
    from ..language.device_function import DeviceFunction
    from ..language.nodes import Function
    from ..runtime.types import Values


def function_of(
    definition: DeviceFunction, ending: str, functions: Mapping[str, Function], defaults: Mapping[str, Values],
    lost: bool = False,
) -> Pointwise:  # fmt: skip
    """Function with an ending, or where it is `lost`: see `Density.function` and `Density.lost`.

    `functions` are all that those of the source call; `defaults` are values of the parameters that a call may leave out.
    """
    if lack := lack_of(definition, ending):
        raise NotImplementedError(lack)
    functions, (x, *parameters) = dict(functions), definition.arguments
    names = [a.name for a in parameters]
    if ending in DISTRIBUTION_FUNCTIONS:
        function, first = distribution_function(definition, ending, functions, both_sides=True), [Argument(x.name)]
    elif ending in QUANTILES:
        function, first = quantile(definition, ending, functions), [Argument(numbered_name("q", names), "unit")]
    else:
        function = number(definition, ending, functions, lost)
        first = [Argument(numbered_name(ORDER.name, names), ORDER.domain)] if ending == "moment" else []
        if not parameters and not first:
            parameters, defaults = [NO_PARAMETER], {NO_PARAMETER.name: 0.0}
    return Pointwise(definition.name, function, [*first, *parameters], functions, definition.source, defaults)


def lack_of(definition: DeviceFunction, ending: str) -> str:
    """Message why there is no function with an ending, with advice; empty where there is one."""
    if definition.arguments[0].rank:
        there_are = "of distributions of vectors there are pdf, logpdf, loglik and rvs; scipy.stats has more of some"
        return f"{definition.name} has no {ending}: {there_are}"
    if ending in DISTRIBUTION_FUNCTIONS:
        return "" if has_distribution_function(definition) else lacks_distribution_function(definition)
    if ending in QUANTILES or (ending == "median" and definition.role(ending) is None):
        return "" if has_quantiles(definition) else lacks_distribution_function(definition)
    return lacks_number(definition, ending)
