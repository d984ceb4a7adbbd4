"""Functions of a distribution beside its density, and methods that it has only where their functions can be had."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from ..runtime.cached import cached_property

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise
    from ..language.device_function import DeviceFunction
    from ..language.nodes import Function
    from ..runtime.types import Values

F = TypeVar("F", bound=Callable[..., object])


class HasMethods(Protocol):
    """Distribution, with free parameters or with certain ones, that knows which methods it has."""

    def _lack_of(self, *endings: str) -> str: ...

    def _bound(self, method: Callable[..., object]) -> Callable[..., object]: ...


class WithFunctions(ABC):
    """Distribution with functions beside its density, as far as these can be had."""

    name: str
    description: str
    parameters: tuple[str, ...]
    domains: dict[str, str]
    defaults: dict[str, Values]
    discrete: bool
    definition: DeviceFunction
    _functions: Mapping[str, Function]

    @property
    @abstractmethod
    def log_density(self) -> Pointwise:
        """Log-density, checked and ready to be evaluated."""

    def __dir__(self) -> list[str]:
        return without_lacking(self, super().__dir__())

    @property
    def log_cdf(self) -> Pointwise:
        """Logarithm of the distribution function, checked and ready to be evaluated."""
        return self.function("logcdf")

    @property
    def log_sf(self) -> Pointwise:
        """Logarithm of the survival function, checked and ready to be evaluated."""
        return self.function("logsf")

    @cached_property
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

    @cached_property
    def _lacks(self) -> dict[tuple[str, ...], str]:
        """Answers that `_lack_of` has given."""
        return {}

    def _lack_of(self, *endings: str) -> str:
        """Reason why there is no function of one of these endings, and what would help; empty where there are all."""
        if endings not in self._lacks:
            from .functions import lack_of

            lacks = (lack_of(self.definition, "var" if ending == "std" else ending) for ending in endings)
            self._lacks[endings] = next(filter(None, lacks), "")
        return self._lacks[endings]

    @abstractmethod
    def _bound(self, method: Callable[..., object]) -> Callable[..., object]:
        """Method of the class as that of this distribution."""


class Method:
    """Method that a distribution has only where functions of these endings can be had; else it is as if not there."""

    def __init__(self, method: Callable[..., object], endings: tuple[str, ...]):
        self.method, self.endings = method, endings
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, distribution: HasMethods | None, owner: type) -> Callable[..., object]:
        if distribution is None:
            return self.method
        if lack := distribution._lack_of(*self.endings):
            raise AttributeError(lack, name=self.method.__name__, obj=distribution)
        return distribution._bound(self.method)


def without_lacking(distribution: object, names: Iterable[str]) -> list[str]:
    """Names of attributes but those of methods that a distribution lacks."""
    made = {name for one in type(distribution).__mro__ for name, value in vars(one).items() if isinstance(value, Method)}
    return [name for name in names if name not in made or hasattr(distribution, name)]


def made_of(*endings: str) -> Callable[[F], F]:
    """Method made of the functions with these endings, which type checkers take for one that is always there."""

    def available(method: F) -> F:
        return cast(F, Method(method, endings))

    return available
