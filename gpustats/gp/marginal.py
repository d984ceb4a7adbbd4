"""The marginal likelihood of a Gaussian process with normal noise, its gradient, and predictions."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..density import densities
from ..draws.generator import as_generator
from ..evaluation.arguments import check_wrt_among
from ..evaluation.placement import as_read, device_of, moved
from ..evaluation.results import delivered
from ..linalg.providers import provider_of
from ..parallel.remade import fetched, placed
from ..runtime import arrays
from .covariance import Covariance
from .factor import Factor
from .fitting import Fit, maximise
from .gradient import gradient, zero_gradient
from .hyperparameters import refuse_names
from .matrix import as_points
from .observations import Observations
from .pairs import Pairs
from .parameters import MEAN, RESERVED, SIGMA, Parameters, ParameterSets, X, Y, by_row, deviation, on_host
from .posterior import Posterior
from .prediction import Prediction, variance_of_t
from .sets import Sets

if TYPE_CHECKING:
    from ..runtime.base import Device


class MarginalLikelihood:
    """The log marginal likelihood of a Gaussian process, log N(y; mean, K + diag(sigma²)), bound to data on a device.

    Parameters
    ----------
    cov : Covariance
        Such as `gs.rbf`, a sum or a product of several, or one registered by `gs.register`.
    x : (n, p) or (n,) array_like
        Points in rows. They are moved to the default device once; a device array stays where it lies.
    y : (n,) array_like
        Observations. Everything is computed in float32 where x and y are float32, else in float64; sums always in float64.
    mean : float or callable, optional
        The prior mean where a call gives none: a number, or a function of points (m, p) that returns (m,). Default: 0.
    student_t : bool, optional
        Integrate out a factor tau² of the whole covariance matrix, whose prior density is 1 / tau². See the notes.
    jitter : float, optional
        Added to the diagonal of K, relative to each of its elements, to make a matrix positive definite that is so but for
        rounding. Derivatives take account of it. Default: 0.

    Raises
    ------
    ValueError
        Where shapes do not go together, or x or y have nan or infinite numbers.

    Notes
    -----
    All methods take the covariance function's hyperparameters by name, and beside them

    - ``sigma``, the standard deviation of the noise: a number or one for each observation, (n,); 0 if not given;
    - ``mean``, the prior mean: a number or one for each observation, (n,).

    A call and `value_and_grad` also take S sets of parameters, such as those of chains: (S, 1) for a number, (S, p) or (S, n)
    for a vector, or with more leading axes. What has none is the same for all sets.

    ValueError names what lies outside its domain. `numpy.linalg.LinAlgError` is raised where K + diag(sigma²) is not
    positive definite: the results are never nan. Among several sets, those with such a matrix have nan, and only they.

    With `student_t`, ``cov`` and ``sigma`` are relative to tau: an amplitude of 1 may be fixed, and sigma² is what is called
    nugget. With R = K + diag(sigma²) and psi = (y - mean)' R⁻¹ (y - mean), the log-likelihood is
    log gamma(n/2) - n/2 log(2 pi) - 1/2 log|R| - n/2 log(psi/2), and predictions are Student-t with n degrees of freedom
    (Gramacy, Niemi & Weiss 2014, eq. 1-3).

    One evaluation takes n³/3 operations and memory for one matrix n x n, with the gradient n³ and about three of them,
    however many hyperparameters there are: with R = K + diag(sigma²) and alpha = R⁻¹ (y - mean), the derivative in R is
    W = (alpha alpha' - R⁻¹) / 2, and one pass contracts W with the derivatives of K while these are computed (Rasmussen &
    Williams 2006, eq. 5.9). No matrix n x n leaves the device.

    Of few observations, up to 512 for several sets, all of this is one kernel, in which a block of threads has a set to itself.
    The bits of a set are the same whatever the others are.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> y = np.sin(6 * x)
    >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, y)
    >>> round(ml(amplitude=1.0, lengthscale=0.3, sigma=0.1), 4)
    11.771
    >>> value, gradient = ml.value_and_grad(amplitude=1.0, lengthscale=0.3, sigma=0.1)
    >>> {name: round(g, 4) for name, g in gradient.items()}
    {'amplitude': -0.3638, 'lengthscale': 1.939, 'sigma': -139.4753}
    >>> ml(amplitude=1.0, lengthscale=np.array([[0.3], [0.4]]), sigma=0.1).round(4)
    array([11.771 ,  8.9194])
    """

    def __init__(
        self, cov: Covariance, x: Any, y: Any, *, mean: float | Callable[[np.ndarray], Any] = 0.0, student_t: bool = False,
        jitter: float = 0.0,
    ) -> None:  # fmt: skip
        if not isinstance(cov, Covariance):
            raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
        refuse_names(cov, RESERVED)
        if not (math.isfinite(jitter) and jitter >= 0):
            raise ValueError(f"jitter is {jitter}: it must be nonnegative, and finite")
        self.cov, self.student_t, self.jitter, self._mean = cov, student_t, float(jitter), mean
        self._data = data = Observations(x, y)
        self.n, self.columns = data.n, data.columns
        if student_t and not self.n:
            raise ValueError("there are no observations: nothing tells the scale that student_t integrates out")
        self._provider = provider_of(data.runtime)
        self._pairs: dict[tuple[str, ...], Pairs] = {}  # by the names of the lengthscales that are vectors
        self._pairs_for(())  # errors of the columns that cov is a function of
        self._sets = Sets(cov, data, student_t, 1 + self.jitter)
        self._local = threading.local()  # .last: the parameters of the thread's last factor, and that

    def __reduce__(self) -> Any:
        x, y = (fetched(a) for a in self._data.given)
        return _rebuilt, (self.cov, x, y, self._mean, self.student_t, self.jitter)

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._data.runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what the methods take."""
        return (*self.cov.parameters, SIGMA, MEAN)

    def __repr__(self) -> str:
        kind, shape = ", student_t" if self.student_t else "", (self.n, self.columns)
        return f"<MarginalLikelihood of {self.cov.name} for x {shape} {self._data.dtype}{kind} on {self.device.id}>"

    # -- what users call

    def __call__(self, *, sigma: Any = None, mean: Any = None, **hyperparameters: Any) -> Any:
        """The log marginal likelihood.

        Parameters
        ----------
        sigma, mean : float or (n,) array_like, optional
            See the notes of the class, also for several sets.
        **hyperparameters : float, or (p,) array_like for a lengthscale

        Returns
        -------
        float, or (S,) ndarray
        """
        parameters = self._parameters(sigma, mean, hyperparameters, several=True)
        if isinstance(parameters, ParameterSets):
            return self._sets.of_several(parameters, (), self.value_and_grad)[0]
        if (found := self._sets.of_one(parameters, ())) is not None:
            return found[0]
        return self._loglik(self._factor(parameters), parameters)

    def value_and_grad(
        self, *, sigma: Any = None, mean: Any = None, wrt: str | Collection[str] | None = None, **hyperparameters: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The log marginal likelihood and its derivatives.

        Parameters
        ----------
        sigma, mean, **hyperparameters
            As for a call.
        wrt : str or collection of str, optional
            Names of hyperparameters, ``"sigma"``, ``"mean"``, ``"x"``, ``"y"``. By default all hyperparameters, and sigma and
            mean where they are given.

        Returns
        -------
        value : float, or (S,) ndarray
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument: floats, and arrays in float64 but for those
            in x and y, which are like x and y.
        """
        parameters = self._parameters(sigma, mean, hyperparameters, several=True)
        names = parameters.given if wrt is None else check_wrt_among(wrt, (*self.parameters, X, Y))
        if isinstance(parameters, ParameterSets):
            return self._sets.of_several(parameters, names, self.value_and_grad)
        if not self.n:
            return 0.0, zero_gradient(self._data, parameters, names)
        found = self._sets.of_one(parameters, () if X in names else names)
        if found is not None and X not in names:
            return found
        factor = self._factor(parameters)
        if self._provider.on_host or self.student_t:
            self._loglik(factor, parameters)  # raises before work that would be in vain, or needs what is not there
        slopes = gradient(factor, self._data, parameters, names, self.student_t)
        return self._loglik(factor, parameters) if found is None else found[0], slopes

    def predict(
        self, xs: Any, *, noise: Any = False, cov: bool = False, mean_xs: Any = None, sigma: Any = None, mean: Any = None,
        **hyperparameters: Any,
    ) -> Prediction:  # fmt: skip
        """The distribution of the process at new points, given the data.

        Straight after a prediction with the same arguments, or a call that made a factor, it takes no factorisation.

        Parameters
        ----------
        xs : (m, p) or (m,) array_like
            New points.
        noise : bool, float or (m,) array_like, optional
            Predict observations rather than the process: True for a standard deviation of the noise of ``sigma``, or one of
            its own. Default: False.
        cov : bool, optional
            Whether to compute the covariances of all new points, too; for as many as there is memory for m (m + n) numbers.
            Else new points are taken in chunks.
        mean_xs : float or (m,) array_like, optional
            The prior mean at the new points, if it is not the same number as at the data, or the function that the class was
            given.
        sigma, mean, **hyperparameters
            As for a call.

        Returns
        -------
        Prediction
            With NumPy arrays, or device arrays where xs is one.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(6 * x))
        >>> p = ml.predict(np.array([0.5, 1.1]), amplitude=1.0, lengthscale=0.3, sigma=0.1)
        >>> p.mean.round(2), p.scale.round(2)
        (array([0.14, 0.15]), array([0.05, 0.21]))
        """
        posterior = self._posterior(xs, noise, mean_xs, self._parameters(sigma, mean, hyperparameters))
        df = self.n if self.student_t else None
        runtime, native = self._data.runtime, arrays.is_device_array(xs)
        location, scale = (delivered(runtime, a, native) for a in posterior.moments())
        covariance = None
        if cov:
            covariance = delivered(runtime, posterior.covariance(1.0 if df is None else variance_of_t(df)), native)
        return Prediction(location, scale, covariance, df)

    def draw(
        self, xs: Any, size: int | None = None, rng: Any = None, *, noise: Any = False, mean_xs: Any = None, sigma: Any = None,
        mean: Any = None, **hyperparameters: Any,
    ) -> Any:  # fmt: skip
        """Joint draws of the process at new points, given the data.

        Parameters
        ----------
        xs, noise, mean_xs, sigma, mean, **hyperparameters
            As for `predict`.
        size : int, optional
            How many draws; one without an axis of its own, if None.
        rng : optional
            As for `gpustats.Density.rvs`.

        Returns
        -------
        (size, m) or (m,) ndarray, or a device array where xs is one

        Notes
        -----
        Close points make their covariance matrix singular but for rounding. So their variances grow by about the precision, or
        by as many times that as it takes to make it positive definite.
        """
        posterior = self._posterior(xs, noise, mean_xs, self._parameters(sigma, mean, hyperparameters))
        count, rng = 1 if size is None else int(size), as_generator(rng)
        squares = densities["chi_squared"].rvs(float(max(self.n, 1)), size=(count, 1), rng=rng.jumped())
        z = densities["normal"].rvs(0.0, 1.0, size=(count, posterior.m), rng=rng)
        if self.student_t:
            z *= np.sqrt(self.n / squares)
        out = delivered(self._data.runtime, posterior.draws(z), arrays.is_device_array(xs))
        return out.reshape(posterior.m) if size is None else out

    def fit(
        self, start: Mapping[str, Any], *, fixed: Collection[str] = (), bounds: Mapping[str, tuple[float, float]] | None = None,
        log_prior: Callable[[dict[str, Any]], tuple[float, Mapping[str, Any]]] | None = None, method: str = "L-BFGS-B",
        log: bool = True, restarts: int = 0, rng: Any = None, options: Mapping[str, Any] | None = None,
    ) -> Fit:  # fmt: skip
        """Find the hyperparameters of largest marginal likelihood, or posterior density.

        Parameters
        ----------
        start : mapping
            Name -> value of all hyperparameters and, if not 0, of sigma and mean; vectors have a number for each element.
        fixed : collection of str, optional
            Names of those that stay as they are.
        bounds : mapping, optional
            Name -> (lowest, highest).
        log_prior : callable, optional
            Takes a dictionary of values like `start`, and returns a log-density and a mapping of its derivatives; what this
            lacks counts as 0. Then the sum of both is maximised.
        method : str, optional
            Of `scipy.optimize.minimize`, one that uses derivatives.
        log : bool, optional
            Whether positive values are searched for by their logarithms. (The density that is maximised remains that of the
            values.) Default: True.
        restarts : int, optional
            Further searches, from random points: between the bounds where there are both, else near `start`.
        rng : optional
            As for `numpy.random.default_rng`.
        options : mapping, optional
            Of `scipy.optimize.minimize`.

        Returns
        -------
        Fit
            The best of all searches.

        Raises
        ------
        numpy.linalg.LinAlgError
            Where the matrix at the start is not positive definite. Where others on the way are not, the search turns back.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(6 * x))
        >>> fit = ml.fit(dict(amplitude=1.0, lengthscale=0.3, sigma=0.1), fixed=["sigma"])
        >>> {name: round(float(v), 2) for name, v in fit.values.items()}
        {'amplitude': 0.97, 'lengthscale': 0.3, 'sigma': 0.1}
        """
        domains = {**self.cov.domains, SIGMA: "nonnegative", MEAN: "real"}
        if unknown := [n for n in (*start, *fixed, *(bounds or ())) if n not in domains]:
            raise ValueError(f"there is no {unknown[0]!r} to fit; there are {', '.join(self.parameters)}")
        return maximise(
            self.value_and_grad, start, domains, fixed=fixed, bounds=bounds or {}, log_prior=log_prior, method=method, log=log,
            restarts=restarts, rng=rng, options=options,
        )  # fmt: skip

    # -- the pieces of a call

    def _parameters(self, sigma: Any, mean: Any, hyperparameters: Mapping[str, Any], several: bool = False) -> Any:
        """The `Parameters` of a call; `several`: or the `ParameterSets`, if it has such."""
        given = tuple(n for n, v in ((SIGMA, sigma), (MEAN, mean)) if v is not None)
        if mean is None:
            mean = self._mean(self._data.host_x) if callable(self._mean) else self._mean
        values = {SIGMA: 0.0 if sigma is None else sigma, MEAN: mean, **hyperparameters}
        kind = ParameterSets if several and any(np.ndim(v) > 1 for v in values.values()) else Parameters
        return kind.of(self.cov, self.columns, self.n, values, (*self.cov.parameters, *given))

    def _pairs_for(self, vectors: tuple[str, ...]) -> Pairs:
        if vectors not in self._pairs:
            self._pairs[vectors] = Pairs(self.cov, self._data.runtime, self._data.dtype, self.columns, vectors)
        return self._pairs[vectors]

    def _factor(self, parameters: Parameters) -> Factor:
        """The factor of the covariance matrix, of which the calling thread keeps its last."""
        key = parameters.key
        last_key, last = getattr(self._local, "last", (None, None))
        if last is not None and last_key == key:
            return last
        self._local.last = last = None, None  # its memory goes to the next, or, where that fails, to nobody
        pairs = self._pairs_for(tuple(parameters.hyperparameters.vectors))
        factor = Factor.of(self._provider, pairs, self._data, parameters, 1 + self.jitter)
        self._local.last = key, factor
        return factor

    def _loglik(self, factor: Factor, parameters: Parameters) -> float:
        """The log-likelihood, or the error that there is none."""
        value = factor.loglik(self.student_t)
        if not math.isfinite(value):
            self._local.last = None, None
            raise factor.not_positive_definite(parameters)
        return value

    def _posterior(self, xs: Any, noise: Any, mean_xs: Any, parameters: Parameters) -> Posterior:
        """The posterior at new points, after a look at the arguments of `predict`."""
        native, xs, data = arrays.is_device_array(xs), as_points(xs, "xs"), self._data
        m, columns = xs.shape
        if columns != self.columns:
            raise ValueError(f"xs has {columns} columns, and x {self.columns}: they must have the same")
        if native and device_of([xs], ["xs"]) is not data.runtime:
            raise ValueError(f"xs lies on another device than the data, {self.device.id}: move it with gs.to_host")
        if mean_xs is None:
            if MEAN not in parameters.given and callable(self._mean):
                mean_xs = self._mean(on_host(xs))
            elif isinstance(parameters.mean, float):
                mean_xs = parameters.mean
            else:
                raise ValueError(f"mean has a value for each observation: give the prior mean at xs, too, as mean_xs, ({m},)")
        sigma = parameters.sigma
        if noise is True and not isinstance(sigma, float):
            raise ValueError(f"sigma has a value for each observation: give that of new ones as noise, ({m},)")
        spread = deviation("noise", sigma if noise is True else float(noise) if noise is False else noise, m)
        mean, variances = (
            np.broadcast_to(v, m).astype(data.dtype) for v in (by_row("mean_xs", mean_xs, m), np.square(spread))
        )
        factor = self._factor(parameters)
        self._loglik(factor, parameters)
        scale2 = factor.summary[2] / self.n if self.student_t else 1.0
        placed = [moved(data.runtime, a) for a in (as_read(data.runtime, xs, data.dtype), variances)]
        return Posterior(factor, placed[0], mean, placed[1], scale2)


def _rebuilt(cov: Covariance, x: Any, y: Any, mean: Any, student_t: bool, jitter: float) -> MarginalLikelihood:
    return MarginalLikelihood(cov, placed(x), placed(y), mean=mean, student_t=student_t, jitter=jitter)
