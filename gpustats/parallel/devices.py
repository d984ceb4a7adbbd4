"""Rows spread over the devices of one machine, each of which keeps its own.

The thread that calls starts the kernels of all devices before it waits for any. Calls that cannot be cut so, and those of
one device named twice, are made in a thread for each device.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ..language.device_function import Argument
from ..language.domains import point_of
from ..runtime import choose
from ..runtime.base import Runtime
from ..runtime.types import Array
from .pieces import Data, Divisible, Options, Pieces
from .ragged import one_after_another
from .rows import Arguments, is_stored, read, section, split
from .stream import StreamedPieces

TRIAL_ROWS = 1 << 18  # rows by which a device's speed is measured

_thread = threading.local()


@functools.cache
def _worker(runtime: Runtime, number: int) -> Executor:
    """Thread that waits for a device, one for the whole process; `number` counts where a device is named several times."""
    return ThreadPoolExecutor(1, f"gpustats-{runtime.device.id}", _start, (runtime,))


def _start(runtime: Runtime) -> None:
    """Prepare a thread that waits for a device."""
    choose.stay(runtime)
    _thread.works = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_worker.cache_clear)  # a forked child has none of these threads


def workers(runtimes: Sequence[Runtime]) -> list[Executor]:
    """Threads, one for each device, in which that device is the chosen one."""
    seen: Counter[int] = Counter()
    found = []
    for runtime in runtimes:
        found.append(_worker(runtime, seen[id(runtime)]))
        seen[id(runtime)] += 1
    return found


def inside_worker() -> bool:
    """True if the calling thread waits for a device itself: it must not wait for another such thread."""
    return getattr(_thread, "works", False)


class Devices(Pieces):
    """Pieces on several devices, one for each, which keeps it; of a size that its speed allows.

    The options ``memory`` and ``chunk`` are those of each device.
    """

    def __init__(self, model: Divisible, data: Data, options: Options):
        runtimes = self._runtimes = choose.several(options.devices)
        threads = workers(runtimes)
        make = functools.partial(model._recipe(), memory=options.memory, chunk=options.chunk)

        def measured(i: int) -> float:
            return threads[i].submit(seconds, make, sample(data), model._trial()).result()

        self.ranges = split(
            data.n_rows, speeds([kind(runtime) for runtime in runtimes], measured), data.bytes_before
        )
        # Files stay where they are; of what is in memory the pieces have copies, which nobody changes.
        self._data = {n: v if is_stored(v) else None for n, v in data.arrays.items()}
        parts = [{n: section(v, *rows) for n, v in data.arrays.items()} for rows in self.ranges]
        futures = [w.submit(make, **part) for w, part in zip(threads, parts, strict=False)]
        self._models = _results(futures)
        self.where = ", ".join(
            f"{runtime.device.id} ({end - first} rows)"
            for runtime, (first, end) in zip(runtimes, self.ranges, strict=False)
        )

    def held(self) -> dict[str, Array]:
        parts = [model._held() for model in self._models]
        return {n: one_after_another([part[n] for part in parts]) if v is None else v for n, v in self._data.items()}

    def each(self, work: Callable[[Any, int, int], object]) -> None:
        """Call of a function, in a thread of each device, with its model, the first of its rows and the one behind the last."""
        of_devices = zip(workers(self._runtimes), self._models, self.ranges, strict=False)
        _results([worker.submit(work, model, *rows) for worker, model, rows in of_devices])

    def map(self, method: str, calls: Iterable[Arguments]) -> Generator[Any, None, None]:
        calls = list(calls)
        if (waits := self._start(method, calls)) is not None:
            yield from _finished(waits)
            return
        bound = [getattr(model, method) for model in self._models]
        if inside_worker():
            yield from (work(*args, **kwargs) for work, (args, kwargs) in zip(bound, calls, strict=True))
            return
        futures = [  # of this process: a forked child has threads of its own, in which the error is that of its device
            worker.submit(work, *args, **kwargs)
            for worker, work, (args, kwargs) in zip(workers(self._runtimes), bound[:-1], calls, strict=False)
        ]
        try:  # the calling thread would but wait
            args, kwargs = calls[-1]
            last = bound[-1](*args, **kwargs)
        except KeyboardInterrupt:
            for model in self._models:
                if isinstance(model._pieces, StreamedPieces):
                    model._pieces.stop()
            raise
        finally:
            found = _results(futures)
        yield from (*found, last)

    def _start(self, method: str, calls: Sequence[Arguments]) -> list[Callable[[], Any]] | None:
        """Start the kernels of all devices in the calling thread; return a wait for each. None where that cannot be."""
        if len({id(runtime) for runtime in self._runtimes}) < len(self._runtimes):
            return None  # a thread has one place for results on each device
        waits: list[Callable[[], Any]] = []
        try:
            for model, (args, kwargs) in zip(self._models, calls, strict=True):
                if model._pieces is not None or (wait := model._start(method, args, kwargs)) is None:
                    if not waits:
                        return None
                    wait = functools.partial(getattr(model, method), *args, **kwargs)
                waits.append(wait)
        except Exception:
            with contextlib.suppress(Exception):
                _finished(waits)
            raise
        return waits


def _finished(waits: Iterable[Callable[[], Any]]) -> list[Any]:
    """Results of all calls that were started: an error leaves none at work.

    The last one is waited for first: so the calling thread changes half as often from one device to another.
    """
    left, found = list(waits), list[Any]()
    try:
        while left:
            found.append(left.pop()())
    except Exception:
        for wait in left:  # the others
            with contextlib.suppress(Exception):
                wait()
        raise
    return found[::-1]


def _results(futures: Sequence[Future[Any]]) -> list[Any]:
    """Results, once all are there: an error leaves no other piece at work."""
    for future in futures:
        future.exception()  # waits
    return [future.result() for future in futures]


# ---- how fast devices are


def kind(runtime: Runtime) -> Hashable:
    """Kind of a device: devices of one kind are equally fast."""
    device = runtime.device
    return device.backend, device.name, device.driver, device.compute_units


def speeds(kinds: Sequence[Hashable], measured: Callable[[int], float]) -> list[float]:
    """Speeds of devices, or workers, against one another; only kinds that differ are measured.

    Those of one kind are equally fast: see `kind`. `measured` gives the seconds that one takes for the same work, by its
    place in `kinds`.
    """
    return [1 / measured(i) if len(set(kinds)) > 1 else 1.0 for i in range(len(kinds))]


def sample(data: Data) -> dict[str, Array]:
    """Rows by which speeds are measured."""
    return {n: read(v, 0, min(TRIAL_ROWS, data.n_rows), n) for n, v in data.arrays.items()}


def seconds(make: Callable[..., Any], data: Mapping[str, Array], trial: tuple[Array, ...]) -> float:
    """Seconds of the calling thread's device for the sum and its derivatives over some rows."""
    model = make(**data)
    model.value_and_grad(*trial)  # compiles
    times = []
    for _ in range(3):
        start = time.perf_counter()
        model.value_and_grad(*trial)
        times.append(time.perf_counter() - start)
    return min(times)


def example(argument: Argument, dim: int) -> float | np.ndarray:
    """Value that lies in the argument's domain; vectors have `dim` elements."""
    point = point_of(argument.words, np, dim)
    return np.full(dim, point) if argument.rank == 1 and np.ndim(point) == 0 else point
