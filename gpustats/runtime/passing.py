"""Small copies to a CUDA device, and from it, that do not wait for the kernels before them.

The driver copies at once from page-locked memory only. From other memory it does so when the stream's work is done, so that a
sequence of calls whose parameters are copied would be as slow as the host and the device together.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from . import thresholds
from .cuda_driver import address_of, checked, new_event
from .cuda_memory import page_locked
from .types import Array

HALF_BYTES = thresholds.RUNTIME_PASSING_BYTES.value  # bytes of each half of the memory that copies pass through

_ALIGNED = 256  # bytes, of which the place of an array that travels with others is a multiple


def together(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Bytes of arrays, one behind another, and where each begins."""
    ends = list(itertools.accumulate(array.nbytes + -array.nbytes % _ALIGNED for array in arrays))
    data, starts = np.zeros(max(ends, default=0), np.uint8), [0, *ends][: len(arrays)]
    for start, array in zip(starts, arrays, strict=True):
        data[start : start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return data, starts


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

    def to_hosts(self, natives: Sequence[Array]) -> list[np.ndarray]:
        """Start copies of contiguous arrays; those in page-locked memory have the numbers when the stream's work is done."""
        ends = list(itertools.accumulate(native.nbytes + -native.nbytes % 64 for native in natives))
        arriving = page_locked.empty(max(ends[-1], 1), np.uint8)
        address, found = address_of(arriving), list[np.ndarray]()
        for start, native in zip([0, *ends], natives, strict=False):
            if nbytes := native.nbytes:
                checked(cu.cuMemcpyDtoHAsync(address + start, int(native.ptr), nbytes, self._stream))
            found.append(arriving[start : start + nbytes].view(native.dtype).reshape(native.shape))
        return found
