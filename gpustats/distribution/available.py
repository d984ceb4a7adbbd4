"""Functions of a distribution beside its density, and methods that it has only where their functions can be had."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise
    from ..runtime.types import Values

Method = TypeVar("Method", bound=Callable[..., object])


class WithFunctions(ABC):
    """Distribution with functions beside its density, as far as these can be had."""

    name: str
    parameters: tuple[str, ...]
    defaults: dict[str, Values]
    discrete: bool

    @property
    @abstractmethod
    def log_density(self) -> Pointwise:
        """Log-density, checked and ready to be evaluated."""

    @abstractmethod
    def function(self, ending: str) -> Pointwise:
        """Function beside the density, checked and ready to be evaluated, by the ending of its name."""

    @abstractmethod
    def lost(self, ending: str) -> Pointwise:
        """Function of a number's parameters that is 1 where the number cannot be computed accurately enough, else 0."""

    @abstractmethod
    def _lack_of(self, ending: str) -> str:
        """Message why there is no function of this ending, with advice; empty where there is one."""

    @abstractmethod
    def _writes(self, ending: str) -> bool:
        """True if the density's source itself has the function."""


class Available:
    """Method that a distribution has only where its functions can be had; else it is as if not there.

    Parameters
    ----------
    method : callable
    endings : tuple of str
        Endings of the functions.
    """

    def __init__(self, method: Callable[..., object], endings: tuple[str, ...]):
        self.method, self.endings = method, endings
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, distribution: WithFunctions | None, owner: type) -> Callable[..., object]:
        if distribution is None:
            return self.method
        for ending in self.endings:
            if lack := distribution._lack_of(ending):
                raise AttributeError(lack, name=self.method.__name__, obj=distribution)
        return MethodType(self.method, distribution)


def made_of(*endings: str) -> Callable[[Method], Method]:
    """Method made of the functions with these endings, which type checkers take for one that is always there."""

    def available(method: Method) -> Method:
        return cast(Method, Available(method, endings))

    return available
