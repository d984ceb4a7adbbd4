"""Distributions of certain parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .available import WithFunctions

if TYPE_CHECKING:
    from ..runtime.types import Values

#: Methods of a density that take something before its parameters, and those that take the parameters alone.
_METHODS = (
    "logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "logsf", "sf", "ppf", "isf", "loglik", "loglik_and_grad", "moment",
    "interval", "expect",
)  # fmt: skip
_PARAMETER_METHODS = (
    "rvs", "mean", "var", "std", "skewness", "kurtosis", "entropy", "median", "mode", "support", "stats",
)  # fmt: skip


class Frozen:
    """Distribution of certain parameters: a call of a density with parameters gives one.

    It has the density's methods, as far as the density has them, without the parameters: ``logpdf``, ``pdf``, ``logpmf``,
    ``pmf``, ``logcdf``, ``cdf``, ``logsf``, ``sf``, ``ppf``, ``isf``, ``loglik``, ``loglik_and_grad``, ``rvs``, ``mean``,
    ``var``, ``std``, ``skewness``, ``kurtosis``, ``entropy``, ``median``, ``mode``, ``support``, ``stats``, ``moment``,
    ``interval``, ``expect``.

    Attributes
    ----------
    density : Density
    args : tuple
    kwargs : dict
        The parameters, by place and by name. A string stands for a parameter of a model, as in the priors of
        `gpustats.LaplaceMarginal`; such a distribution is no more than that.

    Examples
    --------
    >>> import gpustats as gs
    >>> frozen = gs.normal(0.0, [1.0, 2.0])
    >>> frozen
    <gpustats.normal(mu=0.0, sigma=array of shape (2,))>
    >>> frozen.logpdf(1.0).round(4)
    array([-1.4189, -1.7371])
    >>> frozen.rvs(size=(3, 2), rng=1).shape
    (3, 2)
    >>> hasattr(frozen, "cdf"), hasattr(gs.mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]), "cdf")
    (True, False)
    """

    def __init__(self, density: WithFunctions, args: Sequence[Values], kwargs: Mapping[str, Values]):
        from ..evaluation.arguments import match
        from ..runtime.arrays import as_array

        names = density.log_density.for_arguments(kwargs).argument_names[1:]  # an elliptical density has several for its scale
        values = match(density.name, names, args, kwargs, density.defaults, "parameters")
        given = {n: v if isinstance(v, str) else as_array(v, n) for n, v in zip(names, values, strict=True)}
        self.density = density
        self.args, self.kwargs = (tuple(given.values()), {}) if names == density.parameters else ((), given)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Method of the density, kept beside the attributes: the next call of it is as fast as the density's own."""
        if name not in (*_METHODS, *_PARAMETER_METHODS):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        made = self.__dict__[name] = self._bound(name, getattr(self.density, name))
        return made

    def _bound(self, name: str, method: Callable[..., object]) -> Callable[..., object]:
        given, named = self.args, self.kwargs
        if names := [v for v in (*given, *named.values()) if isinstance(v, str)]:
            raise AttributeError(f"{self} has no {name}: {names[0]!r} is the name of a parameter, for priors of a model alone")

        def with_parameters(x: object, **options: object) -> object:
            return method(x, *given, **named, **options)

        def of_parameters(**options: object) -> object:
            return method(*given, **named, **options)

        made: Callable[..., object] = with_parameters if name in _METHODS else of_parameters
        made.__name__, made.__doc__ = name, method.__doc__
        return made

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in (*_METHODS, *_PARAMETER_METHODS) if hasattr(self.density, n))})

    def __getstate__(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in ("density", "args", "kwargs")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        def shown(value: object) -> str:
            shape = getattr(value, "shape", ())
            return f"array of shape {tuple(shape)}" if shape else repr(value)

        given = {**dict(zip(self.density.parameters, self.args, strict=False)), **self.kwargs}
        return f"<gpustats.{self.density.name}({', '.join(f'{n}={shown(v)}' for n, v in given.items())})>"
