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
from .design import Design, is_narrow_enough
from .fit import LocalFit
from .joint import joint_predictions
from .nearest import Nearest
from .ray import RaySearch, beginnings
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
        self._box = runtime.to_device(np.stack([X.min(0), X.max(0)]))
        self._searches: dict[str, Nearest] = {}
        runtime.synchronize()  # other threads may use the data next

    def _nearest(self, method: str) -> Nearest:
        if method not in self._searches:
            self._searches[method] = Nearest(self.runtime, self._host, method)
        return self._searches[method]

    def run(self, scheme: Scheme, locations: np.ndarray, d: np.ndarray, g: np.ndarray) -> dict[str, Any]:
        """Start all that is to be done for some locations.

        Parameters
        ----------
        locations : (m, p) ndarray of float64, or (S, m, p)
            Locations, or sets of references with a design each.
        d : (m, 1) or (m, p) ndarray of float64
        g : (m,) ndarray of float64

        Returns
        -------
        dict
            ``indices``, (m, end) of int32, and the fields of `Fitted`, or, of sets, of `Joint`, too -> device array.
        """
        runtime, joint = self.runtime, locations.ndim == 3
        given_d, given_g = d, g
        on_device, d, g = (runtime.to_device(np.ascontiguousarray(a)) for a in (locations, d, g))
        one = runtime.to_device(np.ascontiguousarray(locations[:, 0])) if joint else on_device
        fit = LocalFit(runtime, self.X, self.y, self.correlation, scheme.end, scheme.separable)
        narrow, candidates = is_narrow_enough(runtime, scheme.close, scheme.end, given_d, given_g), None
        for method in scheme.methods:
            if method == "nn":
                indices = self._nearest(scheme.nearest).find(on_device, scheme.end, scheme.end)
            else:
                if candidates is None:
                    candidates = self._nearest(scheme.nearest).find(on_device, scheme.close, self._ordered(scheme))
                search = self._search(scheme, method, narrow)
                indices = search.search(on_device, candidates, d, g, scheme.start, scheme.end)
            fitted = fit.run(one, indices, d, g, scheme.d, scheme.g, scheme.noise)
            d, g, narrow = fitted.d, fitted.g, narrow and not scheme.g.mle
        made = {"indices": indices, **fitted._asdict()}
        if joint:
            del made["scale"]
            made |= joint_predictions(
                runtime, self.X, self.y, self.correlation, on_device, indices, d, g, scheme.noise
            )._asdict()
        return made

    def _search(self, scheme: Scheme, method: str, narrow: bool) -> Design | RaySearch:
        """The search for designs by a method other than that of the nearest points."""
        given = self.runtime, self.X, self.correlation, scheme.separable
        if method in ("ray", "opt"):
            return RaySearch(*given, self._box, scheme.rays_of(method, self.X.shape[1]), opt=method == "opt")
        return Design(*given, self.y if method == "mspe" else None, narrow)

    def _ordered(self, scheme: Scheme) -> int:
        """How many candidates have to be in the order of their distances."""
        rays = (scheme.rays_of(m, self.X.shape[1]) for m in scheme.methods if m in ("ray", "opt"))
        return max([scheme.start, *(beginnings(scheme.close, scheme.end, n) for n in rays)])


@dataclass(frozen=True)
class Job:
    """Locations, and what is to be done with them; travels to other processes by pickle."""

    data: Data
    scheme: Scheme
    locations: np.ndarray  # (m, p) float64, or (S, m, p): sets of references
    d: np.ndarray  # (m, 1) or (m, p) float64
    g: np.ndarray  # (m,) float64

    def run(self, runtime: Runtime, devices: Any, client: Any, progress: bool) -> dict[str, np.ndarray]:
        """The `predictions` for all locations, a chunk at a time: on one device where no others, and no client, are given."""
        m, joint = len(self.locations), self.locations.ndim == 3
        each = 4 * self.scheme.close + (8 * self.locations.shape[1] ** 2 if joint else 0)
        chunk = max(CHUNK_BYTES // each, 1)
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
        What `OnDevice.run` returns -> NumPy array.
    """
    made = job.data.on(runtime).run(job.scheme, job.locations[first:end], job.d[first:end], job.g[first:end])
    on_host = {name: runtime.to_host(a) for name, a in made.items()}
    if "covariance" in on_host:
        on_host["scale"] = np.sqrt(np.diagonal(on_host["covariance"], axis1=1, axis2=2))
    return on_host


class _OneDevice(RangeMap):
    """A map in the calling thread, on one device."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime

    def _places(self) -> int:
        return 1

    def _results(self, function: Any, data: Any, ranges: Any, retries: int) -> Generator[Any, None, None]:
        for first, end in ranges:
            yield (first, end), function(data, first, end, self._runtime)
