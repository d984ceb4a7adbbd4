"""Local approximate Gaussian processes: predictions at many locations, each from a small design of its own."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from ...display.html import Shown
from ...evaluation.placement import device_of
from ...evaluation.results import as_host
from ...parallel.rows import as_rows, is_stored, read
from ...runtime import arrays
from ...runtime.base import Device
from ...runtime.choose import Devices
from ...runtime.types import Array
from ..expression import Expression
from ..observations import as_points, require_finite
from ..prediction import JointPrediction, LocalPrediction, variance_of_t
from .correlation import Correlation
from .defaults import Known
from .job import Data, Job, is_room
from .points import Points
from .scaling import lengthscales
from .scheme import Options, Scheme
from .units import Units

if TYPE_CHECKING:
    from distributed import Client


class LocalGP(Shown):
    """Gaussian process for many observations, approximated at each location by one for a small design near it.

    For each location x some of the nearest rows of X are candidates. Of these a design is built: the `start` nearest, then one
    after another the one that reduces the predictive variance at x most (active learning, ALC). The lengthscale is estimated
    from the design, and the response at x is predicted by a Gaussian process given the design alone. Each location has all this
    for itself, and everything is deterministic.

    The model is y ~ N(m, τ² (C + g I)), where m is the mean of all responses, with the correlation C = exp(-r2),
    r2 = sum_k (x_k - x'_k)² / d_k, the lengthscale d, the nugget g, and the amplitude τ² integrated out. So results do not
    depend on the unit of y, nor on one that all columns of X have. Columns should be of comparable scales, or `prescale` makes
    them so. If lengthscales are `separable` and a column's standard deviation is more than 1.5 times that of another, all are
    divided by theirs first, so that the units of such columns do not matter either.

    Parameters
    ----------
    X : (N, p) array_like
        Points in rows; (N,) is one column. A data frame's columns are found by their names again.
    y : (N,) array_like
        Responses.
    cov : Covariance, optional
        By default ``gs.rbf``. Else another function of one distance, with an amplitude and a lengthscale l: then d is 2 l².
    center : bool
        Whether m is the mean of y, as it should be where y does not vary around 0; else m is 0, as in the paper and in laGP.
    prescale : bool or (p,) array_like
        Lengthscales, squared lengths in units of the columns, by whose roots columns are divided before anything else: True for
        those of a separable fit to samples of the data, `gp.local.blhs`. What is near is meant in the scaled columns then, and
        they are the unit of all lengthscales `d`; results do not depend on the units of columns.
    memory : int, optional
        The most bytes of points on a device; by default as many as it has room for. More of them pass through it in parts, for
        each some ten thousands of locations: first to tell which are near, then those that are. Results are equal to the bit.
        X then stays where it is, in memory, a memory map, or an array that is read by slices, and must not change; y, a number
        for each row, is in memory.

    Attributes
    ----------
    prescaling : (p,) ndarray or None
        The lengthscales that columns are scaled with.

    Raises
    ------
    ValueError
        Where shapes do not go together, there are nan or infinite numbers, the covariance is another one, or the device has no
        float64.

    Notes
    -----
    Gramacy, Niemi & Weiss (2014), "Massively parallel approximate Gaussian process regression", SIAM/ASA J. Uncertainty
    Quantification 2, 564; names and defaults are those of the R package laGP, for responses with mean 0 and standard deviation
    1. Everything is computed in float64, and results are float32 where X is. laGP's predictive variance includes the nugget, as
    that of ``predict(…, noise=True)`` does.

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

    def __init__(
        self, X: Array, y: Array, cov: Expression | None = None, *, center: bool = True, prescale: ArrayLike = False,
        memory: int | None = None,
    ) -> None:  # fmt: skip
        self._names = _names(X)
        X, y = as_rows(X, "X"), arrays.as_array(y, "y")
        if not 1 <= len(X.shape) <= 2:
            raise ValueError(f"X has shape {tuple(X.shape)}: it must be a matrix with a point in each row")
        n, p = X.shape[0], X.shape[1] if len(X.shape) > 1 else 1
        if not n or not p:
            raise ValueError(f"X has shape {(n, p)}: it must be (N, p), with a row and a column at least")
        if getattr(y, "shape", ()) != (n,):
            raise ValueError(f"y has shape {getattr(y, 'shape', ())}, and X has {n} rows: it must be ({n},)")
        placed = {name: a for name, a in (("X", X), ("y", y)) if not is_stored(a)}
        runtime = self._runtime = device_of(list(placed.values()), list(placed))
        if not runtime.device.double:
            raise ValueError(f"{runtime.device} has no float64, which local Gaussian processes need: use another device")
        if memory is not None and memory < 1:
            raise ValueError(f"memory = {memory}: it must be the bytes of points on a device, a positive number")
        self.cov, self._dtype, self._memory = cov, arrays.result_dtype([X]), memory
        self.y = np.array(as_host(runtime, y), np.float64, order="C")
        X = X if is_stored(X) else as_host(runtime, X)
        if is_room(runtime, (n, p), memory):  # else the points stay where they are
            X = np.array(read(X, 0, n, "X"), np.float64, order="C")
        self._points = Points(X)
        self._points.require_finite()
        require_finite("y", self.y)
        Correlation(cov)  # complains of one that is not for this
        self.center = bool(center)
        self.prescaling = self._prescaling(prescale)
        self._scaled = self._points if self.prescaling is None else self._points.over(np.sqrt(self.prescaling))
        self._within: dict[bool, tuple[Units, Data]] = {}

    @property
    def columns(self) -> int:
        """Number of columns of the points."""
        return int(self._points.shape[1])

    def __reduce__(self) -> tuple[object, ...]:
        prescale = False if self.prescaling is None else self.prescaling
        X = self._points.rows
        X = X.astype(self._dtype, copy=False) if isinstance(X, np.ndarray) else X
        made = functools.partial(LocalGP, cov=self.cov, center=self.center, prescale=prescale, memory=self._memory)
        return made, (X, self.y), {"_names": self._names}

    def _prescaling(self, prescale: ArrayLike) -> np.ndarray | None:
        """Lengthscales to scale columns with: the user's, or estimates from samples of the data."""
        if isinstance(prescale, bool | np.bool_):
            if not prescale:
                return None
            return lengthscales(self._runtime, self._points, self.y, Correlation(self.cov), center=self.center)
        given, p = np.array(prescale, np.float64), self._points.shape[1]
        if given.shape != (p,) or not ((given > 0) & (given < np.inf)).all():
            raise ValueError(
                f"prescale = {prescale!r}: it must be True, False, or {p} positive and finite lengthscales, one for each column"
            )
        return given

    def _in_units(self, separable: bool) -> tuple[Units, Data]:
        """Data in the units of the computation, and these units."""
        if separable not in self._within:
            # Columns that are scaled already keep that, also where each has a lengthscale.
            units = Units.of(self._scaled, self.y, separable and self.prescaling is None, self.center)
            data = Data(self._scaled.over(units.columns), units.responses(self.y), self.cov, self._memory)
            self._within[separable] = units, data
        return self._within[separable]

    @property
    def device(self) -> Device:
        """Device of predictions, by default."""
        return self._runtime.device

    def _facts(self) -> Mapping[str, object]:
        scales = "" if self.prescaling is None else np.array2string(np.sqrt(self.prescaling), precision=3)
        return {
            "covariance": "rbf" if self.cov is None else self.cov.name, "X": f"{tuple(self._points.shape)} {self._dtype}",
            "prior mean": "that of y" if self.center else "0", "columns divided by": scales, "data": str(self.device),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<LocalGP of X {self._points.shape} {self._dtype} on {self.device.id}>"

    @overload
    def predict(
        self, XX: Array, start: int = ..., end: int = ..., close: int | None = ..., d: Known = ..., g: Known = ...,
        method: str | Sequence[str] = ..., *, separable: bool = ..., stages: int = ..., joint: Literal[False] = False,
        noise: bool = ..., rays: int | None = ..., nearest: str = ..., devices: Devices | None = ...,
        client: Client | None = ..., progress: bool = ...,
    ) -> LocalPrediction: ...  # fmt: skip

    @overload
    def predict(
        self, XX: Array, start: int = ..., end: int = ..., close: int | None = ..., d: Known = ..., g: Known = ...,
        method: str | Sequence[str] = ..., *, separable: bool = ..., stages: int = ..., joint: Literal[True],
        noise: bool = ..., rays: int | None = ..., nearest: str = ..., devices: Devices | None = ...,
        client: Client | None = ..., progress: bool = ...,
    ) -> JointPrediction: ...  # fmt: skip

    def predict(
        self, XX: Array, start: int = 6, end: int = 50, close: int | None = None, d: Known = None, g: Known = None,
        method: str | Sequence[str] = "alc", *, separable: bool = False, stages: int = 1, joint: bool = False,
        noise: bool = False, rays: int | None = None, nearest: str = "auto", devices: Devices | None = None,
        client: Client | None = None, progress: bool = False,
    ) -> LocalPrediction | JointPrediction:  # fmt: skip
        """Predict the responses at some locations.

        Parameters
        ----------
        XX : (m, p) array_like
            The locations; if `joint`, references with one design in common, or S sets of such, (S, m, p).
        start, end : int
            Points of a design that are the nearest, and all of them; 1 <= start <= end <= N.
        close : int, optional
            Number of nearest points that are candidates: by default ``1000 + end``, or N if that is less.
        d, g : float, array_like or dict, optional
            Lengthscale (in squared units of X, or of the scaled columns) and nugget; where they are estimated, where that
            begins. One number, one for each location or set, (m,), or if separable one for each column, (p,), or for each of
            both, (m, p). A dictionary has any of ``start``; ``mle``, whether it is estimated; ``min`` and ``max``, which may
            have a number for each column; ``ab``, shape and rate of a gamma prior. By default d is estimated, from a low
            quantile of the squared distances between rows of X, and g is 1e-4: see `gp.local.darg` and `gp.local.garg`, what
            these return being taken as well. Estimates are the best of several searches.
        method : {"alc", "mspe", "nn", "ray", "opt"}, or several of these
            Criterion by which the design grows: reduction of variance, mean-squared prediction error, or just the nearest
            points. "ray" and "opt" reduce the variance, too, but compute it in few places, on rays from the location and along
            gradients, and take the candidate that is nearest to the best one: cheaper where there are thousands of candidates,
            and in more than a few columns less good. Several are those of as many stages: ``("nn", "alc")`` begins with
            lengthscales of the nearest points.
        separable : bool
            Whether each column has a lengthscale of its own.
        stages : int
            Number of choices of designs and estimates of lengthscales; each stage takes the estimates of the one before.
        joint : bool
            Whether locations are predicted together, with their covariances: a design then reduces the variances at all
            references of a set, on average, and what is near is near to one of them.
        noise : bool
            Whether to predict observations, with the nugget, rather than the process without it, as other processes have it.
        rays : int, optional
            Along how many rays a point is searched for: by default as many as columns for "ray", and one for "opt".
        nearest : {"auto", "device", "tree"}
            Search for the nearest points: by distances to all of them, or by a k-d tree on the host, which takes all of X in
            its memory; no matter for the result.
        devices, client : optional
            Where to compute other than on `device`: on several devices, ``"all"`` or a list of them, or by the workers of a
            `distributed.Client`; see `gpustats.parallel`. No matter for the result, but for the rounding of different devices.
        progress : bool
            Whether to show a bar.

        Returns
        -------
        LocalPrediction, or JointPrediction if `joint`
            Of NumPy arrays, or of device arrays where XX is one.

        Raises
        ------
        ValueError
            Where shapes, numbers of points, d or g are none that make sense, or XX has nan or infinite numbers.
        numpy.linalg.LinAlgError
            Where the matrix of a design's correlations is not positive definite, as with equal points and no nugget.
        """
        options = Options(
            start=start, end=end, close=close, d=d, g=g, method=method, separable=separable, stages=stages, joint=joint,
            noise=noise, rays=rays, nearest=nearest,
        )  # fmt: skip
        given = arrays.as_array(_in_order(XX, self._names), "XX")
        locations, runtime, native = self._locations(given, joint), self._runtime, arrays.is_device_array(given)
        m, p = len(locations), locations.shape[-1]
        units, data = self._in_units(separable)
        scheme = Scheme.of(options, self._scaled, self.y, units.columns)
        d_start, g_start = scheme.starts(m, p)
        begin = units.lengthscales(d_start, d_start.shape[1])
        job = Job(data, scheme.within(units, p), units.points(locations), begin, g_start)
        results = units.predictions(job.run(runtime, devices, client, progress), scheme.end)
        if joint:
            results["covariance"] = variance_of_t(scheme.end) * results["covariance"]
        if not scheme.d.mle:
            results["d"] = np.array(d_start)
        if (wrong := np.flatnonzero(results["status"] == 0)).size:
            places, first = ("sets of references", "") if joint else ("locations", f", the first of them XX[{wrong[0]}]")
            raise np.linalg.LinAlgError(
                f"at {wrong.size} of {m} {places}{first}, the matrix of the design's correlations "
                "is not positive definite: some points are equal or too close to one another; give a larger nugget g"
            )
        if not scheme.separable:
            results["d"] = results["d"][:, 0]
        results = {k: a.astype(self._dtype, copy=False) if a.dtype.kind == "f" else a for k, a in results.items()}
        if joint and len(given.shape) < 3:
            results = {k: a[0] for k, a in results.items()}
        if native:
            results = {k: runtime.to_device(np.ascontiguousarray(a)) if np.ndim(a) else a for k, a in results.items()}
        kind: type[LocalPrediction | JointPrediction] = JointPrediction if joint else LocalPrediction
        return kind(df=scheme.end, evaluations=results.pop("status"), noise=scheme.noise, **results)

    def _locations(self, given: Array, joint: bool) -> np.ndarray:
        """Locations (m, p), or sets of references (S, m, p), on the host and in the scaled columns, after a check."""
        sets = joint and len(given.shape) == 3
        XX = given if sets else as_points(given, "XX")
        if XX.shape[-1] != self.columns:
            raise ValueError(f"XX has shape {XX.shape}, and X {self._points.shape}: they must have the same columns")
        if joint and not XX.shape[-2]:
            raise ValueError(f"XX has shape {XX.shape}: a set must have a reference at least")
        if arrays.is_device_array(XX) and device_of([XX], ["XX"]) is not self._runtime:
            raise ValueError(f"XX lies on another device than the data, which are on {self.device.id}: move it with gs.to_host")
        locations = np.ascontiguousarray(as_host(self._runtime, XX), np.float64)
        require_finite("XX", locations)
        locations = locations[None] if joint and not sets else locations
        return locations if self.prescaling is None else locations / np.sqrt(self.prescaling)


def _names(X: Array) -> list[object] | None:
    """Names of a data frame's columns."""
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _in_order(XX: Array, names: list[object] | None) -> Array:
    """Data frame with its columns in the order of X's."""
    given = _names(XX)
    if names is None or given is None or given == names:
        return XX
    if sorted(map(str, given)) != sorted(map(str, names)):
        raise ValueError(f"XX has the columns {', '.join(map(str, given))}, and X {', '.join(map(str, names))}")
    return XX[names]
