"""Results on the host in page-locked memory, which a device fills at the full speed of the bus.

The memory is the system's own, registered with CUDA's driver: a process that is forked reads it like any other. To register it
takes longer than one copy without, so a size has to be asked for twice.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import DTypeLike

from . import thresholds
from .base import nbytes_of
from .cuda_driver import checked
from .host_pool import Block, HostPool, Lease, aligned, rounded
from .staging import LARGE_RESULT
from .types import Shape

LEAST_REGISTERED = thresholds.RUNTIME_LEAST_REGISTERED.value  # bytes of a result in registered memory
MOST_REGISTERED = thresholds.RUNTIME_MOST_REGISTERED.value  # bytes of all of these
MOST_KEPT = 4 << 30  # bytes of other memory kept for later results
_PORTABLE = cu.CU_MEMHOSTREGISTER_PORTABLE


class Registered:
    """Pool of registered blocks of host memory, which return when the last array on them is gone.

    Parameters
    ----------
    most : int
        The most bytes that are registered at once.
    enter : callable
        Makes a device's context current.
    """

    def __init__(self, most: int, enter: Callable[[], object]) -> None:
        self._most, self._enter, self._locked = most, enter, 0
        self._kept: defaultdict[int, list[Block]] = defaultdict(list)
        self._asked: set[int] = set()
        self._lock = threading.RLock()  # a garbage collection inside the lock may give a block back

    def empty(self, shape: Shape, dtype: DTypeLike) -> np.ndarray | None:
        """Array, not initialised; None the first time that a size is asked for, and where too much is in use."""
        dtype = np.dtype(dtype)
        size = rounded(math.prod(shape) * dtype.itemsize)
        with self._lock:
            kept = self._kept[size]
            block = kept.pop() if kept else self._new(size)
        return None if block is None else np.asarray(Lease(self, block, shape, dtype))

    def release(self) -> None:
        """Give all unused blocks to the system."""
        with self._lock:
            self._enter()
            for blocks in self._kept.values():
                while blocks:
                    block = blocks.pop()
                    checked(cu.cuMemHostUnregister(block.address))
                    self._locked -= block.memory.size

    def give_back(self, block: Block) -> None:
        with self._lock:
            self._kept[block.memory.size].append(block)

    def _new(self, size: int) -> Block | None:
        if size > self._most // 4 or size not in self._asked:
            self._asked.add(size)
            return None
        if self._locked + size > self._most:
            self.release()
        if self._locked + size > self._most:
            return None
        self._enter()
        block = aligned(size)
        if cu.cuMemHostRegister(block.address, size, _PORTABLE)[0]:
            self._most = 0  # the system locks no more
            return None
        self._locked += size
        return block


class HostResults:
    """Memory for results of a device on the host, which is used again where it is large."""

    def __init__(self, enter: Callable[[], object]) -> None:
        self._registered, self._pool = Registered(MOST_REGISTERED, enter), HostPool(MOST_KEPT)

    def empty(self, shape: Shape, dtype: DTypeLike) -> tuple[np.ndarray, bool]:
        """Array, not initialised, and whether it lies in registered memory."""
        nbytes = nbytes_of(shape, dtype)
        if nbytes >= LEAST_REGISTERED and (found := self._registered.empty(shape, dtype)) is not None:
            return found, True
        return np.empty(shape, dtype) if nbytes < LARGE_RESULT else self._pool.empty(shape, dtype), False
