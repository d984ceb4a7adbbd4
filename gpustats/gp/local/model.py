"""Local approximate Gaussian processes: predictions at many locations, each from a small design of its own."""

from __future__ import annotations

import functools
import threading
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...density import densities
from ...evaluation.placement import device_of
from ...parallel.maps import ClusterMap, DeviceMap, RangeMap
from ...runtime import arrays, choose
from ..prediction import central_interval, variance_of_t
from .correlation import Correlation
from .defaults import Parameter, darg, garg
from .design import Design
from .fit import Fit, Fitted
from .nearest import Nearest

if TYPE_CHECKING:
    from ...runtime.base import Device, Runtime
    from ..covariance import Covariance

METHODS = ("alc", "mspe", "nn")
#: Bytes of a chunk's lists of candidates.
CHUNK_BYTES = 1 << 28


@dataclass(frozen=True)
class LocalPrediction:
    """Student-t distributions of the responses at m locations.

    Attributes
    ----------
    mean, scale : (m,) array
        Location and scale of each distribution.
    df : int
        Degrees of freedom: the points of a design.
    indices : (m, df) array of int32
        The rows of X that are each location's design, in the order in which they were chosen; -1 where X or the location have
        a nan.
    d : (m,) array, or (m, p) if separable
        Lengthscales.
    g : (m,) array
        Nuggets.
    loglik : (m,) array
        The log-likelihood of each design's responses at d and g, the amplitude integrated out.
    evaluations : (m,) array of int32
        How often the likelihood was evaluated to find its maximum; negative where the limit was reached before.
    """

    mean: Any
    scale: Any
    df: int
    indices: Any
    d: Any
    g: Any
    loglik: Any
    evaluations: Any

    @property
    def variance(self) -> Any:
        """The variance of each distribution; infinite for two degrees of freedom or less."""
        return self.scale * self.scale * variance_of_t(self.df)

    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """The ends of the central intervals that have the probability `confidence`."""
        return central_interval(self.mean, self.scale, self.df, confidence)

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Independent draws of the responses, of shape `size`, by default (m,); as for `Density.rvs`."""
        return densities["student_t"].rvs(float(self.df), self.mean, self.scale, size=size, rng=rng)


@dataclass(frozen=True)
class Scheme:
    """How the designs are chosen, and what is estimated: figure 1 of Gramacy, Niemi & Weiss (2014)."""

    start: int
    end: int
    close: int
    method: str
    separable: bool
    stages: int
    nearest: str
    d: Parameter
    g: Parameter


@dataclass(frozen=True)
class Job:
    """Locations, and what is to be done with them; travels to other processes by pickle."""

    model: LocalGP
    scheme: Scheme
    locations: Any  # (m, p) float64
    d: Any  # (m, 1) or (m, p) float64
    g: Any  # (m,) float64


def predictions(job: Job, first: int, end: int, runtime: Runtime) -> dict[str, np.ndarray]:
    """What is computed for a range of a job's locations on one device.

    Returns
    -------
    dict
        ``indices`` and the fields of `Fitted` -> NumPy array, with a row for each location.
    """
    locations, d, g = (runtime.to_device(np.ascontiguousarray(a[first:end])) for a in (job.locations, job.d, job.g))
    indices, fitted = job.model._on(runtime).run(job.scheme, locations, d, g)
    return {name: runtime.to_host(a) for name, a in {"indices": indices, **fitted._asdict()}.items()}


class OnDevice:
    """The data of a model on one device.

    Parameters
    ----------
    runtime : Runtime
    X : (N, p) ndarray of float64
    y : (N,) ndarray of float64
    correlation : Correlation
    """

    def __init__(self, runtime: Runtime, X: Any, y: Any, correlation: Correlation):
        self.runtime, self.correlation, self._host = runtime, correlation, X
        self.X, self.y = runtime.to_device(X), runtime.to_device(y)
        self._searches: dict[str, Nearest] = {}
        runtime.synchronize()  # other threads may use the data next

    def _nearest(self, method: str) -> Nearest:
        if method not in self._searches:
            self._searches[method] = Nearest(self.runtime, self._host, method)
        return self._searches[method]

    def run(self, scheme: Scheme, locations: Any, d: Any, g: Any) -> tuple[Any, Fitted]:
        """Start all that is to be done for some locations.

        Parameters
        ----------
        locations : (m, p) device array of float64
        d : (m, 1) or (m, p) device array of float64
        g : (m,) device array of float64

        Returns
        -------
        indices : (m, end) device array of int32
        fitted : Fitted
        """
        fit = Fit(self.runtime, self.X, self.y, self.correlation, scheme.end, scheme.separable)
        nearest = self._nearest(scheme.nearest)
        if scheme.method == "nn":
            indices = nearest.find(locations, scheme.end, scheme.end)
            return indices, fit.run(locations, indices, d, g, scheme.d, scheme.g)
        candidates = nearest.find(locations, scheme.close, scheme.start)
        responses = self.y if scheme.method == "mspe" else None
        design = Design(self.runtime, self.X, self.correlation, scheme.separable, responses)
        for _ in range(scheme.stages):
            indices = design.search(locations, candidates, d, g, scheme.start, scheme.end)
            fitted = fit.run(locations, indices, d, g, scheme.d, scheme.g)
            d, g = fitted.d, fitted.g
        return indices, fitted


class OneDevice(RangeMap):
    """A map in the calling thread, on one device."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime

    def _places(self) -> int:
        return 1

    def _results(self, function: Any, data: Any, ranges: Any, retries: int) -> Generator[Any, None, None]:
        for first, end in ranges:
            yield (first, end), function(data, first, end, self._runtime)


