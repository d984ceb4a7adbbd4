"""Methods of a distribution beside its density: distribution functions, quantiles, moments."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from ..names.advised import Advised
from ..names.functions import METHODS
from ..runtime.cached import cached_property
from .accuracy import told, warn
from .available import WithFunctions, made_of
from .described import OfEach

if TYPE_CHECKING:
    from ..runtime.types import Result, Values
    from .expectation import Function


class Distribution(Advised, WithFunctions):
    """Methods of a distribution that are made of functions beside its density, as far as these can be had."""

    __signature__ = OfEach(lambda density: inspect.signature(density._bound(type(density).__call__)))

    def _repr_html_(self) -> str:
        from .pictured import of_density

        return of_density(self)

    def _told_of(self, name: str) -> str:
        here = f": here it is {METHODS[name]}" if name in METHODS else ""
        return f"a density has no attribute {name!r}{here}"

    @cached_property
    def _methods(self) -> dict[str, Callable[..., object]]:
        """Methods of this distribution, with its parameters in their signatures, by their names."""
        return {}

    def _bound(self, method: Callable[..., object]) -> Callable[..., object]:
        if (bound := self._methods.get(method.__name__)) is None:
            from .signatures import copied, signature_of

            own = copied(method)
            own.__signature__ = signature_of(method, self.domains, self.defaults)  # type: ignore[attr-defined]
            bound = self._methods[method.__name__] = MethodType(own, self)
        return bound

    @made_of("logcdf")
    def logcdf(self, *args: Values, **kwargs: Values) -> Result:
        """Log of the distribution function, the probability of a value up to x.

        Parameters
        ----------
        x : array_like
            All numbers: the result is -inf below the support and 0 above it.
        *parameters : array_like
            As for `logpdf`.

        Returns
        -------
        ndarray, or the kind of device array that came in
            nan where a parameter lies outside its domain or x is nan.

        Raises
        ------
        AttributeError
            Where the density's source has none of the functions ``name_logcdf``, ``name_logsf``, ``name_cdf`` and
            ``name_sf``, and for a density of vectors: so ``hasattr(density, "logcdf")`` tells.

        Notes
        -----
        Far in either tail it is as accurate as the source's function of that tail: of the two logarithms, the one that lies
        near 0 is computed from the other.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> gs.exponential.logcdf(np.array([-1.0, 1.0, 50.0]), 2.0).round(4)
        array([   -inf, -0.1454, -0.    ])
        >>> gs.exponential.logsf(np.array([50.0]), 2.0)
        array([-100.])
        """
        return self.function("logcdf")(*args, **kwargs)

    @made_of("cdf")
    def cdf(self, *args: Values, **kwargs: Values) -> Result:
        """Distribution function, P(X <= x); arguments as for `logcdf`.

        Examples
        --------
        >>> import gpustats as gs
        >>> gs.exponential.cdf([-1.0, 0.5], 2.0).round(6)
        array([0.      , 0.632121])
        """
        return self.function("cdf")(*args, **kwargs)

    @made_of("logsf")
    def logsf(self, *args: Values, **kwargs: Values) -> Result:
        """Log of the survival function, the probability of a value greater than x; arguments as for `logcdf`.

        Examples
        --------
        >>> import gpustats as gs
        >>> round(float(gs.half_normal.logsf(1e-20, 1.0)) / 1e-20, 6)
        -0.797885
        """
        return self.function("logsf")(*args, **kwargs)

    @made_of("sf")
    def sf(self, *args: Values, **kwargs: Values) -> Result:
        """Survival function, P(X > x); arguments as for `logcdf`.

        Examples
        --------
        >>> import gpustats as gs
        >>> round(float(gs.normal.sf(10.0, 0.0, 1.0)) * 1e23, 6)
        0.761985
        """
        return self.function("sf")(*args, **kwargs)

    @made_of("ppf")
    def ppf(self, *args: Values, **kwargs: Values) -> Result:
        """Quantile, the smallest x with P(X <= x) >= q: the inverse of `cdf`.

        Parameters
        ----------
        q : array_like
            Probabilities from 0 to 1.
        *parameters : array_like
            As for `logpdf`.

        Returns
        -------
        ndarray, or the kind of device array that came in
            nan where q is no probability or a parameter lies outside its domain. At 0 and 1 the ends of the support, as
            scipy.stats has them: for a discrete distribution the number before the smallest one, and the largest.

        Raises
        ------
        AttributeError
            Where the density's source has neither a quantile nor a distribution function, and for one of vectors.

        Examples
        --------
        >>> import gpustats as gs
        >>> gs.exponential.ppf([0.0, 0.5, 1.0], 2.0).round(6)
        array([0.      , 0.346574,      inf])
        >>> gs.geometric.ppf([0.0, 0.5, 0.999], 0.1)
        array([ 0.,  7., 66.])
        """
        return told(self, "ppf", args, kwargs)

    @made_of("isf")
    def isf(self, *args: Values, **kwargs: Values) -> Result:
        """Quantile of the upper tail: the smallest x with P(X > x) <= q; arguments as for `ppf`.

        Examples
        --------
        >>> import gpustats as gs
        >>> round(float(gs.logistic.isf(1e-100, 0.0, 1.0)), 6)
        230.258509
        """
        return told(self, "isf", args, kwargs)

    @made_of("median")
    def median(self, *args: Values, **kwargs: Values) -> Result:
        """Median; arguments as for `mean`.

        Examples
        --------
        >>> import gpustats as gs
        >>> round(float(gs.gumbel.median(0.0, 1.0)), 6)
        0.366513
        """
        if self.definition.role("median") is not None:  # the source writes it
            return self.function("median")(*args, **kwargs)
        return told(self, "ppf", (0.5, *args), kwargs)

    @made_of("ppf", "isf")
    def interval(self, confidence: Values, *args: Values, **kwargs: Values) -> tuple[Result, Result]:
        """Interval around the median that holds a given part of the probability, with equal parts on its two sides.

        Parameters
        ----------
        confidence : array_like
            The probability of the interval, from 0 to 1.
        *parameters : array_like
            As for `logpdf`.

        Returns
        -------
        lower, upper : ndarray, or the kind of device array that came in

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> np.round(gs.logistic.interval(0.9, 0.0, 1.0), 6)
        array([-2.944439,  2.944439])
        """
        import numpy as np  # here, as it takes long

        from ..runtime.arrays import as_array, is_device_array

        confidence = as_array(confidence, "confidence")
        if not is_device_array(confidence) and np.any(np.less(confidence, 0) | np.greater(confidence, 1)):
            raise ValueError(f"confidence must be a probability, from 0 to 1, not {confidence}")
        beyond = 0.5 - 0.5 * confidence
        return told(self, "ppf", (beyond, *args), kwargs), told(self, "isf", (beyond, *args), kwargs)

    @made_of("lower", "upper")
    def support(self, *args: Values, **kwargs: Values) -> tuple[Result, Result]:
        """Smallest and largest number that the distribution may give; arguments as for `mean`.

        Returns
        -------
        lower, upper : ndarray, or the kind of device array that came in
            nan where a parameter lies outside its domain.

        Examples
        --------
        >>> import gpustats as gs
        >>> [float(end) for end in gs.exponential.support(2.0)]
        [0.0, inf]
        """
        return self.function("lower")(*args, **kwargs), self.function("upper")(*args, **kwargs)

    @made_of("mean")
    def mean(self, *args: Values, **kwargs: Values) -> Result:
        """Mean of the distribution.

        Parameters
        ----------
        *parameters : array_like
            In the order of `parameters`, or by name; they broadcast against each other.

        Returns
        -------
        ndarray, or the kind of device array that came in
            nan where a parameter lies outside its domain, and where there is none; inf where it is infinite.

        Raises
        ------
        AttributeError
            Where the density's source has no functions that give it, and for one of vectors.

        Examples
        --------
        >>> import gpustats as gs
        >>> gs.exponential.mean([1.0, 4.0])
        array([1.  , 0.25])
        """
        return told(self, "mean", args, kwargs)

    @made_of("var")
    def var(self, *args: Values, **kwargs: Values) -> Result:
        """Variance; arguments as for `mean`."""
        return told(self, "var", args, kwargs)

    @made_of("std")
    def std(self, *args: Values, **kwargs: Values) -> Result:
        """Standard deviation; arguments as for `mean`."""
        return told(self, "std", args, kwargs)

    @made_of("skewness")
    def skewness(self, *args: Values, **kwargs: Values) -> Result:
        """Skewness: the third central moment, relative to the standard deviation's third power; arguments as for `mean`."""
        return told(self, "skewness", args, kwargs)

    @made_of("kurtosis")
    def kurtosis(self, *args: Values, **kwargs: Values) -> Result:
        """Excess kurtosis: the fourth central moment, relative to the squared variance, less 3; arguments as for `mean`."""
        return told(self, "kurtosis", args, kwargs)

    @made_of("entropy")
    def entropy(self, *args: Values, **kwargs: Values) -> Result:
        """Entropy in nats, the mean of -logpdf; arguments as for `mean`."""
        return told(self, "entropy", args, kwargs)

    @made_of("mode")
    def mode(self, *args: Values, **kwargs: Values) -> Result:
        """Mode: a number at which the density is largest; arguments as for `mean`."""
        return self.function("mode")(*args, **kwargs)

    @made_of("mean", "var")
    def stats(self, *args: Values, moments: str = "mv", **kwargs: Values) -> Any:
        """Mean, variance, skewness and excess kurtosis, or some of them.

        Parameters
        ----------
        *parameters : array_like
            As for `mean`.
        moments : str
            Letters out of ``mvsk``, in the order in which the numbers are wanted.

        Returns
        -------
        tuple of ndarray or of device arrays, or one of them for one letter

        Examples
        --------
        >>> import gpustats as gs
        >>> [float(number) for number in gs.exponential.stats(2.0, moments="mvsk")]
        [0.5, 0.25, 2.0, 6.0]
        """
        methods = {"m": "mean", "v": "var", "s": "skewness", "k": "kurtosis"}
        if not moments or not set(moments) <= methods.keys():
            raise ValueError(f"moments must be letters out of 'mvsk', not {moments!r}")
        found = tuple(getattr(self, methods[letter])(*args, **kwargs) for letter in moments)
        return found if len(found) > 1 else found[0]

    @made_of("moment")
    def moment(self, order: Values, *args: Values, **kwargs: Values) -> Result:
        """Moment: the mean of X^order, by quadrature.

        Parameters
        ----------
        order : array_like
            Whole numbers that are not negative.
        *parameters : array_like
            As for `mean`.

        Examples
        --------
        >>> import gpustats as gs
        >>> gs.exponential.moment([0, 1, 5], 2.0).round(12)
        array([1.  , 0.5 , 3.75])
        """
        return told(self, "moment", (order, *args), kwargs)

    @made_of("ppf", "isf")
    def expect(
        self, function: Function, *args: Values, lb: float | None = None, ub: float | None = None, **kwargs: Values
    ) -> float:
        """Mean of a Python function, which is called on the host with arrays of numbers.

        Parameters
        ----------
        function : callable
            Takes an array and gives one of the same shape, elementwise.
        *parameters : float
            As for `mean`, but one set of them.
        lb, ub : float, optional
            The function counts as 0 below and above these; both are inclusive.

        Returns
        -------
        float
            Infinite where the integral does not converge; nan, with an `AccuracyWarning`, where quadrature does not find
            it to 1e-8.

        Notes
        -----
        A continuous distribution is integrated over its quantiles, which are computed on the device; steps are halved until
        results agree. So the function should be smooth but for a few kinks or jumps.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> round(gs.normal.expect(np.cos, 0.0, 1.0), 9)
        0.60653066
        >>> round(gs.geometric.expect(lambda k: 1 / k, 0.5), 9)
        0.693147181
        """
        import numpy as np

        from ..evaluation.arguments import match
        from .expectation import LARGEST_LOGIT, mean_over_numbers, mean_over_quantiles

        given = match(self.name, self.parameters, args, kwargs, self.defaults)
        ranks = [argument.rank for argument in self.log_density.arguments[1:]]
        if any(np.ndim(value) != rank for value, rank in zip(given, ranks, strict=True)):
            kinds = [f"{name} a {'vector' if rank else 'number'}" for name, rank in zip(self.parameters, ranks, strict=True)]
            raise ValueError(f"expect takes one set of parameters of {self.name}: {', '.join(kinds)}")
        parameters = [np.asarray(value, float) if rank else float(value) for value, rank in zip(given, ranks, strict=True)]
        ppf, isf = self.function("ppf"), self.function("isf")
        if math.isnan(ppf(0.5, *parameters)):
            return math.nan
        if self.discrete:
            first, last = float(ppf(1e-30, *parameters)), float(isf(1e-30, *parameters))
            first = first if lb is None else max(first, math.ceil(lb))
            last = last if ub is None else min(last, math.floor(ub))
            return mean_over_numbers(function, self.log_density, parameters, first, last)

        def logit(x: float) -> float:
            return float(self.function("logcdf")(x, *parameters) - self.function("logsf")(x, *parameters))

        first = -LARGEST_LOGIT if lb is None else max(-LARGEST_LOGIT, logit(lb))
        last = LARGEST_LOGIT if ub is None else min(LARGEST_LOGIT, logit(ub))
        value = mean_over_quantiles(function, ppf, isf, parameters, first, last) if first < last else 0.0
        if math.isnan(value):
            warn(self, "expect", parameters, {})
        return value
