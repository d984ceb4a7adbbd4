"""Functions of a mixture: a component's weighted density, and its share of the whole."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..evaluation.placement import as_read
from ..evaluation.pointwise import Pointwise
from ..language.derived import with_argument
from ..language.names import fresh_name
from ..runtime.arrays import as_array, is_device_array
from ..runtime.base import Runtime
from ..runtime.types import Value

_KINDS = ("number", "vector", "matrix")


def weighted_term(function: Pointwise) -> Pointwise:
    """Weighted term log_weight + f, a function of another argument for each set: -inf where the weight is 0, whatever f is."""
    body = "    return {argument} == -INFINITY ? -INFINITY : {argument} + {call};\n"
    made, weight = with_argument(function.function, "weighted_term", "log_weight", body, function.functions.get)
    return function.with_function(made, more=[weight])


@functools.lru_cache
def shares(terms: Pointwise) -> Pointwise:
    """Responsibility exp(terms - total), where `total` is the mixture's log-density at the row.

    Its derivatives with `total` held fixed, summed over the rows, are those of the mixture's log-likelihood.
    """
    value = fresh_name("value", {p.name for p in terms.function.parameters})
    # Where the responsibility is 0, so are its derivatives, even if those of the term are not finite.
    body = (
        f"    real {value} = {{call}};\n"
        f"    {value} = {value} == -INFINITY ? 0 : exp({value} - {{argument}});\n"
        f"    return {value} == 0 ? 0 : {value};\n"
    )
    made, total = with_argument(terms.function, "share", "total", body, terms.functions.get)
    return terms.with_function(made, by_row=[total])


def as_sets(runtime: Runtime, value: Value, rank: int) -> Any:
    """Parameter sets along the first axis, as a sum takes them: with an axis for the rows behind it."""
    if isinstance(value, float) or len(value.shape) == rank:
        return value
    if is_device_array(value):
        value = as_read(runtime, value, value.dtype)
    return value.reshape(value.shape[0], 1, *value.shape[1:])


def bound(function: Pointwise, x: Value, log_weights: Value, parameters: Sequence[Value]) -> list[Value]:
    """Observations, parameters and weights of a call; ValueError where they do not fit."""
    weights = as_array(log_weights, "log_weights")
    if isinstance(weights, float) or weights.ndim != 1 or not weights.shape[0]:
        shape = () if isinstance(weights, float) else tuple(weights.shape)
        raise ValueError(
            f"log_weights has shape {shape}: a mixture takes one number for each component, an array of shape (K,)"
        )
    n_sets = weights.shape[0]
    batch, _ = function.batch_shapes([x, *parameters])
    for argument, value, shape in zip(function.arguments[1:], parameters, batch[1:], strict=True):
        if shape not in ((), (1,), (n_sets,)):
            raise ValueError(
                f"{argument.name} has shape {tuple(value.shape)}: a mixture of {n_sets} components, one for each of "
                f"log_weights, takes one {_KINDS[argument.rank]}, or {n_sets} of them along the first axis"
            )
    return [x, *parameters, weights]
