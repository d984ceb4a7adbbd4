"""Large copies between CUDA devices and NumPy arrays.

The device reaches only page-locked memory at full speed. Large copies pass through a ring of such chunks, which several
host threads fill or empty at once: one thread alone is slower than the bus.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pycuda.driver as drv

CHUNK = 4 << 20
RING = 12
LARGE = 2 * CHUNK  # smaller copies are left to the driver


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(8, os.cpu_count() or 1), thread_name_prefix="gpustats-copy")


class Staging:
    """The copies of one thread on one device; the device's context is current in all calls."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._ring: list[tuple[np.ndarray, Any]] = []

    def _chunks(self, array: np.ndarray) -> Iterator[tuple[np.ndarray, Any, np.ndarray, int]]:
        """A place in the ring and its event for each piece of the array, and where the piece starts."""
        if not self._ring:
            flags = drv.event_flags.DISABLE_TIMING
            self._ring = [(drv.pagelocked_empty(CHUNK, np.uint8), drv.Event(flags)) for _ in range(RING)]
        data = array.reshape(-1).view(np.uint8)
        for number, start in enumerate(range(0, data.size, CHUNK)):
            place, event = self._ring[number % RING]
            piece = data[start : start + CHUNK]
            yield place[: piece.size], event, piece, start

    def to_host(self, pointer: int, out: np.ndarray) -> None:
        """Fill the C-contiguous array `out`, after all work in the stream."""
        if out.nbytes < LARGE:
            if self._stream is None:
                drv.memcpy_dtoh(out, pointer)
            else:
                drv.memcpy_dtoh_async(out, pointer, self._stream)
                self._stream.synchronize()
            return

        def empty(event: Any, place: np.ndarray, piece: np.ndarray) -> None:
            event.synchronize()
            np.copyto(piece, place)

        busy: deque[Future[None]] = deque()
        for place, event, piece, start in self._chunks(out):
            if len(busy) == RING:
                busy.popleft().result()
            drv.memcpy_dtoh_async(place, pointer + start, self._stream)
            event.record(self._stream)
            busy.append(_workers().submit(empty, event, place, piece))
        for copy in busy:
            copy.result()

    def to_device(self, pointer: int, array: np.ndarray) -> None:
        """Copy a C-contiguous array, which may change as soon as this returns."""
        if array.nbytes < LARGE:
            if self._stream is None:
                drv.memcpy_htod(pointer, array)
            else:
                drv.memcpy_htod_async(pointer, array, self._stream)
                self._stream.synchronize()
            return

        def fill(event: Any, place: np.ndarray, piece: np.ndarray) -> None:
            event.synchronize()  # the device may still be reading the chunk
            np.copyto(place, piece)

        def send() -> None:
            copy, place, event, start = busy.popleft()
            copy.result()
            drv.memcpy_htod_async(pointer + start, place, self._stream)
            event.record(self._stream)

        busy: deque[tuple[Future[None], np.ndarray, Any, int]] = deque()
        for place, event, piece, start in self._chunks(array):
            if len(busy) == RING:
                send()
            busy.append((_workers().submit(fill, event, place, piece), place, event, start))
        while busy:
            send()
