"""Kinds of calls: calls of one kind differ in their numbers only, so that all else is decided once, and kept in `Plans`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from ..runtime.types import DType, Shape, Value

P = TypeVar("P")

_NUMBERS = (float, int, np.float64, np.float32)
_MISSING = object()


def in_order(names: Sequence[str], args: Sequence[Value], kwargs: Mapping[str, Value]) -> Sequence[Any] | None:
    """Arguments of a call in their order; None where it does not give just these."""
    if len(args) + len(kwargs) != len(names):
        return None
    try:
        return (*args, *(kwargs[n] for n in names[len(args) :])) if kwargs else args
    except KeyError:
        return None


def kind_of(arguments: Sequence[Value]) -> tuple[tuple[Shape, DType] | None, ...] | None:
    """Kind of a call, shared by calls that differ in numbers only: shape and type of each array, None for a number.

    None where an argument is neither a NumPy array nor a number of a type that samplers use: such a call is not repeated.
    """
    found: list[tuple[Shape, DType] | None] = []
    for value in arguments:
        if type(value) in _NUMBERS:
            found.append(None)
        elif type(value) is np.ndarray:
            found.append((value.shape, value.dtype))
        else:
            return None
    return tuple(found)


class Plans(Generic[P]):
    """Plans of the kinds of calls that an object has seen; where these are more than `LIMIT`, all are forgotten.

    Threads may share it.
    """

    LIMIT = 1024

    def __init__(self) -> None:
        self._known: dict[Hashable, P] = {}

    def __reduce__(self) -> tuple[type[Plans[P]], tuple[()]]:
        return Plans, ()  # they are for devices of this process

    def plan(self, kind: Hashable, make: Callable[..., P], *arguments: Any) -> P:
        """Plan of a kind of calls, which `make` makes from `arguments` at the first call."""
        found: Any = self._known.get(kind, _MISSING)
        if found is _MISSING:
            found = make(*arguments)
            if len(self._known) >= self.LIMIT:
                self._known.clear()
            self._known[kind] = found
        plan: P = found
        return plan
