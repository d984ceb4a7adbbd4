"""Marginal likelihood of a Gaussian process with normal noise, its gradient, and predictions."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ..evaluation.arguments import check_wrt_among
from ..linalg.providers import provider_of
from ..parallel.remade import fetched, placed
from ..runtime import arrays, choose
from .covariance import Covariance
from .factor import Factor, Factorised
from .gradient import gradient, zero_gradient
from .pairs import Pairs
from .parameters import Parameters, ParameterSets, X, Y
from .posterior import Posterior
from .prediction import Prediction
from .process import GaussianProcess
from .sets import Sets
from .spread import Spread


class MarginalLikelihood(GaussianProcess):
    """Log marginal likelihood of a Gaussian process, log N(y; mean, K + diag(sigma²)), bound to data on a device.

    Parameters
    ----------
    cov : Covariance
        Such as `gs.rbf`, a sum or a product of several, or one registered by `gs.register`.
    x : (n, p) or (n,) array_like
        Points in rows. They are moved to the default device, or to all `devices`, once; a device array stays where it lies.
    y : (n,) array_like
        Observations. Everything is computed in float32 where x and y are float32, else in float64; sums always in float64.
    mean : float or callable, optional
        The prior mean where a call gives none: a number, or a function of points (m, p) that returns (m,). Default: 0.
    student_t : bool, optional
        Integrate out a factor tau² of the whole covariance matrix, whose prior density is 1 / tau². See the notes.
    jitter : float, optional
        Added to the diagonal of K, relative to each of its elements, to make a matrix positive definite that is so but for
        rounding. Derivatives take account of it. Default: 0.
    devices : "all" or sequence of str, optional
        Devices that share the matrix, where it is too large for one: every GPU, or a list of them. See the notes.

    Raises
    ------
    ValueError
        Where shapes do not go together, or x or y have nan or infinite numbers, or lie on none of the `devices`.

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

    One evaluation takes n³/3 operations and memory for one matrix n x n, with the gradient n³ and two and a quarter of them,
    or one and a quarter where there is no more (then predictions at the same parameters take a factorisation of their own),
    however many hyperparameters there are: with R = K + diag(sigma²) and alpha = R⁻¹ (y - mean), the derivative in R is
    W = (alpha alpha' - R⁻¹) / 2, and one pass contracts W with the derivatives of K while these are computed (Rasmussen &
    Williams 2006, eq. 5.9). No matrix n x n leaves the device.

    With `devices`, each of these has some rows of the lower triangle, and computes them. Together they take memory for half a
    matrix, with the gradient, too, so that even one device, named alone, takes a matrix for which it has no memory otherwise;
    where they have too little, MemoryError tells how much it would take. All get as much to do, so they should be equally
    fast. Predictions straight after a gradient take a factorisation of their own; covariances of new points, and draws there,
    are made by the device on which `x` and `y` lie, the first where they came from the host.

    `gp.Emulator` is the process at one set of hyperparameters, which keeps its factor, on one device, and takes further
    observations.

    Of few observations, all of this is one kernel, in which a block of threads has a set to itself. On GPUs the matrices of
    several sets of up to 3072 observations are one batch. The bits of a set are the same whatever the others are, also in a
    stack of its own. Without an axis for sets it may have other last digits, and from some 700 observations on takes less time.

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
    >>> shared = gs.gp.MarginalLikelihood(gs.rbf, x, y, devices="all")
    >>> round(shared(amplitude=1.0, lengthscale=0.3, sigma=0.1), 4)
    11.771
    """

    def __init__(
        self, cov: Covariance, x: Any, y: Any, *, mean: float | Callable[[np.ndarray], Any] = 0.0, student_t: bool = False,
        jitter: float = 0.0, devices: Any = None,
    ) -> None:  # fmt: skip
        runtimes = None if devices is None else choose.several(devices)
        super().__init__(cov, x, y, mean, jitter, None if runtimes is None else runtimes[0])
        self.student_t, data = student_t, self._data
        if student_t and not self.n:
            raise ValueError("there are no observations: nothing tells the scale that student_t integrates out")
        self._provider = provider_of(data.runtime)
        self._pairs: dict[tuple[str, ...], Pairs] = {}  # by the names of the lengthscales that are vectors
        self._pairs_for(())  # errors of the columns that cov is a function of
        self._spread = None if runtimes is None else Spread(cov, data, runtimes)
        self._sets = Sets(cov, data, student_t, 1 + self.jitter, never=self._spread is not None)
        self._local = threading.local()  # .last: the parameters of the thread's last factor, and that

    def __reduce__(self) -> Any:
        x, y = (fetched(a) for a in self._data.given)
        return _rebuilt, (self.cov, x, y, self._mean, self.student_t, self.jitter, self._devices)

    def __repr__(self) -> str:
        kind, shape = ", student_t" if self.student_t else "", (self.n, self.columns)
        where = ", ".join(self._devices or [self.device.id])
        return f"<MarginalLikelihood of {self.cov.name} for x {shape} {self._data.dtype}{kind} on {where}>"

    @property
    def _devices(self) -> list[str] | None:
        """Devices that share the matrix, by their ids."""
        return None if self._spread is None else [runtime.device.id for runtime in self._spread.runtimes]

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
        if self._provider.on_host or self._spread is not None:
            self._loglik(factor, parameters)  # raises before work that would be in vain
        slopes = gradient(factor, self._data, parameters, names)
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
        return posterior.prediction(cov, arrays.is_device_array(xs))

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
            Number of draws; one without an axis of its own, if None.
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
        return posterior.drawn(size, rng, arrays.is_device_array(xs))

    # -- the pieces of a call

    def _pairs_for(self, vectors: tuple[str, ...]) -> Pairs:
        if vectors not in self._pairs:
            self._pairs[vectors] = Pairs(self.cov, self._data.runtime, self._data.dtype, self.columns, vectors)
        return self._pairs[vectors]

    def _factor(self, parameters: Parameters) -> Factorised:
        """Factor of the covariance matrix; the calling thread keeps its last one."""
        key = parameters.key
        last_key, last = getattr(self._local, "last", (None, None))
        if last is not None and last_key == key and not last.spent:
            return last
        self._local.last = last = None, None  # its memory goes to the next, or, where that fails, to nobody
        factor = self._made(parameters)
        self._local.last = key, factor
        return factor

    def _made(self, parameters: Parameters) -> Factorised:
        """New factor of the covariance matrix, on one device or on all that share the matrix."""
        if self._spread is not None:
            return self._spread.factor(parameters, 1 + self.jitter, self.student_t)
        pairs = self._pairs_for(tuple(parameters.hyperparameters.vectors))
        try:
            return Factor.of(self._provider, pairs, self._data, parameters, 1 + self.jitter, self.student_t)
        except MemoryError as error:
            raise MemoryError(
                f"the covariance matrix of {self.n} points is too large: {error}; devices='all' shares it among all GPUs, and "
                f"devices=['{self.device.id}'] takes half the memory"
            ) from None

    def _loglik(self, factor: Factorised, parameters: Parameters) -> float:
        """Log-likelihood of a factor, or the error that there is none."""
        value = factor.loglik()
        if not math.isfinite(value):
            self._local.last = None, None
            raise factor.not_positive_definite(parameters)
        return value

    def _posterior(self, xs: Any, noise: Any, mean_xs: Any, parameters: Parameters) -> Posterior:
        """Posterior at new points, after a check of the arguments of `predict`."""
        new = self._new_points(xs, noise, mean_xs, parameters)
        factor = self._factor(parameters)
        self._loglik(factor, parameters)
        return Posterior(factor, *new)


def _rebuilt(
    cov: Covariance, x: Any, y: Any, mean: Any, student_t: bool, jitter: float, devices: list[str] | None = None
) -> MarginalLikelihood:
    return MarginalLikelihood(cov, placed(x), placed(y), mean=mean, student_t=student_t, jitter=jitter, devices=devices)
