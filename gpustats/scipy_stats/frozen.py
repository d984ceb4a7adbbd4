"""Distributions with certain parameters, as SciPy freezes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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

    def __init__(self, dist: Any, args: Sequence[Any], kwds: Mapping[str, Any]):
        self.dist, self.args, self.kwds = dist, tuple(args), dict(kwds)
        self._random_state: Any = None

    def __getattr__(self, name: str) -> Any:
        """Method of the distribution's, kept beside the attributes."""
        if name not in (*_METHODS_OF_X, *_METHODS_WITHOUT_X) or not hasattr(self.__dict__.get("dist"), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        method, args, kwds = getattr(self.dist, name), self.args, self.kwds

        def of_x(x: Any) -> Any:
            return method(x, *args, **kwds)

        def of_none() -> Any:
            return method(*args, **kwds)

        made: Any = of_x if name in _METHODS_OF_X else of_none
        made.__name__, made.__doc__ = name, method.__doc__
        self.__dict__[name] = made
        return made

    def expect(self, func: Any = None, lb: Any = None, ub: Any = None, conditional: bool = False, **kwds: Any) -> float:
        """Mean of a function; see `Distribution.expect`."""
        return self.dist._expected(func, self.dist._given(self.args, self.kwds), lb, ub, conditional)

    @property
    def a(self) -> Any:
        return self._standard_support()[0]

    @property
    def b(self) -> Any:
        return self._standard_support()[1]

    def _standard_support(self) -> Any:
        shapes = self.dist._given(self.args, self.kwds)[: self.dist.numargs]
        return self.dist.support(*shapes)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random draws; see `Distribution.rvs`."""
        state = self._random_state if random_state is None else random_state
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=state)

    def stats(self, moments: str = "mv") -> Any:
        """Moments; see `Distribution.stats`."""
        return self.dist.stats(*self.args, **self.kwds, moments=moments)

    @property
    def random_state(self) -> Any:
        """Random state of draws that are given none; None for that of the distribution."""
        return self._random_state

    @random_state.setter
    def random_state(self, seed: Any) -> None:
        self._random_state = np.random.RandomState(seed) if isinstance(seed, int) else seed

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("dist", "args", "kwds", "_random_state")}

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in (*_METHODS_OF_X, *_METHODS_WITHOUT_X) if hasattr(self.dist, n))})

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{n}={v!r}" for n, v in self.kwds.items())]
        return f"<gpustats.scipy_stats.{self.dist.name}({', '.join(given)})>"

