"""Properties that an object computes once, though threads ask for them at the same time."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """Property computed at its first use, of which all threads get the same object.

    Where several ask at once, each computes it, and all get what the first one has. With `functools.cached_property`, from
    Python 3.12 on, they get different objects, and what is noted of one of them, such as an address, outlives it.
    """

    if not TYPE_CHECKING:  # for checkers it is that of functools

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
