"""Functions of a distribution beside its density, and methods that it has only where their functions can be had."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise
    from ..language.device_function import DeviceFunction
    from ..language.nodes import Function
    from ..runtime.types import Values

Method = TypeVar("Method", bound=Callable[..., object])


class WithFunctions(ABC):
    """Distribution with functions beside its density, as far as these can be had."""

    name: str
    parameters: tuple[str, ...]
    defaults: dict[str, Values]
    discrete: bool
    definition: DeviceFunction
    _functions: Mapping[str, Function]

    @property
    @abstractmethod
    def log_density(self) -> Pointwise:
        """Log-density, checked and ready to be evaluated."""

    @property
    def log_cdf(self) -> Pointwise:
        """Logarithm of the distribution function, checked and ready to be evaluated."""
        return self.function("logcdf")

    @property
    def log_sf(self) -> Pointwise:
        """Logarithm of the survival function, checked and ready to be evaluated."""
        return self.function("logsf")

    @functools.cached_property
    def _evaluated(self) -> dict[str, Pointwise]:
        """Functions that `function` has given, by the endings."""
        return {}

    def function(self, ending: str) -> Pointwise:
        """Function beside the density, checked and ready to be evaluated.

        Parameters
        ----------
        ending : str
            ``cdf``, ``sf``, ``logcdf`` and ``logsf`` are functions of x and the parameters; ``ppf`` and ``isf`` of a
            probability and the parameters; ``mean``, ``var``, ``std``, ``skewness``, ``kurtosis``, ``entropy``, ``median``,
            ``mode``, and the support's ends, ``lower`` and ``upper``, of the parameters alone; ``moment`` of an order and the
            parameters.

        Raises
        ------
        NotImplementedError
            Where it cannot be had; the message says what the density's source should have.
        """
        if ending not in self._evaluated:
            made = self.function("var").map("std", "sqrt({})") if ending == "std" else self._made(ending)
            self._evaluated[ending] = made
        return self._evaluated[ending]

    def lost(self, ending: str) -> Pointwise:
        """Function of a number's parameters that is 1 where the number cannot be computed accurately enough, else 0."""
        key = f"{ending} lost"
        if key not in self._evaluated:
            self._evaluated[key] = self._made("var" if ending == "std" else ending, lost=True)
        return self._evaluated[key]

    def _made(self, ending: str, lost: bool = False) -> Pointwise:
        from .functions import function_of  # here, as it takes long

        return function_of(self.definition, ending, self._functions, self.defaults, lost)

    def _lack_of(self, ending: str) -> str:
        """Reason why there is no function of this ending, and what would help; empty where there is one."""
        from .functions import lack_of

        return lack_of(self.definition, "var" if ending == "std" else ending)


class Available:
    """Method that a distribution has only where functions of these endings can be had; else it is as if not there."""

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
