"""Warnings about numbers that cannot be computed as accurately as promised, and are nan instead."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import AccuracyWarning
from ..language.kinds import QUANTILES
from .available import WithFunctions

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.types import Array, Result, Values


def told(distribution: WithFunctions, ending: str, args: Sequence[Values], kwargs: Mapping[str, Values]) -> Result:
    """Value of a function beside the density, with a warning where it is nan though the number exists.

    The ending is a number's, ``moment``, ``ppf`` or ``isf``. Where an argument is a device array, nothing is looked at.
    """
    import numpy as np  # here, as it takes long

    value = distribution.function(ending)(*args, **kwargs)
    if isinstance(value, np.ndarray | np.floating) and (is_nan := np.isnan(value)).any():
        lost = is_nan & _lost(distribution, ending, args, kwargs)
        if lost.any():
            warn(distribution, ending, args, kwargs, np.unravel_index(lost.argmax(), lost.shape))
    return value


def warn(
    distribution: WithFunctions, ending: str, args: Sequence[Values], kwargs: Mapping[str, Values],
    place: Sequence[np.intp] = (),
) -> None:  # fmt: skip
    """Warning about the element at a `place` of the result of a function of these arguments."""
    import numpy as np

    names = [*(["q"] if ending in QUANTILES else ["order"] if ending == "moment" else []), *distribution.parameters]
    given = {**distribution.defaults, **dict(zip(names, args, strict=False)), **kwargs}
    shown = [f"{name}={_at(np.asarray(value), place):.9g}" for name, value in given.items() if np.ndim(value) <= len(place)]
    call = f"{distribution.name}.{ending}({', '.join(shown)})"
    warnings.warn(f"{call} cannot be computed accurately, and is nan", AccuracyWarning, stacklevel=4)


def _at(array: np.ndarray, place: Sequence[np.intp]) -> float:
    """Element of an array at a place of the shape that the array broadcasts to."""
    own = place[len(place) - array.ndim :]
    return float(array[tuple(i if n > 1 else 0 for i, n in zip(own, array.shape, strict=True))])


def _lost(distribution: WithFunctions, ending: str, args: Sequence[Values], kwargs: Mapping[str, Values]) -> Array:
    """Mask of the nan elements whose numbers exist."""
    if ending not in QUANTILES:
        return distribution.lost(ending)(*args, **kwargs) == 1
    import numpy as np

    q, *given = args
    is_valid = ~np.isnan(distribution.log_density(1.0, *given, **kwargs))
    return is_valid & (np.asarray(q) >= 0) & (np.asarray(q) <= 1)
