"""Small copies to a CUDA device that do not wait for the kernels before them.

The driver copies at once from page-locked memory only. From other memory it does so when the stream's work is done, so that a
sequence of calls whose parameters are copied would be as slow as the host and the device together.
"""

from __future__ import annotations

import numpy as np
import pycuda.driver as drv

from . import thresholds

HALF_BYTES = thresholds.RUNTIME_PASSING_BYTES.value  # bytes of each half of the memory that copies pass through


class Passing:
    """Small copies of one thread on one device; the device's context is current in all calls.
    """

    def __init__(self, stream: drv.Stream | None) -> None:
        self._stream = stream
        self._halves: list[tuple[np.ndarray, drv.Event]] = []  # page-locked memory, and when the device has read it
        self._end = 0  # of what is used of the first half

    def to_device(self, pointer: int, data: np.ndarray) -> None:
        """Copy at most `HALF_BYTES` bytes, which may change as soon as this returns, ahead of the stream's next work."""
        if not self._halves:
            flags = drv.event_flags.DISABLE_TIMING
            self._halves = [(drv.pagelocked_empty(HALF_BYTES, np.uint8), drv.Event(flags)) for _ in range(2)]
        if self._end + data.size > HALF_BYTES:
            full = self._halves.pop(0)
            full[1].record(self._stream)
            self._halves.append(full)
            self._halves[0][1].synchronize()
            self._end = 0
        place = self._halves[0][0][self._end : self._end + data.size]
        place[:] = data
        drv.memcpy_htod_async(pointer, place, self._stream)
        self._end += data.size + -data.size % 64
