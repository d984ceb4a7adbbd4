"""Densities: what a user holds."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .library import library

if TYPE_CHECKING:
    from .device_function import DeviceFunction
    from .pointwise import Pointwise


class Density:
    """A probability density or mass function made of a device function.

    Attributes
    ----------
    name, description, source, reference : str
        The distribution's name; what its comment says; the C text; where the formula comes from.
    parameters : tuple of str
        Names of the parameters in the order in which methods take them.
    domains : dict
        Argument -> domain, that of the observation first.
    discrete : bool
        Whether it is a mass function.
    """

    def __init__(self, definition: DeviceFunction):
        self.definition = definition
        self.name, self.description = definition.name, definition.description
        self.source, self.reference, self.discrete = definition.source, definition.reference, definition.discrete
        self._functions = library.closure(definition.functions.values())
        self.parameters = tuple(a.name for a in definition.arguments[1:])
        self.domains = {a.name: a.domain for a in definition.arguments}

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(self.domains)})>"

    @functools.cached_property
    def log_density(self) -> Pointwise:
        """The checked log-density, ready to be evaluated."""
        from .pointwise import Pointwise
        from .transforms import checked

        if self.definition.elliptical:
            from .elliptical import Elliptical

            return Elliptical(self.definition, self._functions)
        arguments = self.definition.arguments
        guarded = checked(self.definition.density, arguments, self._functions.get)
        return Pointwise(self.name, guarded, arguments, self._functions, self.source)

    @functools.cached_property
    def _density(self) -> Pointwise:
        from .transforms import Exp

        return Exp(self.log_density)

    def logpdf(self, *args: Any, **kwargs: Any) -> Any:
        """Log of the density (of the mass function, for a discrete distribution).

        Parameters
        ----------
        x : array_like
            Observations; with a trailing axis of length d where one observation is a vector.
        *parameters : array_like
            In the order of `parameters`, or by name. Everything broadcasts as in NumPy: ``x[:, None]`` with parameters of
            shape (K,) gives the N × K table.

        Returns
        -------
        ndarray, or the kind of device array that came in
            float32 where all arrays are float32, else float64. nan where a parameter lies outside its domain or x is nan,
            -inf where x lies outside the support.

        Raises
        ------
        ValueError
            Shapes that do not broadcast, unknown or missing names, arrays of two devices.
        TypeError
            Arrays that are not of real numbers.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([-1.0, 0.0, 2.0])
        >>> gs.normal.logpdf(x[:, None], np.array([0.0, 1.0]), 1.0).round(4)
        array([[-1.4189, -2.9189],
               [-0.9189, -1.4189],
               [-2.9189, -1.4189]])
        """
        return self.log_density(*args, **kwargs)

    def pdf(self, *args: Any, **kwargs: Any) -> Any:
        """The density itself (the mass function, for a discrete distribution); arguments as for `logpdf`."""
        return self._density(*args, **kwargs)

    logpmf, pmf = logpdf, pdf

    def loglik(self, *args: Any, **kwargs: Any) -> Any:
        """Sum of the log-density over the last axis, without writing the terms.

        Parameters
        ----------
        x, *parameters : array_like
            As for `logpdf`. Parameters of shape (K, 1) with x of shape (N,) give K sums over the N observations.

        Returns
        -------
        float or ndarray
            The broadcast shape without its last axis. The sum runs in float64, whatever the type of the data, in an order
            that is always the same; over nothing it is 0.

        Examples
        --------
        >>> import gpustats as gs
        >>> round(gs.normal.loglik([-1.0, 0.0, 2.0], mu=0.0, sigma=1.0), 4)
        -5.2568
        """
        return self.log_density.total(*args, **kwargs)

    def kernel_source(self, shape: str, dtype: str = "float64", dialect: str = "cuda") -> str:
        """The source of a kernel of this density, as it is compiled for many observations and parameter sets.

        Parameters
        ----------
        shape : {"table", "loglik"}
        dtype : {"float64", "float32"}
        dialect : {"cuda", "opencl"}
        """
        for value, allowed in ((shape, ("table", "loglik")), (dtype, ("float64", "float32")), (dialect, ("cuda", "opencl"))):
            if value not in allowed:
                raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
        return self.log_density.kernel_source(shape, dtype, dialect)


class Densities(Mapping[str, Density]):
    """Every registered density by its name; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Density] = {}

    def __getitem__(self, name: str) -> Density:
        definition = library.get(name)
        if name not in self._made or self._made[name].definition is not definition:
            self._made[name] = Density(definition)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return library.names()

    def __len__(self) -> int:
        return len(list(library.names()))

    def __contains__(self, name: object) -> bool:
        return name in library

    def __repr__(self) -> str:
        return f"<gpustats densities: {', '.join(self)}>"


densities = Densities()


def register(source: str | Path, *, replace: bool = False) -> Density:
    """Make a density of a few lines of C.

    Parameters
    ----------
    source : str or Path
        The text of a device function ``name_logpdf`` or ``name_logpmf`` (see CONTRIBUTING.md), or the path of a file with
        it. A string without a newline that names an existing file is a path as well.
    replace : bool
        Whether a density of the same name may be replaced.

    Returns
    -------
    Density
        Also to be found at ``gs.densities[name]``.

    Raises
    ------
    DeviceFunctionError
        With line and column, where the source breaks the rules of the language, or the name is taken.

    Examples
    --------
    >>> import gpustats as gs
    >>> density = gs.register('''
    ... // lomax: Pareto distribution that starts at zero
    ... // x: nonnegative    alpha: positive, shape    scale: positive
    ... __device__ real lomax_logpdf(real x, real alpha, real scale)
    ... {
    ...     return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
    ... }
    ... ''', replace=True)
    >>> round(float(density.logpdf(1.0, alpha=2.0, scale=3.0)), 6)
    -1.268511
    """
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source and source.endswith(".cu")):
        source = Path(source).read_text(encoding="utf-8")
    return densities[library.register(source, replace).name]
