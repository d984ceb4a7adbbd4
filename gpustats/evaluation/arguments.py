"""Arguments of a call on the host: the value of each, and whether it lies in its domain."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..language.device_function import Argument
from ..language.domains import domains_of
from ..names.elsewhere import hint_of_parameter
from ..runtime.arrays import IS_MAPPING, is_device_array
from ..runtime.types import Value


@functools.cache
def _tests(words: frozenset[str]) -> list[Callable[[Any], Any]]:
    return [domain.inside for domain in domains_of(words) if domain.inside is not None] or [lambda v: v == v]


def elements_inside(argument: Argument, value: Value) -> Any:
    """True if a number lies in the domain, or for an array, which of its elements do."""
    inside: Any = True
    for test in _tests(argument.words):
        inside = inside & test(value)
    return inside


def require(argument: Argument, value: Value) -> None:
    """ValueError where a number, or an element of a NumPy array, lies outside its domain. Device arrays are not read."""
    if is_device_array(value):
        return
    inside = elements_inside(argument, value)
    if inside is True:
        return
    whole = [domain.whole for domain in domains_of(argument.words) if domain.whole is not None]
    if whole:
        inside = functools.reduce(np.logical_and, (test(value) for test in whole), inside.all(-1))
    if not np.all(inside):
        where = np.argwhere(np.logical_not(inside))[0]
        place = tuple(where.tolist())
        found = value if isinstance(value, float) else value[place]
        at = f" at index {place if len(place) > 1 else place[0]}" if place else ""
        raise ValueError(f"{argument.name} must be {argument.domain}{at}, not {found}")


def match(
    name: str, wanted: Sequence[str], args: Sequence[Value], kwargs: Mapping[str, Value], defaults: Mapping[str, Any],
    noun: str = "arguments", first: Sequence[str] = (), beside: str = "",
) -> list[Any]:  # fmt: skip
    """Values of the arguments `wanted` of the function `name` in a call: by place, by name, or by default.

    `args` and `kwargs` are the call's, `defaults` the values of the arguments that it may leave out. For errors, `noun` is the
    word for the arguments, `first` are the arguments that stand before these in a call, and `beside` is one that comes in
    another way. ValueError for too many values, unknown names, an argument that is given twice or not at all; TypeError where
    a dict stands for some of them.
    """
    listed = ", ".join((*first, *wanted)) or "none"
    if len(args) > len(wanted):
        beyond = f"beyond {' and '.join(first)}, " if first else ""
        raise ValueError(f"{beyond}{name} takes {len(wanted)} {noun} ({', '.join(wanted) or 'none'}), not {len(args)}")
    found = dict(zip(wanted, args, strict=False))
    for key, value in kwargs.items():
        if key not in wanted:
            known = f" beside {beside}; it has {listed}" if beside else f"; its parameters are {listed}"
            raise ValueError(f"{name} has no parameter {key!r}{known}{hint_of_parameter(name, key)}")
        if key in found:
            raise ValueError(f"{name}: {key} is given twice")
        found[key] = value
    found = {**defaults, **found}
    if lacking := [n for n in wanted if n not in found]:
        if mapping := [n for n, v in found.items() if isinstance(v, Mapping)]:
            raise TypeError(f"{name}: {mapping[0]} {IS_MAPPING}")
        raise ValueError(f"{name} needs {', '.join(lacking)}" + ("" if beside else f"; its parameters are {listed}"))
    return [found[n] for n in wanted]


def differentiable(arguments: Sequence[Argument]) -> tuple[str, ...]:
    """Names of the arguments that are not whole numbers."""
    return tuple(a.name for a in arguments if "integer" not in a.words)


def check_wrt(name: str, arguments: Sequence[Argument], wrt: str | Collection[str] | None) -> tuple[str, ...]:
    """Arguments of the function `name` in which derivatives are wanted: by default all but the first, the observation.

    ValueError for names that are unknown, given twice, or of whole numbers.
    """
    can = differentiable(arguments)
    if wrt is None:
        return tuple(n for n in can if n != arguments[0].name)
    names = as_names(wrt)
    for n in names:
        known = [a.name for a in arguments]
        if n not in known:
            raise ValueError(f"wrt: {name} has no argument {n!r}; its arguments are {', '.join(known)}")
        if n not in can:
            raise ValueError(f"wrt: {n} of {name} takes whole numbers only, so there is no derivative in it")
        _check_once(n, names)
    return names


def check_wrt_among(wrt: str | Collection[str], allowed: Collection[str]) -> tuple[str, ...]:
    """Names in `wrt`; ValueError where a name is not allowed, or occurs twice."""
    names = as_names(wrt)
    for name in names:
        if name not in allowed:
            raise ValueError(f"wrt: {name!r} is none of {', '.join(allowed)}")
        _check_once(name, names)
    return names


def as_names(wrt: str | Collection[str]) -> tuple[str, ...]:
    """Names as a tuple, from one name or several."""
    return (wrt,) if isinstance(wrt, str) else tuple(wrt)


def _check_once(name: str, names: Sequence[str]) -> None:
    if names.count(name) > 1:
        raise ValueError(f"wrt names {name} twice")
