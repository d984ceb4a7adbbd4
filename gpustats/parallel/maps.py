"""Maps of a function over many independent items, on the devices of a machine or the workers of a cluster.

Both kinds of map hand out ranges of items as devices become free, so that fast ones take more of them, and put the results
where they belong as they arrive: an item's result depends on neither the order nor the device.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.bars import bar
from ..runtime import choose, thresholds
from ..runtime.base import Device, Runtime
from .closing import PATIENCE
from .devices import inside_worker, workers
from .rows import Range, chunks

if TYPE_CHECKING:
    from distributed import Future

Function = Callable[[Any, int, int, Runtime], Mapping[str, np.ndarray]]
Results = Generator[tuple[Range, Mapping[str, np.ndarray]], None, None]

#: Ranges for each device, where the caller does not say how large they are.
RANGES_PER_DEVICE = thresholds.PARALLEL_RANGES_PER_DEVICE.value


class RangeMap(ABC):
    """Map over ranges of items, which cuts the items into ranges and puts the results together."""

    def __call__(
        self, function: Function, data: object, n: int, *, chunk: int | None = None, progress: bool = False, retries: int = 0
    ) -> dict[str, np.ndarray]:
        """Results of `function` for items 0 to n - 1.

        Parameters
        ----------
        function : callable
            ``function(data, first, end, runtime)`` computes items `first` to ``end - 1`` on a device and returns a dict of
            arrays whose first axis is that of these items. It runs in several threads at once.
        data : object
            The same for all calls; a process gets it once.
        n : int
            The number of items.
        chunk : int, optional
            Items in a call.
        progress : bool
            Whether to show a bar.
        retries : int
            Number of times that a call which raises an error is made again.

        Returns
        -------
        dict
            Name -> array of n items.

        Raises
        ------
        ValueError
            Where results are not dicts of arrays with an item for each of the range.
        """
        if n < 0 or (chunk is not None and chunk < 1):
            raise ValueError(f"n = {n} items in chunks of {chunk}: neither may be negative, nor a chunk be empty")
        ranges = chunks(n, chunk or max(-(-n // (RANGES_PER_DEVICE * self._places())), 1))
        whole: dict[str, np.ndarray] = {}
        closing = contextlib.closing(self._results(function, data, ranges, retries))
        with bar(n, progress, "items") as advance, closing as results:
            for (first, end), found in results:
                _put(whole, found, first, end, n)
                advance(end - first)
        return whole

    @abstractmethod
    def _places(self) -> int:
        """Number of devices, or of processes."""

    @abstractmethod
    def _results(self, function: Function, data: object, ranges: Sequence[Range], retries: int) -> Results:
        """Results for the ranges, as they become known."""


class DeviceMap(RangeMap):
    """Map of a function over ranges of items, on the devices of this machine.

    Parameters
    ----------
    devices : "all" or sequence of str or Device
        ``"all"``: every GPU of CUDA, else of OpenCL, else the CPU.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> def squares(data, first, end, runtime):
    ...     return {"square": data[first:end] ** 2}
    >>> gs.parallel.DeviceMap()(squares, np.arange(5.0), 5, chunk=2)
    {'square': array([ 0.,  1.,  4.,  9., 16.])}
    """

    def __init__(self, devices: str | Sequence[str | Device] = "all"):
        self._runtimes = choose.several(devices)

    def __reduce__(self) -> tuple[object, ...]:
        return DeviceMap, ([runtime.device.id for runtime in self._runtimes],)

    def _places(self) -> int:
        return len(self._runtimes)

    def _results(self, function: Function, data: object, ranges: Sequence[Range], retries: int) -> Results:
        if inside_worker():  # it must not wait for other threads, which may wait for it
            for rows in ranges:
                yield rows, _tried(retries, function, data, *rows, choose.get())
            return
        waiting: queue.SimpleQueue[Range] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Range, Any, BaseException | None]] = queue.SimpleQueue()
        stop = threading.Event()
        for rows in ranges:
            waiting.put(rows)

        def work(runtime: Runtime) -> None:
            with contextlib.suppress(queue.Empty):
                while not stop.is_set():
                    rows = waiting.get_nowait()
                    try:
                        done.put((rows, _tried(retries, function, data, *rows, runtime), None))
                    except BaseException as error:
                        done.put((rows, None, error))

        futures = [w.submit(work, runtime) for w, runtime in zip(workers(self._runtimes), self._runtimes, strict=True)]
        patience = None
        try:
            for _ in ranges:
                rows, found, error = done.get()
                if error is not None:
                    raise error
                yield rows, found
        except KeyboardInterrupt:
            patience = PATIENCE
            raise
        finally:
            stop.set()
            wait(futures, patience)


class ClusterMap(RangeMap):
    """Map of a function over ranges of items, on the workers of a Dask cluster.

    A range on which a worker dies is computed by another; `data` are sent again where no worker has them any more.

    Parameters
    ----------
    client : distributed.Client
    devices : "all" or sequence of str, optional
        The devices that each worker uses; by default the one that it would choose.
    """

    def __init__(self, client: object, devices: str | Sequence[str] | None = None):
        from .cluster import checked

        self._client, self._devices = checked(client), devices

    def _places(self) -> int:
        return max(len(self._client.nthreads()), 1)

    def _results(self, function: Function, data: object, ranges: Sequence[Range], retries: int) -> Results:
        from distributed import as_completed

        from .cluster import LOST_ERRORS, again, result_of, scattered

        client, waiting = self._client, set(ranges)
        for attempt in again(client):
            futures: dict[Future[Any], Range] = {}
            try:
                shared = scattered(client, data, broadcast=True)
                for rows in sorted(waiting):
                    future = client.submit(
                        _on_worker, function, shared, *rows, self._devices, retries=retries, pure=False
                    )  # fmt: skip
                    futures[future] = rows
                for future in as_completed(list(futures)):
                    rows, found = futures[future], result_of(future)
                    del futures[future]
                    waiting.remove(rows)
                    yield rows, found
                return
            except LOST_ERRORS as error:
                attempt(error)
            finally:
                client.cancel(list(futures))


def _on_worker(
    function: Function, data: object, first: int, end: int, devices: str | Sequence[str] | None
) -> Mapping[str, np.ndarray]:
    """Results for a range, on a worker's own device or on several of them."""
    if devices is None:
        return function(data, first, end, choose.get())

    def shifted(data: object, start: int, stop: int, runtime: Runtime) -> Mapping[str, np.ndarray]:
        return function(data, first + start, first + stop, runtime)

    return DeviceMap(devices)(shifted, data, end - first)


def _tried(retries: int, function: Function, *args: Any) -> Mapping[str, np.ndarray]:
    """Result of a call that is made again where it raises an error, at most `retries` times."""
    for _ in range(retries):
        with contextlib.suppress(Exception):
            return function(*args)
    return function(*args)


def _put(whole: dict[str, np.ndarray], found: Mapping[str, np.ndarray], first: int, end: int, n: int) -> None:
    """Put the results of a range where they belong."""
    if whole and whole.keys() != found.keys():
        raise ValueError(f"items {first} to {end} have results {', '.join(found)}, others have {', '.join(whole)}")
    for name, part in found.items():
        part = np.asarray(part)
        if part.ndim < 1 or len(part) != end - first:
            raise ValueError(f"{name} has shape {part.shape}: its first axis must be that of the {end - first} items")
        array = whole.setdefault(name, np.empty((n, *part.shape[1:]), part.dtype) if part.shape[0] != n else part)
        if array is not part:
            array[first:end] = part
