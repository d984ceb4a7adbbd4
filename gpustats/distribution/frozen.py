"""Distributions of certain parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any

from .available import WithFunctions, made_of, without_lacking

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..draws.generator import Rng
    from ..runtime.types import Array, Result, Size, Values
    from .expectation import Function


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
    >>> frozen.rvs((3, 2), rng=1).shape
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

    def _lack_of(self, *endings: str) -> str:
        """Reason why there is no method made of functions of these endings; empty where there is one."""
        if names := [v for v in (*self.args, *self.kwargs.values()) if isinstance(v, str)]:
            return f"{self} is a prior of a model alone: {names[0]!r} is the name of a parameter"
        return self.density._lack_of(*endings)

    def _bound(self, method: Any) -> Any:
        return MethodType(method, self)

    def _call(self, name: str, *asked: Any, **options: Any) -> Any:
        """Value of a method of the density at the parameters."""
        return getattr(self.density, name)(*asked, *self.args, **self.kwargs, **options)

    def _array(self, name: str, *asked: Any, **options: Any) -> Result:
        """The same, of a method that gives an array."""
        found: Result = self._call(name, *asked, **options)
        return found

    @made_of()
    def logpdf(self, x: Values) -> Result:
        """Log of the density; see `Density.logpdf`."""
        return self._array("logpdf", x)

    @made_of()
    def pdf(self, x: Values) -> Result:
        """Density itself; see `Density.pdf`."""
        return self._array("pdf", x)

    logpmf, pmf = logpdf, pdf

    @made_of("logcdf")
    def logcdf(self, x: Values) -> Result:
        """Log of the distribution function; see `Density.logcdf`."""
        return self._array("logcdf", x)

    @made_of("cdf")
    def cdf(self, x: Values) -> Result:
        """Distribution function; see `Density.cdf`."""
        return self._array("cdf", x)

    @made_of("logsf")
    def logsf(self, x: Values) -> Result:
        """Log of the survival function; see `Density.logsf`."""
        return self._array("logsf", x)

    @made_of("sf")
    def sf(self, x: Values) -> Result:
        """Survival function; see `Density.sf`."""
        return self._array("sf", x)

    @made_of("ppf")
    def ppf(self, q: Values) -> Result:
        """Quantile; see `Density.ppf`."""
        return self._array("ppf", q)

    @made_of("isf")
    def isf(self, q: Values) -> Result:
        """Quantile of the upper tail; see `Density.isf`."""
        return self._array("isf", q)

    @made_of()
    def loglik(self, x: Values) -> Array:
        """Sum of the log-density over the last axis; see `Density.loglik`."""
        return self._call("loglik", x)

    @made_of()
    def loglik_and_grad(self, x: Values, wrt: str | Collection[str] | None = None) -> tuple[Array, dict[str, Array]]:
        """Log-likelihood and its derivatives; see `Density.loglik_and_grad`."""
        found: tuple[Array, dict[str, Array]] = self._call("loglik_and_grad", x, wrt=wrt)
        return found

    @made_of()
    def rvs(
        self, size: Size = None, rng: Rng = None, dtype: DTypeLike | None = None, out: Array = None, device: bool = False,
        random_state: Rng = None,
    ) -> Result:  # fmt: skip
        """Random draws; see `Density.rvs`."""
        options = {"dtype": dtype, "out": out, "device": device, "random_state": random_state}
        return self._array("rvs", size=size, rng=rng, **options)

    @made_of("mean")
    def mean(self) -> Result:
        """Mean; see `Density.mean`."""
        return self._array("mean")

    @made_of("var")
    def var(self) -> Result:
        """Variance; see `Density.var`."""
        return self._array("var")

    @made_of("std")
    def std(self) -> Result:
        """Standard deviation; see `Density.std`."""
        return self._array("std")

    @made_of("skewness")
    def skewness(self) -> Result:
        """Skewness; see `Density.skewness`."""
        return self._array("skewness")

    @made_of("kurtosis")
    def kurtosis(self) -> Result:
        """Excess kurtosis; see `Density.kurtosis`."""
        return self._array("kurtosis")

    @made_of("entropy")
    def entropy(self) -> Result:
        """Entropy in nats; see `Density.entropy`."""
        return self._array("entropy")

    @made_of("median")
    def median(self) -> Result:
        """Median; see `Density.median`."""
        return self._array("median")

    @made_of("mode")
    def mode(self) -> Result:
        """Mode; see `Density.mode`."""
        return self._array("mode")

    @made_of("lower", "upper")
    def support(self) -> tuple[Result, Result]:
        """Ends of the support; see `Density.support`."""
        ends: tuple[Result, Result] = self._call("support")
        return ends

    @made_of("mean", "var")
    def stats(self, moments: str = "mv") -> Any:
        """Mean, variance, skewness and excess kurtosis, or some of them; see `Density.stats`."""
        return self._call("stats", moments=moments)

    @made_of("moment")
    def moment(self, order: Values) -> Result:
        """Moment; see `Density.moment`."""
        return self._array("moment", order)

    @made_of("ppf", "isf")
    def interval(self, confidence: Values) -> tuple[Result, Result]:
        """Interval around the median; see `Density.interval`."""
        ends: tuple[Result, Result] = self._call("interval", confidence)
        return ends

    @made_of("ppf", "isf")
    def expect(self, function: Function, lb: float | None = None, ub: float | None = None) -> float:
        """Mean of a Python function; see `Density.expect`."""
        return float(self._call("expect", function, lb=lb, ub=ub))

    def __dir__(self) -> list[str]:
        return without_lacking(self, super().__dir__())

    def __repr__(self) -> str:
        def shown(value: object) -> str:
            shape = getattr(value, "shape", ())
            return f"array of shape {tuple(shape)}" if shape else repr(value)

        return f"<gpustats.{self.density.name}({', '.join(f'{n}={shown(v)}' for n, v in self._given().items())})>"

    def _given(self) -> dict[str, Values]:
        """Parameters by their names."""
        return {**dict(zip(self.density.parameters, self.args, strict=False)), **self.kwargs}

    def _repr_html_(self) -> str:
        from .pictured import of_frozen

        return of_frozen(self, self._given())
