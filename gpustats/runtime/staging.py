"""Copies between CUDA devices and NumPy arrays.

The device reaches only page-locked memory at full speed, and one thread alone fills or empties that more slowly than the bus
takes it. So several threads, the same for all that compute on a device, make the large copies: each takes one part after
another, and the bus moves the part before while it reads, converts or writes the next.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from . import thresholds
from .cuda_driver import NON_BLOCKING, address_of, checked, new_event, new_stream
from .cuda_memory import page_locked
from .host_memory import HostRows, parts, read_into
from .types import Array, DType

THREADS = thresholds.RUNTIME_COPY_THREADS.value  # that make copies
PLACES_PER_THREAD = thresholds.RUNTIME_COPY_PLACES.value  # of a thread, in page-locked memory
PLACE = thresholds.RUNTIME_COPY_PLACE.value  # bytes of a place
LEAST_PART = thresholds.RUNTIME_COPY_LEAST_PART.value  # bytes of a part of a large copy
SMALL_COPY = thresholds.RUNTIME_SMALL_COPY.value  # bytes below which a copy is left to the driver
LARGE_RESULT = thresholds.RUNTIME_LARGE_RESULT.value  # bytes from which on the memory of a result is used again

Part = tuple[int, Array, DType]  # an address on the device, what is to be copied there or filled from there, the type there


class Staging:
    """Copies of one thread on one device; the device's context is current in all calls.

    Parameters
    ----------
    stream : CUstream
        The thread's own.
    """

    def __init__(self, stream: Any, copiers: Copiers) -> None:
        self._stream, self._copiers = stream, copiers
        self._before, self._end = new_event(), new_event()
        self._bus: Any = None
        self._places: list[tuple[np.ndarray, Any]] = []

    def to_device(self, *copies: tuple[int, np.ndarray | HostRows, DType]) -> None:
        """Copy arrays or rows, each to an address in a type, after all work in the stream; they may change afterwards."""
        large: list[Part] = []
        for pointer, array, dtype in copies:
            if (nbytes := math.prod(array.shape) * dtype.itemsize) < SMALL_COPY:
                self._send_small(pointer, np.ascontiguousarray(array, dtype))
            else:
                large += ((pointer + start, part, dtype) for start, part in parts(array, dtype.itemsize, _size(nbytes)))
        if large:
            self._copiers.copy(Staging._send, large, self._reached())

    def _send_small(self, pointer: int, array: np.ndarray) -> None:
        checked(cu.cuMemcpyHtoDAsync(pointer, address_of(array), array.nbytes, self._stream))
        checked(cu.cuStreamSynchronize(self._stream))

    def to_host(self, pointer: int, out: np.ndarray, registered: bool = False) -> None:
        """Fill the C-contiguous array `out`, after all work in the stream; into registered memory the bus writes by itself."""
        if out.nbytes >= LARGE_RESULT and not registered:
            found = parts(out.reshape(-1), out.itemsize, _size(out.nbytes))
            self._copiers.copy(Staging._receive, [(pointer + start, part, out.dtype) for start, part in found], self._reached())
        else:
            checked(cu.cuMemcpyDtoHAsync(address_of(out), pointer, out.nbytes, self._stream))
            checked(cu.cuStreamSynchronize(self._stream))

    def _reached(self) -> Any:
        """Event that happens when all work in the stream so far is done."""
        checked(cu.cuEventRecord(self._before, self._stream))
        return self._before

    @contextlib.contextmanager
    def bus(self, event: Any, ended: list[Any]) -> Iterator[None]:
        """Context for copies of the calling thread: they begin after an event, and `ended` gets an event of their end."""
        if self._bus is None:
            self._places = [(page_locked.empty(PLACE, np.uint8), new_event()) for _ in range(PLACES_PER_THREAD)]
            self._bus = new_stream(NON_BLOCKING)
        checked(cu.cuStreamWaitEvent(self._bus, event, 0))
        try:
            yield
        finally:
            checked(cu.cuEventRecord(self._end, self._bus))
            ended.append(self._end)

    def _send(self, left: Iterator[Part]) -> None:
        places = itertools.cycle(self._places)
        for pointer, whole, dtype in left:
            nbytes = math.prod(whole.shape) * dtype.itemsize
            for start, part in parts(whole.array(), dtype.itemsize, PLACE) if nbytes > PLACE else [(0, whole)]:
                place, event = next(places)
                checked(cu.cuEventSynchronize(event))  # the bus may still be reading the place
                numbers = place[: math.prod(part.shape) * dtype.itemsize]
                read_into(numbers.view(dtype).reshape(part.shape), part)
                checked(cu.cuMemcpyHtoDAsync(pointer + start, address_of(numbers), numbers.nbytes, self._bus))
                checked(cu.cuEventRecord(event, self._bus))

    def _receive(self, left: Iterator[Part]) -> None:
        busy: list[tuple[Any, np.ndarray, np.ndarray]] = []

        def empty() -> None:
            event, numbers, part = busy.pop(0)
            checked(cu.cuEventSynchronize(event))
            np.copyto(part, numbers.view(part.dtype))

        for (place, event), (pointer, part, _) in zip(itertools.cycle(self._places), left, strict=False):
            if len(busy) == PLACES_PER_THREAD:
                empty()
            checked(cu.cuMemcpyDtoHAsync(address_of(place), pointer, part.nbytes, self._bus))
            checked(cu.cuEventRecord(event, self._bus))
            busy.append((event, place[: part.nbytes], part))
        while busy:
            empty()


def _size(nbytes: int) -> int:
    """Bytes of a part of a copy: two or more for each thread, but few, since at each the threads wait for one another."""
    return min(max(nbytes // (2 * THREADS), LEAST_PART), PLACE)


class Copiers:
    """Threads that make the large copies of a device. They start with the first copy.

    Parameters
    ----------
    call : callable
        Calls a function with the calling thread's own `Staging`, with the device's context current.
    """

    def __init__(self, call: Callable[[Callable[[Staging], None]], None]) -> None:
        self._call = call
        self._executor = ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1), "gpustats-copy")

    def copy(self, work: Callable[[Staging, Iterator[Part]], None], found: Sequence[Part], before: Any) -> None:
        """Have the threads do `work` with parts until none is left, after an event.

        The threads read for another caller while the bus still moves what they read for this one. An error or Ctrl-C ends it
        early, with no copy under way.
        """
        left, busy, ended = iter(found), set[Staging](), list[Any]()

        def copies(own: Staging) -> None:
            busy.add(own)
            try:
                with own.bus(before, ended):
                    work(own, left)
            finally:
                _exhaust(left)  # where there was an error, the other threads find none left
                busy.remove(own)

        futures = list[Future[None]]()
        try:
            try:
                for _ in range(min(THREADS, len(found))):
                    futures.append(self._executor.submit(self._call, copies))
            except RuntimeError:  # Python ends, and no thread begins anything new
                self._call(copies)
            for future in futures:
                future.result()
        finally:
            _exhaust(left)
            while busy:
                time.sleep(1e-3)
            for event in ended:  # which a thread records again for another caller: then this one waits for that, too
                checked(cu.cuEventSynchronize(event))


def _exhaust(left: Iterator[Part]) -> None:
    for _ in left:
        pass
