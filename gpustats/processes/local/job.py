"""Local Gaussian processes for many locations: the work of one call, on one device, on several, or on a cluster's workers."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...parallel.maps import ClusterMap, DeviceMap, RangeMap
from ...parallel.pieces import Data as Rows
from ...parallel.pieces import Options
from ...parallel.rows import Range, chunks
from ...parallel.stream import budget, fits
from ...runtime.base import Runtime
from ...runtime.cached import cached_property
from ...runtime.types import Array
from ..expression import Expression
from .correlation import Correlation
from .design import Design, Search, is_narrow_enough
from .fit import LocalFit
from .nearest import Nearest
from .points import Points
from .ray import RaySearch
from .scheme import Scheme

if TYPE_CHECKING:
    from distributed import Client

    from ...parallel.maps import Function

#: Bytes of a chunk's lists of candidates.
CHUNK_BYTES = 1 << 28
#: Parts of the passing points that would fill a device's memory: two are there at once, beside lists of neighbours and, later,
#: the neighbours.
PASSING_PARTS = 8


class Data:
    """Points, responses and their covariance function, on every device that has asked for them; travels by pickle.

    Parameters
    ----------
    y : (N,) ndarray of float64
    covariance : Expression, optional
    memory : int, optional
        The most bytes of points on a device; None: as many as there is room for.
    """

    def __init__(self, points: Points, y: np.ndarray, covariance: Expression | None, memory: int | None = None):
        self.points, self.y, self.covariance, self.memory = points, y, covariance, memory
        self.correlation = Correlation(covariance)
        self._on_devices: dict[Runtime, OnDevice] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return Data, (self.points, self.y, self.covariance, self.memory)

    def on(self, runtime: Runtime) -> OnDevice:
        """Data on a device, moved there once if the device has room for them."""
        with self._lock:
            if runtime not in self._on_devices:
                kind = OnDevice if is_room(runtime, self.points.shape, self.memory) else ThroughDevice
                self._on_devices[runtime] = kind(runtime, self)
            return self._on_devices[runtime]

    @cached_property
    def box(self) -> np.ndarray:
        """Least and greatest number of each column, (2, p)."""
        ends = [(part.min(0), part.max(0)) for part in self.points.parts()]
        least, greatest = zip(*ends, strict=True)
        return np.stack([np.min(least, axis=0), np.max(greatest, axis=0)])


def is_room(runtime: Runtime, shape: Sequence[int], memory: int | None) -> bool:
    """True if all points (N, p) go to a device, by rows and by columns, beside the responses."""
    return fits(Rows({}, shape[0], 8 * (2 * shape[1] + 1)), Options(memory=memory), runtime)


class Neighbours(NamedTuple):
    """Device arrays of row numbers: the candidates of designs by all methods but "nn", and the designs of "nn"."""

    candidates: Array = None  # (m, close) int32
    nearest: Array = None  # (m, end) int32


class OnDevice:
    """Data of a model, all on one device.
    """

    rows: int | None = None  # that the device has at a time

    def __init__(self, runtime: Runtime, data: Data):
        self.runtime, self._data, self._searches = runtime, data, dict[str, Nearest]()
        self._box = runtime.to_device(data.box)
        self._hold()
        runtime.synchronize()  # other threads may use the data next

    def _hold(self) -> None:
        self._X, self._y = (self._moved(np.asarray(a)) for a in (self._data.points, self._data.y))

    def predictions(self, scheme: Scheme, locations: np.ndarray, d: np.ndarray, g: np.ndarray) -> dict[str, np.ndarray]:
        """Designs, estimates and predictions for some locations.

        Parameters
        ----------
        locations : (m, p) ndarray of float64, or (S, m, p)
            Locations, or sets of references with a design each.
        d : (m, 1) or (m, p) ndarray of float64
        g : (m,) ndarray of float64

        Returns
        -------
        dict
            ``indices``, (m, end) of int32, and the fields of `Fitted`, or, of sets, of `Joint`, too -> NumPy array.
        """
        narrow = is_narrow_enough(self.runtime, scheme.close, scheme.end, d, g)
        found = self._neighbours(scheme, locations)
        return self._predicted(scheme, self._X, self._y, found, narrow, locations, d, g)

    def _predicted(
        self, scheme: Scheme, X: Array, y: Array, found: Neighbours, narrow: bool, locations: np.ndarray, d: np.ndarray,
        g: np.ndarray,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Predictions from neighbours that are known, among the points X and the responses y; `narrow` as `Design` has it."""
        runtime, joint = self.runtime, locations.ndim == 3
        at, d, g = map(self._moved, (locations, d, g))
        one = self._moved(locations[:, 0]) if joint else at
        fit = LocalFit(runtime, X, y, self._data.correlation, scheme.end, scheme.separable)
        for method in scheme.methods:
            indices = found.nearest
            if method != "nn":
                search = self._search(method, scheme, X, y, narrow)
                indices = search.search(at, found.candidates, d, g, scheme.start, scheme.end)
            fitted = fit.run(one, indices, d, g, scheme.d, scheme.g, scheme.noise)
            d, g, narrow = fitted.d, fitted.g, narrow and not scheme.g.mle
        made = {"indices": indices, **fitted._asdict()}
        if joint:
            del made["scale"]
            made |= fit.joint(at, indices, d, g, scheme.noise)._asdict()
        on_host = {name: runtime.to_host(a) for name, a in made.items()}
        if joint:
            on_host["scale"] = np.sqrt(np.diagonal(on_host["covariance"], axis1=1, axis2=2))
        return on_host

    def _search(self, method: str, scheme: Scheme, X: Array, y: Array, narrow: bool) -> Search:
        """Search for designs by a method other than that of the nearest points."""
        given = self.runtime, X, self._data.correlation, scheme.separable
        if method in ("ray", "opt"):
            return RaySearch(*given, self._box, scheme.rays_of(method, X.shape[1]), opt=method == "opt")
        return Design(*given, y if method == "mspe" else None, narrow)

    def _moved(self, a: np.ndarray) -> Array:
        return self.runtime.to_device(np.ascontiguousarray(a))

    def _neighbours(self, scheme: Scheme, locations: np.ndarray) -> Neighbours:
        on_device = self._moved(locations)
        if scheme.nearest not in self._searches:
            self._searches[scheme.nearest] = Nearest(self.runtime, self._data.points, scheme.nearest, self.rows)
        find, methods = self._searches[scheme.nearest].find, set(scheme.methods)
        return Neighbours(
            find(on_device, scheme.close, scheme.ordered(locations.shape[-1])) if methods - {"nn"} else None,
            find(on_device, scheme.end, scheme.end) if "nn" in methods else None,
        )


