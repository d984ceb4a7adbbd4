"""Distributions of vectors as in SciPy: densities and draws from the device, moments on the host.

Device arrays of observations give device arrays; parameters lie on the host.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..density import Density, densities
from ..draws.generator import Rng
from ..runtime.arrays import is_device_array
from ..runtime.types import Array, Size, Values
from .random_states import WithRandomState, generator_of

#: Location on the host; None is 0.
Location: TypeAlias = ArrayLike | None

_METHODS = ("logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "rvs", "mean", "mode", "var", "cov", "entropy", "marginal")


#: Distributions of vectors by SciPy's names.
MULTIVARIATE: dict[str, type[Multivariate]] = {}


class Multivariate(WithRandomState):
    """Distribution of vectors as in SciPy, computed by gpustats.

    A call with parameters gives the distribution of these, whose methods take none. The normal one and Student's have
    distribution functions, and take singular matrices.

    Attributes
    ----------
    name : str
    parameters : tuple of str
        Parameters that a call and the methods take, by position or by name.
    options : tuple of str
        Further arguments of a call, by name, which distribution functions get.
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

    #: Parameters in the order in which the density takes them, where it has another.
    _order: tuple[str, ...] = ()

    #: Parameters of a call as the density takes them; ValueError where they lie outside of their domains.
    _processed: Callable[..., tuple[Array, ...]]

    def __init_subclass__(cls) -> None:
        cls.__doc__ = cls.__doc__ or Multivariate.__doc__
        if "name" in vars(cls):
            MULTIVARIATE[cls.name] = cls

    @property
    def density(self) -> Density:
        return densities[self.of]

    def attributes(self, **given: Values) -> dict[str, Array]:
        """Parameters by their names as arrays; ValueError where they lie outside of their domains."""
        return dict(zip(self._order or self.parameters, self._processed(**given), strict=False))

    def __call__(self, *args: Values, seed: Rng = None, **kwds: Values) -> FrozenMultivariate:
        """Distribution of these parameters."""
        return FrozenMultivariate(self, args, kwds, seed)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> tuple[Callable[[str], Multivariate], tuple[str]]:
        return multivariate_of, (self.name,)

    def _observations(self, x: Values, *given: Array) -> Array:
        """Observations as the density takes them, which may depend on the parameters."""
        return x if is_device_array(x) else np.asarray(x, float)

    def _given(self, args: Sequence[Values], kwds: Mapping[str, Values]) -> tuple[Array, ...]:
        """Parameters of a call as the density takes them; TypeError where these are not the parameters."""
        try:
            return self._processed(*args, **kwds)
        except TypeError:
            try:
                inspect.signature(self._processed).bind(*args, **kwds)
            except TypeError as error:
                raise TypeError(f"{self.name} takes {', '.join(self.parameters)}: {error}") from None
            raise

    def _at(self, method: str, x: Values, args: Sequence[Values], kwds: Mapping[str, Values]) -> Array:
        """Result of a method of the density at observations x."""
        given = self._given(args, kwds)
        return getattr(self.density, method)(self._observations(x, *given), *given)

    def _draws(self, given: Sequence[Array], size: Size, random_state: Rng, **more: Array) -> Array:
        return self.density.rvs(*given, size=size, rng=self._generator(random_state), **more)


class WithDensity(Multivariate):
    """Distribution with a density; further arguments of its methods are the parameters."""

    def logpdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm of the density at x: vectors along the last axis; of `dirichlet`, proportions along the first one."""
        return self._at("logpdf", x, args, kwds)

    def pdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Density at x; arguments as for `logpdf`."""
        return np.exp(self.logpdf(x, *args, **kwds))


class WithMass(Multivariate):
    """Distribution of counts, vectors or tables; further arguments of its methods are the parameters."""

    def logpmf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm of the probability of counts along the last axis of x, or of tables along the last two."""
        return self._at("logpmf", x, args, kwds)

    def pmf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Probability of counts along the last axis of x, or of tables along the last two."""
        return self._at("pmf", x, args, kwds)

    def _counts(self, given: Sequence[Array], size: Size, random_state: Rng) -> Array:
        """Draws as whole numbers."""
        draws = self._draws(given, size, random_state)
        return draws if is_device_array(draws) else draws.astype(np.int64)


class FrozenMultivariate:
    """Distribution of vectors with certain parameters, which the methods, those of `Multivariate`, do not take.

    Attributes
    ----------
    dist : Multivariate
    mean, cov, and so on
        The parameters, as arrays.
    """

    def __init__(self, dist: Multivariate, args: Sequence[Values], kwds: Mapping[str, Values], seed: Rng = None):
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
        named = inspect.signature(method).parameters
        accepted = (*self.dist.parameters, *(self.dist.options if "cdf" in name else ())) if "kwds" in named else named
        given = {n: v for n, v in self._own.items() if n in accepted}
        if name == "rvs":
            return lambda size=named["size"].default, random_state=None, **more: method(
                **given, size=size, random_state=self.random_state if random_state is None else random_state, **more
            )
        return functools.partial(method, **given)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.dist.name}({', '.join(f'{n}={v!r}' for n, v in self._given.items())})>"


@functools.cache
def multivariate_of(name: str) -> Multivariate:
    """SciPy's distribution of a name, of which there is one object, also for what was pickled."""
    return MULTIVARIATE[name]()


def checked_counts(x: Array) -> Array:
    """Counts, of which those on the host are checked to be whole numbers that are not negative."""
    if not is_device_array(x) and not np.all((x >= 0) & (x == np.floor(x))):
        raise ValueError("x must be whole numbers that are not negative")
    return x


def squeezed(draws: Array) -> Array:
    """Draws without axes of length 1, as SciPy has them; a device array as it is."""
    return draws if is_device_array(draws) else np.squeeze(draws)[()]
