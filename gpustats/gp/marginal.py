"""The marginal likelihood of a Gaussian process with normal noise, its gradient, and predictions."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import device_of, target_of
from ..linalg.matrix import Matrix
from ..linalg.providers import provider_of
from ..runtime import arrays
from .covariance import Covariance
from .factor import Factor, to_host
from .fitting import Fit, maximise
from .matrix import Hyperparameters, Pairs, empty, on_device, placed, points
from .prediction import Prediction, variance_of_t

if TYPE_CHECKING:
    from ..runtime.base import Device

LOG_2PI = math.log(2 * math.pi)
SIGMA, MEAN, X, Y = "sigma", "mean", "x", "y"
#: What the methods take beside hyperparameters, which so cannot have these names.
RESERVED = (SIGMA, MEAN, X, Y, "xs", "wrt", "noise", "cov", "mean_xs", "size", "rng")
#: Bytes of the covariances between data and new points that predictions have at a time.
CHUNK = 1 << 27


def refuse_names(cov: Covariance, reserved: Collection[str]) -> None:
    """ValueError where a hyperparameter has a name that means something else."""
    if taken := [n for n in cov.parameters if n in reserved]:
        name = taken[0]
        raise ValueError(f"{cov.name} has a hyperparameter {name!r}: rename it, as in cov.rename({name}='{name}_2')")


class _Point(NamedTuple):
    """What a likelihood is evaluated at, checked."""

    values: Hyperparameters
    sigma: float | np.ndarray
    mean: float | np.ndarray
    given: tuple[str, ...]  # names

    @property
    def key(self) -> Any:
        numbers = self.values.numbers | self.values.vectors | {SIGMA: self.sigma, MEAN: self.mean}
        return tuple((n, np.shape(v), np.asarray(v).tobytes()) for n, v in numbers.items())

    def __str__(self) -> str:
        numbers = self.values.numbers | self.values.vectors | {SIGMA: self.sigma}
        return ", ".join(f"{n}={_short(v)}" for n, v in numbers.items())


def _short(value: float | np.ndarray) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    listed = ", ".join(f"{v:.6g}" for v in value[:4])
    return f"[{listed}{', …' if len(value) > 4 else ''}]"


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

    ValueError names what lies outside its domain. `numpy.linalg.LinAlgError` is raised where K + diag(sigma²) is not
    positive definite: the results are never nan.

    With `student_t`, ``cov`` and ``sigma`` are relative to tau: an amplitude of 1 may be fixed, and sigma² is what is called
    nugget. With R = K + diag(sigma²) and psi = (y - mean)' R⁻¹ (y - mean), the log-likelihood is
    log gamma(n/2) - n/2 log(2 pi) - 1/2 log|R| - n/2 log(psi/2), and predictions are Student-t with n degrees of freedom
    (Gramacy, Niemi & Weiss 2014, eq. 1-3).

    One evaluation takes n³/3 operations and memory for one matrix n x n, with the gradient n³ and about three of them,
    however many hyperparameters there are: with R = K + diag(sigma²) and alpha = R⁻¹ (y - mean), the derivative in R is
    W = (alpha alpha' - R⁻¹) / 2, and one pass contracts W with the derivatives of K while these are computed (Rasmussen &
    Williams 2006, eq. 5.9). No matrix n x n leaves the device.

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
        given = points(x, X), arrays.as_array(y, Y)
        shape = tuple(getattr(given[1], "shape", ()))
        self.n, self.columns = given[0].shape
        if shape != (self.n,):
            raise ValueError(f"y has shape {shape}, and x {self.n} points: it must be ({self.n},)")
        if student_t and not self.n:
            raise ValueError("there are no observations: nothing tells the scale that student_t integrates out")
        self._runtime, self._dtype = target_of(given, [X, Y], None)
        self._native = arrays.is_device_array(x), arrays.is_device_array(y)
        self._flat = len(getattr(arrays.as_array(x, X), "shape", ())) == 1
        host_x, self._y = (
            np.array(self._runtime.to_host(a) if arrays.is_device_array(a) else a, self._dtype, order="C") for a in given
        )
        for name, a in ((X, host_x), (Y, self._y)):
            if not np.isfinite(a).all():
                place = np.argwhere(~np.isfinite(a))[0]
                raise ValueError(f"{name}[{', '.join(map(str, place))}] is {a[tuple(place)]}: leave out what is not known")
        self._host_x = host_x
        self._x = on_device(self._runtime, given[0] if self._native[0] else host_x, self._dtype)
        self._pairs: dict[tuple[str, ...], Pairs] = {}
        self._pairs_for(())  # errors of the columns that cov is a function of
        self._local = threading.local()

    def __reduce__(self) -> Any:
        x = self._host_x[:, 0] if self._flat else self._host_x
        return _rebuilt, (self.cov, x, self._y, self._mean, self.student_t, self.jitter)

    @property
    def device(self) -> Device:
        """Where the data lie."""
        return self._runtime.device

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what the methods take."""
        return (*self.cov.parameters, SIGMA, MEAN)

    def __repr__(self) -> str:
        kind, shape = ", student_t" if self.student_t else "", (self.n, self.columns)
        return f"<MarginalLikelihood of {self.cov.name} for x {shape} {self._dtype}{kind} on {self.device.id}>"

    # -- what users call

    def __call__(self, *, sigma: Any = None, mean: Any = None, **hyperparameters: Any) -> float:
        """The log marginal likelihood.

        Parameters
        ----------
        sigma, mean : float or (n,) array_like, optional
            See the notes of the class.
        **hyperparameters : float, or (p,) array_like for a lengthscale

        Returns
        -------
        float
        """
        point = self._point(sigma, mean, hyperparameters)
        return self._loglik(self._factor(point), point)

    def value_and_grad(
        self, *, sigma: Any = None, mean: Any = None, wrt: str | Collection[str] | None = None, **hyperparameters: Any
    ) -> tuple[float, dict[str, Any]]:
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
        value : float
        gradient : dict
            Name -> derivative, shaped like that argument: floats, and arrays in float64 but for those in x and y, which
            are like x and y.
        """
        point = self._point(sigma, mean, hyperparameters)
        names = self._wrt(wrt, point)
        if not self.n:
            return 0.0, {n: self._zeros(n, point) for n in names}
        factor = self._factor(point)
        if self._on_host or self.student_t:
            self._loglik(factor, point)  # before work that would be in vain, or needs psi
        alpha, inverse = factor.inverse()
        weight = self.n / factor.summary[2] if self.student_t else 1.0
        at, lift = (self._x, point.values, inverse, alpha.memory.array, weight), 1 + self.jitter
        own = [n for n in names if n in self.cov.parameters]
        gradient: dict[str, Any] = {}
        if own or SIGMA in names:
            found, trace, diagonal = factor.pairs.gradient(*at, own, lift)
            gradient |= found
            if SIGMA in names:
                plain = isinstance(point.sigma, float)
                gradient[SIGMA] = 2 * point.sigma * (trace if plain else to_host(self._runtime, diagonal).astype(float))
        if MEAN in names or Y in names:
            slope = weight * to_host(self._runtime, alpha.memory.array).reshape(-1)
            gradient[MEAN] = float(slope.sum(dtype=float)) if isinstance(point.mean, float) else slope.astype(float)
            gradient[Y] = self._like_data(-slope, 1)
        if X in names:
            factor.provider.lower(inverse, inverse, "mirror")
            slope = factor.pairs.points_gradient(*at, lift)
            slope = slope.reshape(self.n) if self._flat else slope
            gradient[X] = slope if self._native[0] and arrays.is_device_array(slope) else self._like_data(slope, 0)
        return self._loglik(factor, point), {n: gradient[n] for n in names}

    def predict(
        self, xs: Any, *, noise: Any = False, cov: bool = False, mean_xs: Any = None, sigma: Any = None, mean: Any = None,
        **hyperparameters: Any,
    ) -> Prediction:  # fmt: skip
        """The distribution of the process at new points, given the data.

        Straight after a call, a gradient or a prediction with the same arguments, it takes no factorisation.

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
        new = self._new_points(xs, noise, mean_xs, self._point(sigma, mean, hyperparameters))
        df = self.n if self.student_t else None
        covariance = None
        if cov and new.m:
            spread = new.scale2 * (1.0 if df is None else variance_of_t(df))
            covariance = new.factor.covariance(new.xs, new.noise, spread).memory.array.reshape(new.m, new.m)
        elif cov:
            covariance = empty(self._runtime, (0, 0), self._dtype)
        location, scale, covariance = (self._delivered(a, new.native) for a in (*self._moments(new), covariance))
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
        from ..density import densities
        from ..draws.generator import as_generator

        new = self._new_points(xs, noise, mean_xs, self._point(sigma, mean, hyperparameters))
        count, rng = 1 if size is None else int(size), as_generator(rng)
        squares = densities["chi_squared"].rvs(float(max(self.n, 1)), size=(count, 1), rng=rng.jumped())
        z = densities["normal"].rvs(0.0, 1.0, size=(count, new.m), rng=rng)
        if self.student_t:
            z *= np.sqrt(self.n / squares)
        out = placed(self._runtime, np.tile(to_host(self._runtime, self._moments(new)[0]), (count, 1)))
        if out.size:
            root = self._root(new)
            z = Matrix.over(self._runtime, placed(self._runtime, z.astype(self._dtype)))
            self._provider.gemm(1.0, z, root.T, 1.0, Matrix.over(self._runtime, out))
            if self._runtime.host_visible:
                self._runtime.synchronize()
        out = self._delivered(out, new.native)
        return out.reshape(new.m) if size is None else out

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

    # -- arguments

    def _point(self, sigma: Any, mean: Any, hyperparameters: Mapping[str, Any]) -> _Point:
        values = Hyperparameters(self.cov, self.columns, {n: _on_host(v) for n, v in hyperparameters.items()})
        given = tuple(n for n, v in ((SIGMA, sigma), (MEAN, mean)) if v is not None)
        deviation = self._by_row(SIGMA, 0.0 if sigma is None else sigma, self.n)
        if np.any(np.asarray(deviation) < 0):
            raise ValueError(f"sigma is {np.min(deviation)}: a standard deviation must be nonnegative")
        return _Point(values, deviation, self._prior_mean(mean), (*self.cov.parameters, *given))

    def _prior_mean(self, mean: Any) -> float | np.ndarray:
        if mean is None:
            mean = self._mean(self._host_x) if callable(self._mean) else self._mean
        return self._by_row(MEAN, mean, self.n)

    def _by_row(self, name: str, value: Any, n: int) -> float | np.ndarray:
        """A number, or a vector (n,) in float64."""
        value = np.asarray(_on_host(value), np.float64)
        if value.shape not in ((), (n,)):
            raise ValueError(f"{name} has shape {value.shape}: it must be a number or ({n},)")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} is {value if not value.ndim else value[~np.isfinite(value)][0]}: it must be finite")
        return value if value.ndim else float(value)

    def _wrt(self, wrt: str | Collection[str] | None, point: _Point) -> tuple[str, ...]:
        if wrt is None:
            return point.given
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in names:
            if name not in (allowed := (*self.parameters, X, Y)):
                raise ValueError(f"wrt: {name!r} is none of {', '.join(allowed)}")
            if names.count(name) > 1:
                raise ValueError(f"wrt names {name} twice")
        return names

    def _zeros(self, name: str, point: _Point) -> Any:
        """The derivative of nothing."""
        if name == X:
            return self._like_data(np.zeros((0,) if self._flat else (0, self.columns), self._dtype), 0)
        if name == Y:
            return self._like_data(np.zeros(0, self._dtype), 1)
        value = {**point.values.numbers, **point.values.vectors, SIGMA: point.sigma, MEAN: point.mean}[name]
        return 0.0 if isinstance(value, float) else np.zeros(value.shape)

    def _like_data(self, array: Any, which: int) -> Any:
        return self._delivered(array, self._native[which])

    def _delivered(self, array: Any, native: bool) -> Any:
        """A result as the caller gets it."""
        if array is None or native == arrays.is_device_array(array):
            return array
        return self._runtime.to_device(array) if native else self._runtime.to_host(array)

    # -- the pieces of a call

    @property
    def _provider(self) -> Any:
        return provider_of(self._runtime)

    @property
    def _on_host(self) -> bool:
        return bool(self._provider.on_host)

    def _pairs_for(self, vectors: Sequence[str]) -> Pairs:
        key = tuple(vectors)
        if key not in self._pairs:
            self._pairs[key] = Pairs(self.cov, self._runtime, self._dtype, self.columns, key)
        return self._pairs[key]

    def _factor(self, point: _Point) -> Factor:
        """The factor at a point, of which the calling thread keeps its last."""
        key = point.key
        last_key, last = getattr(self._local, "last", (None, None))
        if last is not None and last_key == key:
            return last
        self._local.last = last = None  # its memory goes to the next
        pairs = self._pairs_for(tuple(point.values.vectors))
        residual = self._y - np.asarray(point.mean)
        noise = np.square(point.sigma) if isinstance(point.sigma, np.ndarray) else point.sigma**2
        factor = Factor(self._provider, pairs, self._x, residual, point.values, noise, 1 + self.jitter)
        self._local.last = key, factor
        return factor

    def _loglik(self, factor: Factor, point: _Point) -> float:
        """The log-likelihood, or the error that there is none."""
        minor, log_determinant, psi = factor.summary
        value = math.nan
        n = self.n
        if not minor:
            if not self.student_t:
                value = -0.5 * (psi + log_determinant + n * LOG_2PI)
            elif psi == 0:
                raise ValueError("y equals the mean everywhere: there is no scale to integrate out (student_t)")
            else:
                value = math.lgamma(n / 2) - 0.5 * (n * LOG_2PI + log_determinant + n * math.log(psi / 2))
        if not math.isfinite(value):
            self._local.last = None, None
            where = f"its leading minor of order {minor} is not" if minor else "it is singular or too large"
            raise np.linalg.LinAlgError(
                f"the covariance matrix of {n} points is not positive definite: {where}, at {point}; "
                f"take a larger sigma, or give a jitter such as {np.finfo(self._dtype).eps * 1e4:.0e}"
            )
        return value

    def _new_points(self, xs: Any, noise: Any, mean_xs: Any, point: _Point) -> _NewPoints:
        native = arrays.is_device_array(xs)
        xs = points(xs, "xs")
        m, columns = xs.shape
        if columns != self.columns:
            raise ValueError(f"xs has {columns} columns, and x {self.columns}: they must have the same")
        if native and device_of([xs], ["xs"]) is not self._runtime:
            raise ValueError(f"xs lies on another device than the data, {self.device.id}: move it with gs.to_host")
        if mean_xs is None:
            if MEAN not in point.given and callable(self._mean):
                mean_xs = self._mean(_on_host(xs))
            elif isinstance(point.mean, float):
                mean_xs = point.mean
            else:
                raise ValueError(f"mean has a value for each observation: give the prior mean at xs, too, as mean_xs, ({m},)")
        if noise is True and not isinstance(point.sigma, float):
            raise ValueError(f"sigma has a value for each observation: give that of new ones as noise, ({m},)")
        deviation = self._by_row("noise", point.sigma if noise is True else float(noise) if noise is False else noise, m)
        if np.any(np.asarray(deviation) < 0):
            raise ValueError(f"noise is {np.min(deviation)}: a standard deviation must be nonnegative")
        rows = [np.broadcast_to(v, m).astype(self._dtype) for v in (self._by_row("mean_xs", mean_xs, m), np.square(deviation))]
        factor = self._factor(point)
        self._loglik(factor, point)
        scale2 = factor.summary[2] / self.n if self.student_t else 1.0
        placed_xs = on_device(self._runtime, xs, self._dtype)
        return _NewPoints(m, native, placed_xs, rows[0], placed(self._runtime, rows[1]), factor, scale2)

    def _moments(self, new: _NewPoints) -> tuple[Any, Any]:
        """Location and scale at each new point."""
        location, scale = placed(self._runtime, new.mean), empty(self._runtime, new.m, self._dtype)
        step = max(CHUNK // (max(self.n, 1) * self._dtype.itemsize), 64)
        for i in range(0, new.m, step):
            part = slice(i, i + step)
            new.factor.predict(new.xs[part], location[part], scale[part], new.noise[part], new.scale2)
        return location, scale

    def _root(self, new: _NewPoints) -> Matrix:
        """The lower triangle whose product with its transpose is the new points' squared scale."""
        provider, runtime = self._provider, self._runtime
        largest = float(to_host(runtime, new.factor.pairs.diagonal(new.xs, new.factor.values)).max())
        variances = to_host(runtime, new.noise)
        jitter = 4 * np.finfo(self._dtype).eps
        for _ in range(8):
            noise = placed(runtime, (variances + jitter * largest).astype(self._dtype))
            root = new.factor.covariance(new.xs, noise, new.scale2)
            if not provider.read(provider.potrf(root)).any():
                provider.lower(root, root)
                return root
            jitter *= 10
        raise np.linalg.LinAlgError(f"the covariance matrix of {new.m} new points is not positive definite")


@dataclass(frozen=True)
class _NewPoints:
    """Where to predict."""

    m: int
    native: bool  # whether they came as a device array
    xs: Any
    mean: np.ndarray  # prior
    noise: Any  # variances
    factor: Factor
    scale2: float  # of which all variances are multiples


def _on_host(value: Any) -> Any:
    if arrays.is_device_array(value):
        runtime = device_of([value], ["value"])
        return runtime.to_host(value)
    return value


def _rebuilt(cov: Covariance, x: Any, y: Any, mean: Any, student_t: bool, jitter: float) -> MarginalLikelihood:
    return MarginalLikelihood(cov, x, y, mean=mean, student_t=student_t, jitter=jitter)
