"""Local Gaussian processes for many locations: the work of one call, on one device, on several, or on a cluster's workers."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...parallel.maps import ClusterMap, DeviceMap, RangeMap
from ..expression import Expression
from .correlation import Correlation
from .design import Design
from .fit import Fitted, LocalFit
from .nearest import Nearest
from .scheme import Scheme

if TYPE_CHECKING:
    from ...runtime.base import Runtime

#: Bytes of a chunk's lists of candidates.
CHUNK_BYTES = 1 << 28


class Data:
    """Points, responses and their covariance function, on every device that has asked for them; travels by pickle.

    Parameters
    ----------
    X : (N, p) ndarray of float64
    y : (N,) ndarray of float64
    covariance : Expression, optional
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, covariance: Expression | None):
        self.X, self.y, self.covariance = X, y, covariance
        self._correlation = Correlation(covariance)
        self._on_devices: dict[Runtime, OnDevice] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return Data, (self.X, self.y, self.covariance)

    def on(self, runtime: Runtime) -> OnDevice:
        """The data on a device, which they are moved to once."""
        with self._lock:
            if runtime not in self._on_devices:
                self._on_devices[runtime] = OnDevice(runtime, self.X, self.y, self._correlation)
            return self._on_devices[runtime]


class OnDevice:
    """The data of a model on one device.

    Parameters
    ----------
    runtime : Runtime
    X : (N, p) ndarray of float64
    y : (N,) ndarray of float64
    correlation : Correlation
    """

    def __init__(self, runtime: Runtime, X: np.ndarray, y: np.ndarray, correlation: Correlation):
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
        fit = LocalFit(self.runtime, self.X, self.y, self.correlation, scheme.end, scheme.separable)
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


@dataclass(frozen=True)
class Job:
    """Locations, and what is to be done with them; travels to other processes by pickle."""

    data: Data
    scheme: Scheme
    locations: np.ndarray  # (m, p) float64
    d: np.ndarray  # (m, 1) or (m, p) float64
    g: np.ndarray  # (m,) float64

    def run(self, runtime: Runtime, devices: Any, client: Any, progress: bool) -> dict[str, np.ndarray]:
        """The `predictions` for all locations, a chunk at a time: on one device where no others, and no client, are given."""
        m, chunk = len(self.locations), max(CHUNK_BYTES // (4 * self.scheme.close), 1)
        if not m:
            return predictions(self, 0, 0, runtime)
        if client is None and devices is None:
            return _OneDevice(runtime)(predictions, self, m, chunk=chunk, progress=progress)
        chunk = min(chunk, -(-m // 64))  # so that faster devices can take more
        over: RangeMap = DeviceMap(devices) if client is None else ClusterMap(client, devices)
        return over(predictions, self, m, chunk=chunk, progress=progress)


def predictions(job: Job, first: int, end: int, runtime: Runtime) -> dict[str, np.ndarray]:
    """What is computed for a range of a job's locations on one device.

    Returns
    -------
    dict
        ``indices`` and the fields of `Fitted` -> NumPy array, with a row for each location.
    """
    locations, d, g = (runtime.to_device(np.ascontiguousarray(a[first:end])) for a in (job.locations, job.d, job.g))
    indices, fitted = job.data.on(runtime).run(job.scheme, locations, d, g)
    return {name: runtime.to_host(a) for name, a in {"indices": indices, **fitted._asdict()}.items()}


class _OneDevice(RangeMap):
    """A map in the calling thread, on one device."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime

    def _places(self) -> int:
        return 1

    def _results(self, function: Any, data: Any, ranges: Any, retries: int) -> Generator[Any, None, None]:
        for first, end in ranges:
            yield (first, end), function(data, first, end, self._runtime)
