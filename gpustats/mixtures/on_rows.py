"""Mixtures as sums over rows of a function of their weights and parameters, for the second derivatives that these have."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ..density import Density
from ..language.kinds import DENSITY
from ..language.library import library
from ..rewriting.checks import inside
from ..rows.along import Along
from ..rows.model import Rows, rows_on
from .one_pass import WEIGHTS

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Array, Shape

MOST_ON_ROWS = 32  # components, each of which a row function writes out


def on_rows(density: Density) -> bool:
    """True if row functions can call a density by its name."""
    return library.has(density.name, DENSITY) and library.get(density.name) is density.definition


def along(density: Density, x: Array, runtime: Runtime, names: Collection[str]) -> Along | None:
    """Derivative of a mixture's sum in a direction; None where row functions cannot call the density by its name.

    Parameters
    ----------
    density : Density
        Density of a number, of one component.
    x : (N,) array
    runtime : Runtime
    names : collection of str
        Parameters in which the direction has components.
    """
    if not on_rows(density):
        return None

    @functools.cache
    def of_shapes(shapes: tuple[tuple[str, Shape], ...]) -> Rows:
        return mixture_rows(density, x, runtime, dict(shapes))

    return Along(lambda shapes: of_shapes(tuple(shapes.items())), names, {n: n for n in (WEIGHTS, *density.parameters)})


def mixture_rows(density: Density, x: Array, runtime: Runtime, shapes: Mapping[str, Shape]) -> Rows:
    """Sum of the mixture's log-density over observations; the weights and parameters with an axis are vectors of a row.

    Raises
    ------
    ValueError
        For parameters with neither one value nor one for each component, or for too many components.
    """
    (k,), observation = shapes[WEIGHTS], density.definition.arguments[0]
    if k > MOST_ON_ROWS or any(shapes[n] not in ((), (k,)) for n in density.parameters):
        listed = ", ".join(f"{n} {shapes[n]}" for n in (WEIGHTS, *density.parameters))
        raise ValueError(f"second derivatives are of {MOST_ON_ROWS} components at most, each parameter () or (K,): {listed}")
    declared = "".join(f", const real *{n}" if shapes[n] else f", real {n}" for n in density.parameters)
    given = "".join(f", {n}[k]" if shapes[n] else f", {n}" for n in density.parameters)
    function = f"{density.name}_{'logpmf' if density.discrete else 'logpdf'}"
    source = f"""
    real mixture_row(real observed, const real *{WEIGHTS}{declared}, int dim)
    {{
        real term[{k}], top = -1e30, sum = 0;
        for (int k = 0; k < {k}; k++) {{
            term[k] = {inside(observation.words, "observed")} ? {WEIGHTS}[k] + {function}(observed{given}) : -INFINITY;
            top = fmax(top, stop_gradient(term[k]));
        }}
        for (int k = 0; k < {k}; k++)
            sum += exp(term[k] - top);
        return log(sum) + top;
    }}"""
    return rows_on(runtime, source, None, {"observed": x})