class LocalGP:
    """A Gaussian process for many observations, approximated at each location by one for a small design near it.

    For each location x some of the nearest rows of X are candidates. Of these a design is built: the `start` nearest, then one
    after another the one that reduces the predictive variance at x most (active learning, ALC). The lengthscale is estimated
    from the design, and the response at x is predicted by a Gaussian process given the design alone. Each location has all this
    for itself, and everything is deterministic.

    The model is y ~ N(0, τ² (C + g I)) with the correlation C = exp(-r2), r2 = sum_k (x_k - x'_k)² / d_k, the lengthscale d,
    the nugget g, and the amplitude τ² integrated out. y should have a mean near 0: subtract it where it has not.

    Parameters
    ----------
    X : (N, p) array_like
        Points in rows; (N,) is one column. Of comparable scales, unless the lengthscale is `separable`.
    y : (N,) array_like
        Responses.
    cov : Covariance, optional
        By default ``gs.rbf``. Else another function of one distance, with an amplitude and a lengthscale l: then d is 2 l².

    Raises
    ------
    ValueError
        Where shapes do not go together, the covariance is another one, or the device has no float64.

    Notes
    -----
    Gramacy, Niemi & Weiss (2014), "Massively parallel approximate Gaussian process regression", SIAM/ASA J. Uncertainty
    Quantification 2, 564; names and defaults are those of the R package laGP. Everything is computed in float64, and results
    are float32 where X is. The predictive variance includes the nugget.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> y = np.sin(6 * X[:, 0]) * X[:, 1]
    >>> p = gs.LocalGP(X, y).predict(np.array([[0.3, 0.7], [0.5, 0.5]]), end=30, close=200)
    >>> p.mean.round(3)
    array([0.682, 0.071])
    >>> p.df, p.indices.shape
    (30, (2, 30))
    """

    def __init__(self, X: Any, y: Any, cov: Covariance | None = None):
        X, y = arrays.as_array(X, "X"), arrays.as_array(y, "y")
        X = _columns("X", X)
        n, p = X.shape
        if not n or not p:
            raise ValueError(f"X has shape {(n, p)}: it must be (N, p), with a row and a column at least")
        if getattr(y, "shape", ()) != (n,):
            raise ValueError(f"y has shape {getattr(y, 'shape', ())}, and X has {n} rows: it must be ({n},)")
        runtime = self._runtime = device_of([X, y], ["X", "y"])
        if not runtime.device.double:
            raise ValueError(f"{runtime.device} has no float64, which local Gaussian processes need: use another device")
        on_host = [runtime.to_host(a) if arrays.is_device_array(a) else a for a in (X, y)]
        copies = [np.array(a, np.float64, order="C") for a in on_host]
        self._keep(copies[0], copies[1], cov, arrays.result_dtype([X]))

    def _keep(self, X: np.ndarray, y: np.ndarray, cov: Covariance | None, dtype: np.dtype) -> None:
        self.X, self.y, self.cov, self._dtype = X, y, cov, dtype
        self._correlation = Correlation(cov)
        self._made: dict[Runtime, OnDevice] = {}
        self._lock = threading.Lock()

    @functools.cached_property
    def _runtime(self) -> Runtime:
        return choose.get()

    def __reduce__(self) -> Any:
        return _rebuilt, (self.X, self.y, self.cov, self._dtype)

    @property
    def device(self) -> Device:
        """Where predictions are computed by default."""
        return self._runtime.device

    def __repr__(self) -> str:
        return f"<LocalGP of X {self.X.shape} {self._dtype} on {self.device.id}>"

    def predict(
        self, XX: Any, start: int = 6, end: int = 50, close: int | None = None, d: Any = None, g: Any = None,
        method: str = "alc", *, separable: bool = False, stages: int = 1, nearest: str = "auto", devices: Any = None,
        client: Any = None, progress: bool = False,
    ) -> LocalPrediction:  # fmt: skip
        """Predict the responses at some locations.

        Parameters
        ----------
        XX : (m, p) array_like
            The locations.
        start, end : int
            Points of a design that are the nearest, and all of them; 1 <= start <= end <= N.
        close : int, optional
            How many of the nearest points are candidates: by default 1000, or N if that is less, or `end` if that is more.
        d, g : float, array_like or dict, optional
            Lengthscale (in squared units of X) and nugget; where they are estimated, where that begins. One number, one for
            each location, (m,), or if separable one for each column, (p,), or for each of both, (m, p). A dictionary has any of
            ``start``; ``mle``, whether it is estimated; ``min`` and ``max``; ``ab``, shape and rate of a gamma prior. By
            default d is estimated, from a low quantile of the squared distances between rows of X, and g is 1e-4: see
            `gp.local.darg` and `gp.local.garg`.
        method : {"alc", "mspe", "nn"}
            By which the design grows: reduction of variance, mean-squared prediction error, or just the nearest points.
        separable : bool
            Whether each column has a lengthscale of its own.
        stages : int
            How often designs are chosen and lengthscales estimated; each stage takes the estimates of the one before.
        nearest : {"auto", "device", "tree"}
            How the nearest points are found; no matter for the result.
        devices, client : optional
            Where to compute other than on `device`: on several devices, ``"all"`` or a list of them, or by the workers of a
            `distributed.Client`; see `gpustats.parallel`. No matter for the result, but for the rounding of different devices.
        progress : bool
            Whether to show a bar.

        Returns
        -------
        LocalPrediction
            Of NumPy arrays, or of device arrays where XX is one.

        Raises
        ------
        ValueError
            Where shapes, numbers of points, d or g are none that make sense.
        numpy.linalg.LinAlgError
            Where the matrix of a design's correlations is not positive definite, as with equal points and no nugget.
        """
        XX = _columns("XX", arrays.as_array(XX, "XX"))
        (m, p), (n, columns) = XX.shape, self.X.shape
        if p != columns:
            raise ValueError(f"XX has shape {(m, p)}, and X {(n, columns)}: they must have the same columns")
        native, runtime = arrays.is_device_array(XX), self._runtime
        if native and device_of([XX], ["XX"]) is not runtime:
            raise ValueError(f"XX lies on another device than the data, which are on {self.device.id}: move it with gs.to_host")
        scheme = self._scheme(start, end, close, d, g, method, separable, stages, nearest)
        lengthscales = _by_location("d", scheme.d.start, m, p if separable else 1)
        nuggets = _by_location("g", scheme.g.start, m, 1)[:, 0]
        locations = np.ascontiguousarray(runtime.to_host(XX) if native else XX, np.float64)
        job = Job(self, scheme, locations, lengthscales, nuggets)
        made = self._mapped(job, devices, client, progress) if m else predictions(job, 0, 0, runtime)
        if (wrong := np.flatnonzero(made["status"] == 0)).size:
            raise np.linalg.LinAlgError(
                f"at {wrong.size} of {m} locations, the first of them XX[{wrong[0]}], the matrix of the design's correlations "
                "is not positive definite: some points are equal or too close to one another; give a larger nugget g"
            )
        if not separable:
            made["d"] = made["d"][:, 0]
        made = {k: a.astype(self._dtype, copy=False) if a.dtype.kind == "f" else a for k, a in made.items()}
        if native:
            made = {k: runtime.to_device(np.ascontiguousarray(a)) for k, a in made.items()}
        return LocalPrediction(df=end, evaluations=made.pop("status"), **made)

    # -- the pieces of a call

    def _scheme(
        self, start: int, end: int, close: int | None, d: Any, g: Any, method: str, separable: bool, stages: int, nearest: str
    ) -> Scheme:
        n = len(self.X)
        close = min(max(1000, end), n) if close is None else close
        if not 1 <= start <= end <= min(close, n):
            raise ValueError(
                f"start = {start}, end = {end}, close = {close}, and X has {n} rows: it must be 1 <= start <= end <= close, "
                "and end <= the rows of X"
            )
        if method not in METHODS:
            raise ValueError(f"method = {method!r}: there are {', '.join(map(repr, METHODS))}")
        if method == "mspe" and separable:
            raise ValueError("method = 'mspe' has one lengthscale: use separable = False, or method = 'alc'")
        if method == "mspe" and start < 3:
            raise ValueError(f"start = {start}: method = 'mspe' needs a design of 3 points to begin with")
        if stages < 1:
            raise ValueError(f"stages = {stages}: there must be one at least")
        of_d, of_g = darg(d, self.X), garg(g, self.y)
        return Scheme(start, end, min(close, n), method, separable, stages, nearest, of_d, of_g)

    def _on(self, runtime: Runtime) -> OnDevice:
        """The data on a device, which they are moved to once."""
        with self._lock:
            if runtime not in self._made:
                self._made[runtime] = OnDevice(runtime, self.X, self.y, self._correlation)
            return self._made[runtime]

    def _mapped(self, job: Job, devices: Any, client: Any, progress: bool) -> dict[str, np.ndarray]:
        """The predictions for all locations, a chunk at a time."""
        m, chunk = len(job.locations), max(CHUNK_BYTES // (4 * job.scheme.close), 1)
        if client is None and devices is None:
            return OneDevice(self._runtime)(predictions, job, m, chunk=chunk, progress=progress)
        chunk = min(chunk, -(-m // 64))  # so that faster devices can take more
        over: RangeMap = DeviceMap(devices) if client is None else ClusterMap(client, devices)
        return over(predictions, job, m, chunk=chunk, progress=progress)


def _rebuilt(*parts: Any) -> LocalGP:
    """A model in another process, on the device that is chosen there."""
    model = LocalGP.__new__(LocalGP)
    model._keep(*parts)
    return model


def _columns(name: str, array: Any) -> Any:
    """Points in rows."""
    shape: tuple[int, ...] = getattr(array, "shape", ())
    if len(shape) == 1:
        return array.reshape(shape[0], 1)
    if len(shape) != 2:
        raise ValueError(f"{name} has shape {shape}: it must be a matrix with a point in each row")
    return array


def _by_location(name: str, start: Any, m: int, columns: int) -> np.ndarray:
    """A number for each location and column, (m, columns)."""
    start = np.asarray(start, np.float64)
    shape = start.shape
    if start.ndim == 1 and columns == 1 and shape == (m,):
        start = start[:, None]
    if start.ndim > 2 or any(s not in (1, w) for s, w in zip(reversed(start.shape), (columns, m), strict=False)):
        wanted = f"({m},)" if columns == 1 else f"({columns},), ({m}, 1) or ({m}, {columns})"
        raise ValueError(f"{name} has shape {shape}: it must be a number, or {wanted}")
    return np.broadcast_to(start, (m, columns))
