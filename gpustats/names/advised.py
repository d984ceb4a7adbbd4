"""Objects whose errors about attributes that they lack say what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Advised:
    """Object that tells about a name which it does not have."""

    def _told_of(self, name: str) -> str:
        """Message about an attribute that there is not."""
        return f"{type(self).__name__} has no attribute {name!r}"

    if not TYPE_CHECKING:  # checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if any(name in vars(kind) for kind in type(self).__mro__):  # a property, which says itself why it has no value
                return object.__getattribute__(self, name)
            raise AttributeError(self._told_of(name))
