"""The functions that a mixture is made of: a component's weighted density, and its share of the whole."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..language.derived import derived

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise


def _fresh(name: str, function: Pointwise) -> str:
    """A name that is none of the function's parameters'."""
    while any(p.name == name for p in function.function.parameters):
        name += "_"
    return name


def weighted_term(function: Pointwise) -> Pointwise:
    """log_weight + f, a function of another argument for each set: -inf where the weight is 0, whatever f is."""
    weight = _fresh("log_weight", function)
    call = f"{function.function.name}({', '.join(p.name for p in function.function.parameters)})"
    body = f"    return {weight} == -INFINITY ? -INFINITY : {weight} + {call};\n"
    made = derived(function.function, "weighted_term", body, function.functions.get, [weight])
    return function.with_function(made, more=[weight])


@functools.lru_cache
def shares(terms: Pointwise) -> Pointwise:
    """exp(terms - total), the responsibility, where `total` is the mixture's log-density at the row.

    Its derivatives with `total` held fixed, summed over the rows, are those of the mixture's log-likelihood.
    """
    total, value = _fresh("total", terms), _fresh("value", terms)
    call = f"{terms.function.name}({', '.join(p.name for p in terms.function.parameters)})"
    # Where the responsibility is 0, so are its derivatives, even if those of the term are not finite.
    body = (
        f"    real {value} = {call};\n"
        f"    {value} = {value} == -INFINITY ? 0 : exp({value} - {total});\n"
        f"    return {value} == 0 ? 0 : {value};\n"
    )
    made = derived(terms.function, "share", body, terms.functions.get, [total])
    return terms.with_function(made, by_row=[total])
