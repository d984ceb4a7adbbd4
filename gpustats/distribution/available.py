"""Methods that a distribution has only where their functions can be had."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any


class Available:
    """Method that a distribution has only where its functions can be had; else it is as if not there.

    Parameters
    ----------
    method : callable
    endings : tuple of str
        Endings of the functions.
    """

    def __init__(self, method: Callable[..., Any], endings: tuple[str, ...]):
        self.method, self.endings = method, endings
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, distribution: Any, owner: Any = None) -> Any:
        if distribution is None:
            return self.method
        for ending in self.endings:
            if lack := distribution._lack_of(ending):
                raise AttributeError(lack, name=self.method.__name__, obj=distribution)
        return MethodType(self.method, distribution)


def made_of(*endings: str) -> Any:
    """Method made of the functions with these endings."""
    return lambda method: Available(method, endings)
