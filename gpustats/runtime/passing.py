"""Small copies to a CUDA device, and from it, that do not wait for the kernels before them.

The driver copies at once from page-locked memory only. From other memory it does so when the stream's work is done, so that a
sequence of calls whose parameters are copied would be as slow as the host and the device together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from . import thresholds
from .cuda_driver import address_of, checked, new_event
from .cuda_memory import page_locked
from .types import DType, Shape

HALF_BYTES = thresholds.RUNTIME_PASSING_BYTES.value  # bytes of each half of the memory that copies pass through


class Passing:
    """Small copies of one thread on one device; the device's context is current in all calls."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        # Page-locked memory, its address, and when the device has read it.
        self._halves: list[tuple[np.ndarray, int, Any]] = []
        self._events = new_event(), new_event()  # of the context that is current now
        self._end = 0  # of what is used of the first half

    def to_device(self, pointer: int, data: np.ndarray) -> None:
        """Copy at most `HALF_BYTES` bytes, which may change as soon as this returns, ahead of the stream's next work."""
        if not self._halves:
            halves = [page_locked.empty(HALF_BYTES, np.uint8) for _ in range(2)]
            self._halves = [(half, address_of(half), event) for half, event in zip(halves, self._events, strict=True)]
        if self._end + data.size > HALF_BYTES:
            full, other = self._halves
            checked(cu.cuEventRecord(full[2], self._stream))
            checked(cu.cuEventSynchronize(other[2]))
            self._halves, self._end = [other, full], 0
        half, address, _ = self._halves[0]
        half[self._end : self._end + data.size] = data
        checked(cu.cuMemcpyHtoDAsync(pointer, address + self._end, data.size, self._stream))
        self._end += data.size + -data.size % 64

    def to_host(self, pointer: int, shape: Shape, dtype: DType) -> np.ndarray:
        """Start a copy; the array, in page-locked memory, has its numbers when the stream's work is done."""
        arriving = page_locked.empty(math.prod(shape), dtype)
        if arriving.size:
            checked(cu.cuMemcpyDtoHAsync(address_of(arriving), pointer, arriving.nbytes, self._stream))
        return arriving.reshape(shape)
