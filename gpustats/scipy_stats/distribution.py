"""Distributions of numbers as in SciPy: their methods, which call those of a density.

Both kinds are in one module, as what is pickled is made again by its name alone, whichever kind it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Any, TypeVar

import numpy as np

from ..density import Density
from ..distribution.expectation import Function
from ..draws.generator import Rng
from ..runtime.arrays import is_device_array
from ..runtime.cached import cached_property
from ..runtime.transfers import to_host
from ..runtime.types import Array, Size, Values
from .frozen import Frozen
from .random_states import WithRandomState
from .reparametrised import Named, names

T = TypeVar("T")
_METHODS_OF_X = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
_METHODS_MOVED_BY_LOC = ("ppf", "isf", "interval", "support", "mean", "rvs")
_MOMENTS = {"m": "mean", "v": "var", "s": "skewness", "k": "kurtosis"}


class Distribution(WithRandomState):
    """Methods that SciPy's continuous and discrete distributions of numbers share."""

    discrete = False
    badvalue = np.nan

    def __init__(self, named: Named):
        self._named = named
        self.name, self._parameters, self.numargs = named.name, named.parameters, len(named.shapes)
        self.shapes = ", ".join(named.shapes) or None
        self._defaults = tuple(named.defaults.values())

    @cached_property
    def density(self) -> Density:
        return self._named.made()

    @cached_property
    def _standard(self) -> Density:
        """Density of the standard form."""
        return self._named.made(standard=True)

    @cached_property
    def a(self) -> float:
        return self._named.support[0]

    @cached_property
    def b(self) -> float:
        return self._named.support[1]

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name not in ("name", "numargs", "random_state", "shapes"):
            hint = ": it is S1; gs.stable has S0" if (self.name, name) == ("levy_stable", "parameterization") else ""
            raise AttributeError(f"{self.name}.{name} cannot be set{hint}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.name}({', '.join(self._parameters)})>"

    def __reduce__(self) -> tuple[Callable[..., Distribution], tuple[str, Rng]]:
        return _named, (self.name, self._random_state)

    # -- arguments

    def parameters_of(self, args: Sequence[Values], kwds: Mapping[str, Values], *more: str) -> tuple[Array, ...]:
        """Shapes, loc and scale of a call; TypeError as for a function of these and `more`, which are left out."""
        n, known = len(args), self._parameters
        if not kwds and self.numargs <= n <= len(known):
            return (*map(_double, args), *self._defaults[n - self.numargs :])
        if n > len(known) + len(more):
            raise TypeError(f"{self.name} takes {', '.join((*known, *more))}: {len(known) + len(more)} arguments, not {n}")
        by_name = dict(zip(known, args, strict=False))
        for name, value in kwds.items():
            if name not in known:
                raise TypeError(f"{self.name} takes {', '.join((*known, *more))}, and no {name}")
            if name in by_name:
                raise TypeError(f"{self.name}: {name} is given twice")
            by_name[name] = value
        if lacking := [name for name in known[: self.numargs] if name not in by_name]:
            raise TypeError(f"{self.name} needs {', '.join(lacking)}")
        return tuple(_double({**self._named.defaults, **by_name}[name]) for name in known)

    def _with(
        self, name: str, default: T, args: Sequence[Array | T], kwds: Mapping[str, Array | T]
    ) -> tuple[tuple[Array, ...], T]:
        """Parameters of a call, and one more argument, which may stand behind them."""
        place, others = len(self._parameters), {n: v for n, v in kwds.items() if n != name}
        if len(args) == place + 1 and name in kwds:
            raise TypeError(f"{self.name}: {name} is given twice")
        value = args[place] if len(args) == place + 1 else kwds.get(name, default)
        return self.parameters_of(args[:place] if len(args) == place + 1 else args, others, name), value

    def _at(self, method: str, x: Values, args: Sequence[Values], kwds: Mapping[str, Values]) -> Array:
        """Result of a method of the density at x, of the standard form where there is neither a location nor a scale."""
        given, n = self.parameters_of(args, kwds), self.numargs
        moved = not all(type(v) in (int, float) and v == default for v, default in zip(given[n:], self._defaults, strict=True))
        return self._of(method, given, x) if moved else getattr(self._standard, method)(_double(x), *given[:n])

    def _of(self, method: str, given: Sequence[Array], *at: Array, **more: object) -> Array:
        """Result of a method of the density."""
        return getattr(self.density, method)(*map(_double, at), *given, **more)

    def __call__(self, *args: Values, **kwds: Values) -> Frozen:
        """Distribution of these parameters, whose methods take none."""
        self.parameters_of(args, kwds)
        return Frozen(self, args, kwds)

    freeze = __call__

    # -- distribution functions, quantiles

    def cdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Probability P(X <= x)."""
        return self._at("cdf", x, args, kwds)

    def logcdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm log P(X <= x)."""
        return self._at("logcdf", x, args, kwds)

    def sf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Probability P(X > x)."""
        return self._at("sf", x, args, kwds)

    def logsf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm log P(X > x)."""
        return self._at("logsf", x, args, kwds)

    def ppf(self, q: Values, *args: Values, **kwds: Values) -> Array:
        """Smallest x with P(X <= x) >= q."""
        return self._of("ppf", self.parameters_of(args, kwds), q)

    def isf(self, q: Values, *args: Values, **kwds: Values) -> Array:
        """Smallest x with P(X > x) <= q."""
        return self._of("isf", self.parameters_of(args, kwds), q)

    def interval(self, confidence: Values, *args: Values, **kwds: Values) -> Array:
        """Interval with equal areas around the median, as a tuple of its ends."""
        return self._of("interval", self.parameters_of(args, kwds), confidence)

    def median(self, *args: Values, **kwds: Values) -> Array:
        """Median of X."""
        return self._of("ppf", self.parameters_of(args, kwds), 0.5)

    def support(self, *args: Values, **kwds: Values) -> Array:
        """Ends of the support, as a tuple."""
        return self._of("support", self.parameters_of(args, kwds))

    # -- moments

    def mean(self, *args: Values, **kwds: Values) -> Array:
        """Mean of X."""
        return self._of("mean", self.parameters_of(args, kwds))

    def var(self, *args: Values, **kwds: Values) -> Array:
        """Variance of X."""
        return self._of("var", self.parameters_of(args, kwds))

    def std(self, *args: Values, **kwds: Values) -> Array:
        """Standard deviation of X."""
        return self._of("std", self.parameters_of(args, kwds))

    def stats(self, *args: Values, **kwds: Values) -> Array:
        """Moments whose letters are in ``moments="mv"``: mean, variance, skewness and excess kurtosis, in this order."""
        given, letters = self._with("moments", "mv", args, kwds)
        found = tuple(self._of(method, given) for m, method in _MOMENTS.items() if m in letters)
        return found if len(found) != 1 else found[0]

    def moment(self, order: int, *args: Values, **kwds: Values) -> Array:
        """Mean of X to a power, a whole number that is not negative."""
        given = self.parameters_of(args, kwds)
        if np.ndim(order) or int(order) != order:
            raise ValueError(f"order must be a whole number, not {order!r}")
        if order < 0:
            raise ValueError(f"order must not be negative, as {order} is")
        if order == 1:
            return self._of("mean", given)
        if order == 2 and not any(map(is_device_array, given)):
            return self._of("var", given) + self._of("mean", given) ** 2
        return self._of("moment", given, float(order))

    def entropy(self, *args: Values, **kwds: Values) -> Array:
        """Entropy in nats."""
        return self._of("entropy", self.parameters_of(args, kwds))

    def expect(
        self, func: Function | None = None, args: Sequence[Values] = (), loc: float = 0, scale: float = 1,
        lb: float | None = None, ub: float | None = None, conditional: bool = False, **kwds: object,
    ) -> float:  # fmt: skip
        """Mean of a function of X, which takes an array and gives one; of X by default.

        `kwds`, with which SciPy calls what integrates or sums, are not used.
        """
        return self._expected(func, (*args, loc, scale), lb, ub, conditional)

    def _expected(
        self, func: Function | None, given: Sequence[Array], lb: float | None, ub: float | None, conditional: bool
    ) -> float:
        if not self.discrete and lb is not None and ub is not None and lb > ub:  # an integral backwards
            value = self._expected(func, given, ub, lb, conditional)
            return value if conditional else -value
        value = np.float64(self.density.expect(func or (lambda x: x), *given, lb=lb, ub=ub))
        if not conditional:
            return value
        first, last = -np.inf if lb is None else np.ceil(lb) - 1 if self.discrete else lb, np.inf if ub is None else ub
        tails = [np.float64(tail(x, *given)) for tail in (self.density.sf, self.density.cdf) for x in (first, last)]
        with np.errstate(invalid="ignore", divide="ignore"):
            return value / (tails[0] - tails[1] if tails[0] < 0.5 else tails[3] - tails[2])

    def nnlf(self, theta: Sequence[Values], x: Values) -> Array:
        """Negative log-likelihood of parameters (shapes…, loc, a scale): the sum of ``-logpdf(x)`` or ``-logpmf(x)``."""
        value = -np.float64(self.density.loglik(x, *theta))
        return np.inf if value != value else value

    # -- draws

    def rvs(self, *args: Values, size: Size = None, random_state: Rng = None, **kwds: Values) -> Array:
        """Random draws.

        Parameters
        ----------
        *args, **kwds : array_like
            Shapes, loc and scale; behind them the size.
        size : int or tuple of int, optional
            Shape of the result, by default that of the parameters.
        random_state : optional
            None for the generator of ``numpy.random``, or of the distribution's `random_state`; a seed; a generator of
            NumPy's or of gpustats'. From a generator of NumPy's a seed is drawn.

        Returns
        -------
        ndarray, a number, or a device array where a parameter is one
            Of int64 for a discrete distribution, where a number is an ``int``. They are not the numbers that SciPy would draw.
        """
        kwds = kwds if size is None else {**kwds, "size": size}
        given, size = self._with("size", None, args, kwds)
        rng = self._generator(random_state)
        *others, scale = given
        if not self.discrete and not is_device_array(scale) and not np.any(scale):  # all of the probability at loc
            return given[-2] + 0 * self.density.rvs(*others, np.add(scale, 1.0), size=size, rng=rng)
        draws = self._of("rvs", given, size=size, rng=rng)
        return int(draws) if isinstance(draws, np.integer) else draws


class Continuous(Distribution):
    """Continuous distribution of SciPy's, computed by gpustats.

    Its methods take what SciPy's take, the shapes by position or by name and then ``loc=0`` and ``scale=1``, and
    give what SciPy's give: NumPy arrays and numbers are computed with in float64. Beyond that they take device arrays, of which
    they make device arrays of the same type.

    Attributes
    ----------
    name : str
        SciPy's.
    shapes : str or None
        Names of the shapes, separated by commas.
    numargs : int
        Number of shapes.
    a, b : float
        The ends of its support in the standard form, infinite where shapes move them.
    density : Density
        A density with the shapes, ``loc`` and ``scale`` as its parameters, for what SciPy does not have: likelihoods with
        their derivatives, mixtures, transforms, weighted fits, fits of many data sets.
    random_state
        Generator of draws that are given none: None for that of ``numpy.random``. A seed becomes a
        `numpy.random.RandomState`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats import scipy_stats as st
    >>> st.weibull_min.logpdf(np.array([0.5, 1.5]), 2.0, loc=0.25, scale=2.0).round(6)
    array([-2.095067, -0.860629])
    >>> st.gamma.shapes, st.gamma.numargs, st.gamma(2.0, scale=3.0).mean()
    ('a', 1, np.float64(6.0))
    """

    def pdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Density at x."""
        return self._at("pdf", x, args, kwds)

    def logpdf(self, x: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm of the density at x."""
        return self._at("logpdf", x, args, kwds)

    def fit(self, data: Values, *args: float, **kwds: Any) -> tuple[float, ...]:
        """Estimates of shapes, loc and scale by maximum likelihood.

        Parameters
        ----------
        data : array_like, device array or scipy.stats.CensoredData
            Observations of one data set.
        *args : float
            Starts of the search for shapes; ``loc`` and ``scale`` for those.
        **kwds
            What is known: ``floc``, ``fscale``; for a shape ``a`` which is the first one ``f0``, ``fa`` or ``fix_a``.
            ``method``: "MLE", or "MM" for the method of moments. ``optimizer``: a function as `scipy.optimize.fmin`, or its
            name, for another way to search.

        Returns
        -------
        tuple of float
            (shapes…, loc, scale)

        Notes
        -----
        By Newton's method with exact derivatives; see `Density.fit`, which takes many data sets, weights and intervals and
        gives standard errors. Where that does not converge, by the simplex method of Nelder and Mead.
        """
        from .fit import fit

        return fit(self._named, self._free, data, args, kwds)

    @cached_property
    def _free(self) -> Density:
        """Density without defaults, which a fit would take as known."""
        return Density(self.density.definition, self.density.log_density.functions)

    def fit_loc_scale(self, data: Values, *args: Values) -> tuple[float, float]:
        """Location and scale at which the mean and the variance are those of the data, for given shapes."""
        mean, var = self.stats(*args)
        data = np.asarray(to_host(data), float)
        scale = np.sqrt(data.var() / var)
        scale = scale if np.isfinite(scale) and scale > 0 else np.float64(1)
        loc = data.mean() - scale * mean
        return (loc if np.isfinite(loc) else np.float64(0)), scale


class Discrete(Distribution):
    """Discrete distribution of SciPy's, computed by gpustats.

    Its methods take what SciPy's take, the shapes by position or by name and then ``loc=0``, and give what SciPy's give, but
    for draws where loc is no whole number: SciPy truncates these. Beyond that they take device arrays, of which they make
    device arrays; a loc that is one has to be a whole number, as in `density`.

    Attributes
    ----------
    name, shapes, numargs, a, b, density, random_state
        As of `Continuous`.
    inc : int
        The distance of its numbers, 1.

    Examples
    --------
    >>> from gpustats import scipy_stats as st
    >>> st.binom.pmf([3, 4], 3, 0.5, loc=1)
    array([0.375, 0.125])
    >>> st.geom(0.25).mean(), st.geom(0.25).support()
    (np.float64(4.0), (np.float64(1.0), np.float64(inf)))
    """

    discrete = True
    inc = 1

    def _of(self, method: str, given: Sequence[Array], *at: Array, **more: object) -> Array:
        """Result of a method of the density: see `Distribution._of`.

        The density lies on whole numbers: where loc is no whole number, x or the result is moved by it.
        """
        *shapes, loc = given
        if is_device_array(loc) or not np.any(np.mod(loc, 1)):
            return super()._of(method, given, *at, **more)
        loc = np.asarray(loc, float)[()]
        given = (*shapes, 0 * loc)
        if method in _METHODS_OF_X:
            return super()._of(method, given, *(x - loc if is_device_array(x) else np.subtract(x, loc) for x in at))
        if method == "moment":
            (n,) = map(int, at)
            return sum(comb(n, k) * loc ** (n - k) * self.moment(k, *shapes) for k in range(n + 1))
        result = super()._of(method, given, *at, **more)
        if method not in _METHODS_MOVED_BY_LOC:
            return result
        return tuple(end + loc for end in result) if isinstance(result, tuple) else result + loc

    def _expected(
        self, func: Function | None, given: Sequence[Array], lb: float | None, ub: float | None, conditional: bool
    ) -> float:
        *shapes, loc = given
        if np.mod(loc, 1) == 0:
            return super()._expected(func, given, lb, ub, conditional)
        first, last = (None if bound is None else bound - loc for bound in (lb, ub))
        return super()._expected(lambda k: (func or np.asarray)(k + loc), (*shapes, 0), first, last, conditional)

    def pmf(self, k: Values, *args: Values, **kwds: Values) -> Array:
        """Probability of k."""
        return self._at("pmf", k, args, kwds)

    def logpmf(self, k: Values, *args: Values, **kwds: Values) -> Array:
        """Logarithm of the probability of k."""
        return self._at("logpmf", k, args, kwds)

    def expect(  # type: ignore[override]
        self, func: Function | None = None, args: Sequence[Values] = (), loc: float = 0, lb: float | None = None,
        ub: float | None = None, conditional: bool = False, **kwds: object,
    ) -> float:  # fmt: skip
        """Mean of a function of X, which takes an array and gives one; of X by default.

        `kwds`, with which SciPy calls what sums, are not used.
        """
        return self._expected(func, (*args, loc), lb, ub, conditional)


def _double(value: Values) -> Array:
    """Value in float64 where NumPy's float32 came, as SciPy has it; a device array as it is."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.float32:
        return value.astype(np.float64)
    return value


@functools.cache
def distribution_of(name: str) -> Distribution:
    """SciPy's distribution of a name; KeyError where there is none."""
    named = names()[name]
    return Discrete(named) if named.discrete else Continuous(named)


def _named(name: str, random_state: Rng) -> Distribution:
    """Distribution of a name, for what was pickled.

    There is one of each, but for those with a random state.
    """
    one = distribution_of(name)
    if random_state is None:
        return one
    made = type(one)(one._named)
    made._random_state, made.__dict__["density"] = random_state, one.density
    return made
