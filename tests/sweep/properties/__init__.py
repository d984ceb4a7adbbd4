"""What must hold of a density's functions, one property in each function, of which a module here may have several.

A property takes a `Batch` and yields what is suspicious there. It is found by being here: nothing lists it elsewhere.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..batch import Batch


@dataclass(frozen=True)
class Suspicion:
    """Values of a function that do not fit others.

    Attributes
    ----------
    ending : str
        The function.
    first : array
        Its first argument, x or q.
    score : array
        How far each value lies from where it should, in units of what rounding explains: beyond 1 the judge is asked.
    parameters : tuple of arrays, optional
        Where they are not those of the batch.
    """

    ending: str
    first: np.ndarray | float
    score: np.ndarray
    parameters: tuple[np.ndarray, ...] | None = None


Property = Callable[[Batch], Iterator[Suspicion]]
PROPERTIES: dict[str, Property] = {}


def holds(f: Property) -> Property:
    """Makes a property known by the name of its function. Numbers may overflow in it, and be nan."""

    @functools.wraps(f)
    def quietly(b: Batch) -> Iterator[Suspicion]:
        with np.errstate(all="ignore"):
            yield from f(b)

    PROPERTIES[f.__name__] = quietly
    return quietly


def relative(a: np.ndarray, b: np.ndarray, allowed: Any) -> np.ndarray:
    """How far two values differ, in units of what is allowed; 0 where they are equal, or one is nan."""
    with np.errstate(all="ignore"):
        score = np.abs(a - b) / allowed
    return np.where((a == b) | np.isnan(a) | np.isnan(b), 0.0, np.where(np.isnan(score), np.inf, score))


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
