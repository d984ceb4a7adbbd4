"""Densities in notebooks: formula, parameters, and a small picture of values that the device computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..display.html import Html, card, code, element, facts, shape_of, table
from ..display.svg import bars, curve
from .described import example_of

#: Points of a curve, and most whole numbers of a mass function.
POINTS, MOST_WHOLE = 121, 60
#: Probabilities of the ends of a picture, and the quartiles: the ends lie at most FARTHEST times their distance outside.
ENDS, QUARTILES, FARTHEST = (0.005, 0.995), (0.25, 0.75), 3.0


def of_density(density: Any) -> str:
    """HTML of a density: at parameters of an example, which stand below the picture."""
    definition = density.definition
    x, *parameters = definition.arguments
    whole = "mass function" if density.discrete else "density"
    known = facts({whole: code(definition.formula) if definition.formula else "", "of": f"{x.name} ({x.domain})"})
    rows = [(a.name, a.domain, a.description) for a in parameters]
    given = _given(density)
    picture = Html() if given is None else _picture(density(**given))
    below = element("p", f"at {', '.join(f'{n} = {v:g}' for n, v in given.items())}") if picture and given else ""
    of_parameters = table(rows, ("parameter", "domain", "")) if rows else ""
    return card(f"{density.name}: {density.description}".removesuffix(": "), known, of_parameters, picture, below)


def _given(density: Any) -> dict[str, float] | None:
    """Parameters of a picture: those of the example, but shapes of 1 are 2, as many densities of shape 1 are another one."""
    given = example_of(density)
    if given is None:
        return None
    shapes = {a.name for a in density.definition.arguments[1:] if "shape" in a.description}
    return {n: 2.0 if n in shapes and v == 1 else v for n, v in given.items()}


def of_frozen(frozen: Any, given: Mapping[str, object]) -> str:
    """HTML of a distribution of certain parameters."""
    density = frozen.density
    return card(
        f"{density.name}: {density.description}".removesuffix(": "),
        facts({n: shape_of(v) for n, v in given.items()}),
        _picture(frozen) if all(isinstance(v, float) for v in given.values()) else "",
    )


def _picture(frozen: Any) -> Html:
    """Picture of a distribution of numbers; none where it has no quantiles, or there is no device."""
    density = frozen.density
    if density.definition.arguments[0].rank or density._lack_of("ppf", "isf"):
        return Html()
    try:
        low, first, last, high = np.asarray(frozen.ppf(np.array([ENDS[0], *QUARTILES, ENDS[1]])), float)
        if density.discrete:
            x = np.arange(low, min(high, low + MOST_WHOLE) + 1)
            return bars(x.tolist(), np.asarray(frozen.pmf(x)).tolist())
        room = FARTHEST * (last - first)
        x = np.linspace(max(low, first - room), min(high, last + room), POINTS)
        y = np.asarray(frozen.pdf(x), float)
        highest = 2.5 * np.quantile(y[np.isfinite(y)], 0.9)  # beside a pole nothing else would be seen
    except Exception:  # whatever it is, the text stands without a picture
        return Html()
    return curve(x.tolist(), np.minimum(y, highest).tolist())