class ThroughDevice(OnDevice):
    """Data of a model whose points pass through a device: once to find neighbours, then the neighbours alone."""

    def _hold(self) -> None:
        limit = budget(Options(memory=self._data.memory), self.runtime, 8 * math.prod(self._data.points.shape))
        self.rows = max(limit // (8 * self._data.points.shape[1] * PASSING_PARTS), 1)
        self._room = limit // 2

    def predictions(self, scheme: Scheme, locations: np.ndarray, d: np.ndarray, g: np.ndarray) -> dict[str, np.ndarray]:
        points, y, parts = self._data.points, self._data.y, list[dict[str, np.ndarray]]()
        narrow = is_narrow_enough(self.runtime, scheme.close, scheme.end, d, g)
        found = self._neighbours(scheme, locations)
        on_host = [self.runtime.to_host(a) for a in found if a is not None]
        each = sum(a.shape[1] for a in on_host) * (8 * points.shape[1] + 8 + 4)
        for first, end in chunks(len(locations), max(self._room // each, 1)):
            rows = [a[first:end] for a in on_host]
            together = np.concatenate(rows, axis=1)
            used, numbers = np.unique(together, return_inverse=True)  # in the order of the rows of X
            numbers = numbers.reshape(together.shape).astype(np.int32)
            ends = np.cumsum([a.shape[1] for a in rows])[:-1]
            here = iter([self._moved(a) for a in np.split(numbers, ends, axis=1)])
            own = Neighbours(*(None if a is None else next(here) for a in found))
            X, responses, part = self._moved(points[used]), self._moved(y[used]), slice(first, end)
            parts.append(self._predicted(scheme, X, responses, own, narrow, locations[part], d[part], g[part]))
            indices = parts[-1]["indices"]
            parts[-1]["indices"] = np.where(indices < 0, indices, used[indices])
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@dataclass(frozen=True)
class Job:
    """Locations, and the scheme of their predictions; travels to other processes by pickle."""

    data: Data
    scheme: Scheme
    locations: np.ndarray  # (m, p) float64, or (S, m, p): sets of references
    d: np.ndarray  # (m, 1) or (m, p) float64
    g: np.ndarray  # (m,) float64

    def run(self, runtime: Runtime, devices: Any, client: Client | None, progress: bool) -> dict[str, np.ndarray]:
        """Predictions for all locations, a chunk at a time: on one device where no others, and no client, are given."""
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
    """Predictions for a range of a job's locations on one device: see `OnDevice.predictions`."""
    return job.data.on(runtime).predictions(job.scheme, job.locations[first:end], job.d[first:end], job.g[first:end])


class _OneDevice(RangeMap):
    """Map in the calling thread, on one device."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime

    def _places(self) -> int:
        return 1

    def _results(
        self, function: Function, data: object, ranges: Sequence[Range], retries: int
    ) -> Generator[tuple[Range, Mapping[str, np.ndarray]], None, None]:
        for first, end in ranges:
            yield (first, end), function(data, first, end, self._runtime)
