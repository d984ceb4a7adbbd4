"""Domains of arguments on the host: whether numbers lie in them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..language.device_function import Argument
from ..runtime.arrays import is_device_array

_TESTS = {
    "positive": lambda v: v > 0,
    "nonnegative": lambda v: v >= 0,
    "unit": lambda v: (v >= 0) & (v <= 1),
    "integer": lambda v: (v % 1 == 0) & (abs(v) < np.inf),
}


@functools.cache
def _tests(words: frozenset[str]) -> list[Callable[[Any], Any]]:
    return [test for word, test in _TESTS.items() if word in words] or [lambda v: v == v]


def elements_inside(argument: Argument, value: Any) -> Any:
    """Whether a number lies in the domain, or which elements of an array do, each by itself."""
    inside: Any = True
    for test in _tests(argument.words):
        inside = inside & test(value)
    return inside


def require(argument: Argument, value: Any) -> None:
    """ValueError where a number, or one of an array of NumPy's, lies outside its domain. Device arrays are not read."""
    if is_device_array(value):
        return
    inside = elements_inside(argument, value)
    if inside is True:
        return
    if "simplex" in argument.words:
        tolerance = np.sqrt(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else 0
        inside = (inside & (value >= 0)).all(-1) & (np.abs(value.sum(-1) - 1) <= tolerance)
    if "ordered" in argument.words:
        inside = inside.all(-1) & (np.diff(value) > 0).all(-1)
    if not np.all(inside):
        where = np.argwhere(np.logical_not(inside))[0]
        place = tuple(where.tolist())
        found = value if isinstance(value, float) else value[place]
        at = f" at index {place if len(place) > 1 else place[0]}" if place else ""
        raise ValueError(f"{argument.name} must be {argument.domain}{at}, not {found}")
