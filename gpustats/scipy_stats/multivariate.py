"""Distributions of vectors as in SciPy: densities and draws from the device, moments on the host.

Device arrays of observations give device arrays; parameters lie on the host.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..density import Density, densities
from ..runtime.arrays import is_device_array
from .random_states import generator_of

_METHODS = ("logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "rvs", "mean", "mode", "var", "cov", "entropy", "marginal")


class Multivariate(ABC):
    """Distribution of vectors as in SciPy, computed by gpustats.

    A call with parameters gives the distribution of these, whose methods take none. The normal one and Student's have
    distribution functions, and take singular matrices.

    Attributes
    ----------
    name : str
    parameters : tuple of str
        Parameters that a call and the methods take.
    options : tuple of str
        Further arguments of a call, by name, which methods get.
    density : Density
        gpustats' density, by its own parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats import scipy_stats as st
    >>> frozen = st.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])
    >>> frozen.logpdf([[0.0, 1.0], [1.0, 1.0]]).round(4)
    array([-2.1177, -2.4034])
    >>> st.dirichlet.mean([1.0, 3.0])
    array([0.25, 0.75])
    """

    name: str
    of: str
    parameters: tuple[str, ...]
    options: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._random_state: Any = None

    @property
    def random_state(self) -> Any:
        """Random state of draws that are given none.

        None is the generator of ``numpy.random``. A seed becomes a generator.
        """
        return self._random_state

    @random_state.setter
    def random_state(self, seed: Any) -> None:
        self._random_state = None if seed is None else generator_of(seed)

    @property
    def density(self) -> Density:
        return densities[self.of]

    @abstractmethod
    def attributes(self, **given: Any) -> dict[str, Any]:
        """Parameters by their names as arrays; ValueError where they lie outside of their domains."""

    def __call__(self, *args: Any, seed: Any = None, **kwds: Any) -> FrozenMultivariate:
        """Distribution of these parameters."""
        return FrozenMultivariate(self, args, kwds, seed)

    @classmethod
    def _one(cls) -> Multivariate:
        """Distribution object, of which there is one for each class, also for what was pickled."""
        return _one_of(cls)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> Any:
        return type(self)._one, ()

    def _draws(self, given: tuple[Any, ...], size: Any, random_state: Any, **more: Any) -> Any:
        return self.density.rvs(*given, size=size, rng=self._generator(random_state), **more)

    def _generator(self, random_state: Any) -> Any:
        return generator_of(self.random_state if random_state is None else random_state)


class FrozenMultivariate:
    """Distribution of vectors with certain parameters, which the methods, those of `Multivariate`, do not take.

    Attributes
    ----------
    dist : Multivariate
    mean, cov, and so on
        The parameters, as arrays.
    """

    def __init__(self, dist: Multivariate, args: tuple[Any, ...], kwds: dict[str, Any], seed: Any = None):
        names = dist.parameters
        if len(args) > len(names):
            raise TypeError(f"{dist.name} takes {', '.join(names)}: {len(names)} parameters, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        if unknown := [n for n in kwds if n not in (*names, *dist.options) or n in given]:
            raise TypeError(f"{dist.name} takes {', '.join(names)}, and {unknown[0]} once at most")
        self.dist, self._given = dist, {**given, **kwds}
        self.random_state = None if seed is None else generator_of(seed)  # which goes on from draw to draw
        self._own = dist.attributes(**self._given)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_own", ()):
            return self._own[name]
        if name not in _METHODS or not hasattr(self.__dict__.get("dist"), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        method = getattr(self.dist, name)
        accepted = inspect.signature(method).parameters
        given = {n: v for n, v in self._own.items() if n in accepted}
        if name == "rvs":
            return lambda size=accepted["size"].default, random_state=None, **more: method(
                **given, size=size, random_state=self.random_state if random_state is None else random_state, **more
            )
        return functools.partial(method, **given)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.dist.name}({', '.join(f'{n}={v!r}' for n, v in self._given.items())})>"


@functools.cache
def _one_of(cls: type[Multivariate]) -> Multivariate:
    return cls()


def squeezed(draws: Any) -> Any:
    """Draws without axes of length 1, as SciPy has them; a device array as it is."""
    return draws if is_device_array(draws) else np.squeeze(draws)[()]
