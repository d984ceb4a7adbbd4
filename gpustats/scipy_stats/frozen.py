"""Distributions with certain parameters, as SciPy freezes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..distribution.expectation import Function
from ..draws.generator import Rng
from ..runtime.types import Array, Size, Values

_METHODS_OF_X = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "interval", "moment")
_METHODS_WITHOUT_X = ("median", "mean", "var", "std", "entropy", "support")


class Frozen:
    """Distribution with certain shapes, loc and scale.

    The methods are those of the distribution, without these parameters.

    Attributes
    ----------
    dist : Distribution
    args : tuple
    kwds : dict
        The parameters, by position and by name.
    a, b
        The ends of the support where loc is 0 and scale 1.

    Examples
    --------
    >>> from gpustats import scipy_stats as st
    >>> frozen = st.norm(loc=1.0, scale=2.0)
    >>> frozen.rvs(10, random_state=3).shape, float(frozen.mean()), float(frozen.std())
    ((10,), 1.0, 2.0)
    """

    def __init__(self, dist: Any, args: Sequence[Values], kwds: Mapping[str, Values]):
        self.dist, self.args, self.kwds = dist, tuple(args), dict(kwds)
        self._random_state: Rng = None

    def __getattr__(self, name: str) -> Callable[..., Array]:
        """Method of the distribution's, kept beside the attributes."""
        if name not in (*_METHODS_OF_X, *_METHODS_WITHOUT_X) or not hasattr(self.__dict__.get("dist"), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        method, args, kwds = getattr(self.dist, name), self.args, self.kwds

        def of_x(x: Values) -> Array:
            return method(x, *args, **kwds)

        def of_none() -> Array:
            return method(*args, **kwds)

        made: Callable[..., Array] = of_x if name in _METHODS_OF_X else of_none
        made.__name__, made.__doc__ = name, method.__doc__
        self.__dict__[name] = made
        return made

    def expect(
        self, func: Function | None = None, lb: float | None = None, ub: float | None = None, conditional: bool = False,
        **kwds: object,
    ) -> float:  # fmt: skip
        """Mean of a function; see `Distribution.expect`."""
        given, n = self.dist.parameters_of(self.args, self.kwds), self.dist.numargs
        mean: float = self.dist.expect(func, given[:n], *given[n:], lb=lb, ub=ub, conditional=conditional)
        return mean

    @property
    def a(self) -> Array:
        return self._standard_support()[0]

    @property
    def b(self) -> Array:
        return self._standard_support()[1]

    def _standard_support(self) -> Array:
        shapes = self.dist.parameters_of(self.args, self.kwds)[: self.dist.numargs]
        return self.dist.support(*shapes)

    def rvs(self, size: Size = None, random_state: Rng = None) -> Array:
        """Random draws; see `Distribution.rvs`."""
        state = self._random_state if random_state is None else random_state
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=state)

    def stats(self, moments: str = "mv") -> Array:
        """Moments; see `Distribution.stats`."""
        return self.dist.stats(*self.args, **self.kwds, moments=moments)

    @property
    def random_state(self) -> Rng:
        """Random state of draws that are given none; None for that of the distribution."""
        return self._random_state

    @random_state.setter
    def random_state(self, seed: Rng) -> None:
        self._random_state = np.random.RandomState(seed) if isinstance(seed, int) else seed

    def __getstate__(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in ("dist", "args", "kwds", "_random_state")}

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in (*_METHODS_OF_X, *_METHODS_WITHOUT_X) if hasattr(self.dist, n))})

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{n}={v!r}" for n, v in self.kwds.items())]
        return f"<gpustats.scipy_stats.{self.dist.name}({', '.join(given)})>"

