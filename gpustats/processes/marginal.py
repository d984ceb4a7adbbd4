"""Marginal likelihood of a Gaussian process with normal noise, its gradient, and predictions."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..draws.generator import Rng
from ..evaluation.compiled import RepeatedSum
from ..parallel.remade import fetched, placed
from ..runtime import arrays, choose, thresholds
from ..runtime.choose import Devices
from ..runtime.types import Array
from .along import AlongMarginal
from .covariance import Covariance
from .factor import Factorised, Solver
from .parameters import MEAN, SIGMA, Given, Parameters, ParameterSets, X, Y
from .posterior import Posterior
from .prediction import Prediction
from .process import GaussianProcess, PriorMean, completed, new_points, one_set
from .sets import Sets, pays
from .spread import Spread

#: Observations up to which second derivatives are exact, for which the host holds some matrices of them.
MOST_EXACT = thresholds.PROCESSES_MOST_EXACT.value


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

    _differentiable = (X, Y)

    def __init__(
        self, cov: Covariance, x: ArrayLike, y: ArrayLike, *, mean: PriorMean = 0.0, student_t: bool = False,
        jitter: float = 0.0, devices: Devices | None = None,
    ) -> None:  # fmt: skip
        runtimes = None if devices is None else choose.several(devices)
        super().__init__(cov, x, y, mean, jitter, None if runtimes is None else runtimes[0])
        if student_t and not self.n:
            raise ValueError("there are no observations: nothing tells the scale that student_t integrates out")
        self.student_t, settings = student_t, (1 + self.jitter, student_t)
        self.solver = Solver(cov, self.data, *settings)
        self._spread = None if runtimes is None else Spread(cov, self.data, runtimes, *settings)
        self._sets = Sets(cov, self.data, student_t, 1 + self.jitter, never=self._spread is not None)
        self._local = threading.local()  # .last: the parameters of the thread's last factor, and that

    def __reduce__(self) -> tuple[object, ...]:
        x, y = map(fetched, self.data.given)
        return _rebuilt, (x, y, settings_of(self))

    def __repr__(self) -> str:
        kind, shape = ", student_t" if self.student_t else "", (self.n, self.columns)
        where = ", ".join([self.device.id] if self._spread is None else self._spread.ids)
        return f"<MarginalLikelihood of {self.cov.name} for x {shape} {self.data.dtype}{kind} on {where}>"

    def _settings(self) -> Mapping[str, object]:
        spread = {} if self._spread is None else {"devices": ", ".join(self._spread.ids)}
        return {"likelihood": "exact" + ", the scale integrated out" * self.student_t, **spread}

    def sums_of_sets(
        self, arguments: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str], *, several: bool = True
    ) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        if several:
            together = self._sets.together()
        else:
            together = self._sets if pays(self.device, self.n, several=False) else None
        return together(arguments, n_sets, wrt) if together is not None and n_sets and self._fits(arguments) else None

    def compiled(self, arguments: Mapping[str, Array], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        rows = {n: np.asarray(v, np.float64).reshape(n_sets or 1, -1) for n, v in arguments.items()}
        rows = {Y: np.asarray(self.data.y, np.float64).reshape(1, -1), **rows}
        if not pays(self.device, self.n, several=n_sets is not None) or not self._fits(rows):
            return None
        made = self._sets.compiled(rows, wrt, n_sets or 1)
        return made if Y in arguments else made and made.fix({Y: rows[Y]})

    def along(self, names: Collection[str]) -> AlongMarginal | None:
        return None if self._spread is not None else AlongMarginal(self.cov, self.data, 1 + self.jitter, self.student_t, names)

    def _hessian_in(self, wrt: Sequence[str]) -> Callable[[Mapping[str, Any]], np.ndarray] | None:
        exact = 0 < self.n <= MOST_EXACT and self._spread is None and self.device.double
        along = AlongMarginal(self.cov, self.data, 1 + self.jitter, self.student_t, wrt) if exact else None
        return None if along is None else lambda values: along.hessian(wrt, **completed(self, **values)[0])

    def _fits(self, arguments: Mapping[str, np.ndarray]) -> bool:
        """True if all arguments are numbers or vectors of the right lengths."""
        lengths = {SIGMA: self.n, MEAN: self.n} | {i.lengthscale: self.columns for i in self.cov.inputs}
        others = all(a.shape[1] in (1, lengths.get(name, 1)) for name, a in arguments.items() if name != Y)
        return others and arguments[Y].shape[1] == self.n

    def _evaluate(self, parameters: Parameters | ParameterSets, wrt: tuple[str, ...]) -> tuple[Array, dict[str, Array]]:
        if isinstance(parameters, ParameterSets):
            return self._sets.of_several(parameters, wrt, self.value_and_grad)
        if not self.n:
            zeros = {n: 0.0 if isinstance(v, float) else np.zeros(v.shape) for n, v in parameters.by_name.items()}
            return 0.0, self.data.gradient({X: np.zeros((0, self.columns)), Y: np.zeros(0)} | zeros, wrt)
        found = self._sets.of_one(parameters, () if X in wrt else wrt)
        if found is not None and X not in wrt:
            return found
        factor = self._factor(parameters)
        if self.solver.provider.on_host or self._spread is not None:
            self._loglik(factor, parameters)  # raises before work that would be in vain
        slopes = factor.gradient(self.data, parameters, wrt)
        return self._loglik(factor, parameters) if found is None else found[0], slopes

    def predict(
        self, xs: ArrayLike, *, noise: ArrayLike = False, cov: bool = False, mean_xs: Given = None,
        sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike,
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
        posterior = self._posterior(xs, noise, mean_xs, one_set(self, sigma, mean, hyperparameters))
        return posterior.prediction(cov, arrays.is_device_array(xs))

    def draw(
        self, xs: ArrayLike, size: int | None = None, rng: Rng = None, *, noise: ArrayLike = False,
        mean_xs: Given = None, sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike,
    ) -> Array:  # fmt: skip
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
        posterior = self._posterior(xs, noise, mean_xs, one_set(self, sigma, mean, hyperparameters))
        return posterior.drawn(size, rng, arrays.is_device_array(xs))

    # -- the pieces of a call

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
            return self._spread.factor(parameters)
        try:
            return self.solver.factor(parameters)
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

    def _posterior(self, xs: ArrayLike, noise: ArrayLike, mean_xs: Given, parameters: Parameters) -> Posterior:
        """Posterior at new points, after a check of the arguments of `predict`."""
        new = new_points(self.data, self.prior_mean, parameters, xs, noise, mean_xs)
        factor = self._factor(parameters)
        self._loglik(factor, parameters)
        return Posterior(factor, new)


def settings_of(likelihood: MarginalLikelihood) -> dict[str, Any]:
    """Arguments of a likelihood but for its points and observations, for another of the same kind."""
    devices = None if likelihood._spread is None else likelihood._spread.ids
    return {
        "cov": likelihood.cov, "mean": likelihood.prior_mean, "student_t": likelihood.student_t, "jitter": likelihood.jitter,
        "devices": devices,
    }  # fmt: skip


def _rebuilt(x: ArrayLike, y: ArrayLike, settings: Mapping[str, Any]) -> MarginalLikelihood:
    return MarginalLikelihood(x=placed(x), y=placed(y), **settings)
