"""Probability densities and mass functions, with the methods that users call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from .distribution.available import made_of
from .distribution.described import with_own_docstrings
from .distribution.methods import Distribution
from .language.kinds import DENSITY, Kind
from .language.library import Registry, library
from .names.elsewhere import hint
from .names.keywords import advising
from .runtime.cached import cached_property

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from .distribution.frozen import Frozen
    from .draws.generator import Rng
    from .draws.sampler import Sampler
    from .evaluation.pointwise import Pointwise
    from .fits.estimates import Estimates
    from .language.device_function import DeviceFunction
    from .language.nodes import Function
    from .runtime.base import Device
    from .runtime.types import Array, Result, Size, Values

#: Densities whose function sees the squared Mahalanobis distance of x from mu, and the logarithm of the determinant of cov.
ELLIPTICAL = Kind(
    "elliptical density", "elliptical densities", ("logpdf", "logpmf"),
    base=DENSITY, inputs=("sqdist", "logdet"), public=("x", "mu", "cov"),
)  # fmt: skip


@with_own_docstrings
class Density(Distribution):
    """Probability density or mass function made of a device function.

    Attributes
    ----------
    name, description, source, reference, formula : str
        The distribution's name; what its comment says; the C text; where the formula comes from; the formula itself, in the
        notation that CONTRIBUTING.md explains, or "" where the comment gives none.
    parameters : tuple of str
        Names of the parameters in the order in which methods take them.
    domains : dict
        Argument -> domain, that of the observation first.
    discrete : bool
        Whether it is a mass function.
    defaults : dict
        Values of the parameters that a call may leave out, by their names.
    """

    def __init__(
        self, definition: DeviceFunction, functions: Mapping[str, Function] | None = None,
        defaults: Mapping[str, Values] | None = None,
    ):  # fmt: skip
        self.definition, self.defaults = definition, dict(defaults or {})
        self.name, self.description = definition.name, definition.description
        self.source, self.reference, self.discrete = definition.source, definition.reference, definition.discrete
        # Those that a transform gives are of the density that it took, whatever bears their names in the library by now.
        self._functions = {**library.closure(definition.functions.values()), **(functions or {})}
        self.formula, self.parameters = definition.formula, tuple(a.name for a in definition.arguments[1:])
        self.domains = {a.name: a.domain for a in definition.arguments}

    def __getstate__(self) -> dict[str, object]:
        """State without what is compiled, which is made anew where it is wanted."""
        return {n: v for n, v in self.__dict__.items() if not isinstance(getattr(type(self), n, None), cached_property)}

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(self.domains)})>"

    @cached_property
    def log_density(self) -> Pointwise:
        """Log-density, checked and ready to be evaluated."""
        from .evaluation.pointwise import Pointwise
        from .rewriting.checks import checked

        if self.definition.kind is ELLIPTICAL:
            from .elliptical.density import Elliptical

            return Elliptical(self.definition, self._functions)
        arguments = self.definition.arguments
        guarded = checked(self.definition.density, arguments, self._functions.get)
        return Pointwise(self.name, guarded, arguments, self._functions, self.source, self.defaults)

    @cached_property
    def _density(self) -> Pointwise:
        return self.log_density.map("exp", "exp({})")

    def __call__(self, *args: Values, **kwargs: Values) -> Frozen:
        """Distribution of these parameters, whose methods take none.

        Parameters
        ----------
        *parameters : array_like
            In the order of `parameters`, or by name.

        Examples
        --------
        >>> import gpustats as gs
        >>> (waiting := gs.exponential(2.0))
        <gpustats.exponential(lam=2.0)>
        >>> float(waiting.mean()), float(waiting.logsf(3.0))
        (0.5, -6.0)
        """
        from .distribution.frozen import Frozen

        return Frozen(self, args, kwargs)

    @cached_property
    def sampler(self) -> Sampler:
        """Sampler that draws from the density."""
        if self.definition.kind is ELLIPTICAL:
            from .elliptical.sampler import EllipticalSampler

            return EllipticalSampler(self.definition, self._functions)
        from .draws.sampler import Sampler

        return Sampler(self.definition, self._functions, self.defaults)

    @made_of()
    def logpdf(self, *args: Values, **kwargs: Values) -> Result:
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
            float32 where all arrays are float32, else float64. nan where a parameter lies outside its domain, a covariance or
            precision matrix is not positive definite, or x is nan; -inf where x lies outside the support.

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

    @made_of()
    def pdf(self, *args: Values, **kwargs: Values) -> Result:
        """Density itself (the mass function, for a discrete distribution); arguments as for `logpdf`."""
        return self._density(*args, **kwargs)

    logpmf, pmf = logpdf, pdf

    @made_of()
    def loglik(self, *args: Values, **kwargs: Values) -> Array:
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

    @made_of()
    def loglik_and_grad(
        self, *args: Values, wrt: str | Collection[str] | None = None, **kwargs: Values
    ) -> tuple[Array, dict[str, Array]]:
        """Log-likelihood as from `loglik`, and its derivatives, in one pass over the data.

        Parameters
        ----------
        x, *parameters : array_like
            As for `loglik`.
        wrt : str or collection of str, optional
            Names of the arguments with respect to which derivatives are wanted: parameters, or the observation. By default all
            parameters but those that are whole numbers.

        Returns
        -------
        value : float or ndarray
            As `loglik` gives it.
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument: a float for a number, (K, 1) for K sets,
            (N,) for a value for each observation. Those that are sums over observations are float64; a device array where the
            argument is one. That of a covariance or precision matrix is symmetric: with respect to symmetric changes.

        Raises
        ------
        ValueError
            Also where `wrt` names an argument of whole numbers.

        Notes
        -----
        The derivatives are exact: the device function is differentiated, see `gpustats.differentiate`. At a kink or a jump
        it is the derivative of the side that the function takes.

        Examples
        --------
        >>> import gpustats as gs
        >>> value, gradient = gs.normal.loglik_and_grad([-1.0, 0.0, 2.0], mu=0.0, sigma=1.0)
        >>> round(value, 4), gradient
        (-5.2568, {'mu': 1.0, 'sigma': 2.0})
        """
        from .evaluation.gradient import gradient_of

        function = self.log_density.for_arguments(kwargs)
        return gradient_of(function, wrt)(function.bind(args, kwargs))

    @made_of()
    def rvs(
        self, *args: Values, size: Size = None, rng: Rng = None, dtype: DTypeLike | None = None, out: Array = None,
        device: bool = False, random_state: Rng = None, **kwargs: Values,
    ) -> Result:  # fmt: skip
        """Random draws.

        Parameters
        ----------
        *parameters : array_like
            In the order of `parameters`, or by name; they broadcast against each other and to `size`.
        size : int or tuple of int, optional
            Shape of the result, to which the axis of a vector is added. By default the shape of the parameters.
        rng : optional
            A seed (an int, or what `gpustats.Generator` takes), a `gpustats.Generator`, which goes on from where it is, or a
            `numpy.random.Generator`, from which a seed is drawn. By default a stream with a fresh seed.
        dtype : optional
            float32 or float64; by default float32 where all arrays among the parameters are float32, else float64. Draws of a
            discrete distribution are int64; one beyond its range is its largest number.
        out : ndarray or device array, optional
            Array for the draws; contiguous, of their shape and type.
        device : bool
            Whether to return a device array of the default device, rather than a NumPy array.
        random_state : optional
            SciPy's word for `rng`.

        Returns
        -------
        ndarray, or a device array
            The latter also where a parameter is one.

        Raises
        ------
        ValueError
            Where a parameter lies outside its domain, or parameters do not go together. Parameters on a device are not read
            back: an invalid one gives nan, or the smallest int64.
        NotImplementedError
            Where the density's source has neither a function ``name_sample`` nor a distribution function, which is
            inverted otherwise.

        Notes
        -----
        A draw depends on the generator's seed and on the number of the draw only, not on the device (but for its rounding) nor
        on how many are drawn at a time.

        Examples
        --------
        >>> import gpustats as gs
        >>> x = gs.gamma.rvs(2.0, 1.0, size=100_000, rng=1)
        >>> bool(abs(x.mean() - 2.0) < 0.02)
        True
        >>> gs.poisson.rvs([1.0, 1000.0], size=(3, 2), rng=1).shape
        (3, 2)
        """
        from .draws.generator import as_generator

        return self.sampler.draw(args, kwargs, size, as_generator(rng, random_state), dtype, out, device)

    @advising
    def fit(
        self, x: Values | None = None, *, fixed: Mapping[str, Values] | None = None,
        start: Mapping[str, Values] | None = None, weights: Values | None = None, lower: Values | None = None,
        upper: Values | None = None, groups: ArrayLike | None = None, max_iterations: int = 200,
        devices: str | Sequence[str | Device] | None = None, memory: int | None = None, progress: bool = False,
    ) -> Estimates:  # fmt: skip
        """Estimates of the parameters by maximum likelihood, for one data set or for many at once.

        Parameters
        ----------
        x : array_like or scipy.stats.CensoredData
            Observations: (N,); (..., N) for a data set in each row; or a list of arrays of different lengths.
        fixed : dict, optional
            Known parameters, by name: numbers, or arrays that broadcast to x. Whole numbers must be known, unless they are an
            end of the support; those with a default are, unless they have a start.
        start : dict, optional
            Where the search begins, for some others: numbers, or one for each data set.
        weights : array_like, optional
            Number of times that each observation counts; broadcasts to x. One that counts 0 times may be anything, also nan.
        lower, upper : array_like, optional
            Instead of x: the ends of an interval, which belong to it, in which each observation is known to lie. Equal ends
            are the observation itself, infinite ones none. The density needs a distribution function.
        groups : (N,) array_like, optional
            Labels of data sets: observations x (N,) of one label are a data set.
        max_iterations : int
            Steps after which a search ends.
        devices : "all" or sequence of str or Device, optional
            Over which the data sets are divided: ``"all"`` (every GPU of CUDA, else of OpenCL, else the CPU), or a list. The
            data lie on the host. A device takes a piece of 256 data sets or more, and the next one when it is done. Any number
            of devices of one kind finds the same bits, to rounding those of a call without `devices`.
        memory : int, optional
            Bytes on a device for one data set x, (N,), in memory or in a file: larger ones are read in pieces, once for each
            step. x, weights and parameters that are known for each observation may be read by slices, as `gpustats.Likelihood`
            has it; `devices` share them. The search is `gpustats.Likelihood.fit`'s, in x's type; it does not stop at kinks.
        progress : bool
            Whether a bar shows the data sets that are done, or steps.

        Returns
        -------
        Estimates
            With ``parameters``, ``standard_errors``, ``covariance``, ``converged`` and so on; it can be unpacked.

        Raises
        ------
        ValueError
            Also where no parameters are found at which there is a likelihood.
        NotImplementedError
            For vectors; for intervals without a distribution function; with `memory`, for an end of the support.

        Notes
        -----
        Newton's method with exact derivatives and damping, in float64, on the logarithms of positive parameters and the log
        odds of those in [0, 1]. All data sets take each step in one launch. A parameter that is an end of the support, as of
        `uniform`, is estimated by the outermost observation.
        ``gs.Likelihood(density, x).fit()`` has robust errors and profile intervals, bounds and priors.

        Examples
        --------
        >>> import gpustats as gs
        >>> x = gs.gamma.rvs(2.5, 1.5, size=1000, rng=1)
        >>> fit = gs.gamma.fit(x)
        >>> round(fit["alpha"], 2), round(fit.standard_errors["alpha"], 2), fit.converged
        (2.41, 0.1, True)
        >>> alpha, beta = gs.gamma.fit(x.reshape(100, 10))  # 100 data sets of 10 observations
        >>> alpha.shape
        (100,)
        """
        from .fits.fit import fit
        from .fits.model import Model

        if memory is not None:
            if x is None or groups is not None:
                raise ValueError("memory is for one data set x, (N,): without lower, upper and groups")
            from .fits.one_data_set import fit_in_pieces

            return fit_in_pieces(self, x, fixed, start, weights, max_iterations, devices, memory, progress)
        model = Model(self.log_density, self.definition)
        return fit(model, x, fixed, start, weights, lower, upper, groups, max_iterations, devices, progress)

    def kernel_source(self, shape: str, dtype: str = "float64", dialect: str = "cuda") -> str:
        """Source of a kernel of this density, as it is compiled for many observations and parameter sets.

        Parameters
        ----------
        shape : {"table", "loglik", "gradient", "sample", "mixture", "glm", "glm_products"}
            The log-density at every point; its sum; the sum with its derivatives in all scalar parameters, or, where there are
            none, in an element of the first vector; random draws; the summed log-density of a mixture; that of a GLM with its
            derivatives, of a density with a parameter ``eta``, for one set of coefficients and for many.
        dtype : {"float64", "float32"}
        dialect : {"cuda", "opencl"}
        """
        from .kernels.shown import shown_source

        return shown_source("density", self, shape, dtype, dialect)


class Densities(Registry[Density]):
    """Registered densities by name; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        super().__init__(DENSITY, Density)

    def _hint(self, name: str) -> str:
        return hint(name, list(self))


densities = Densities()
