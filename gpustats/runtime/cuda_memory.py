"""Memory of CUDA devices and page-locked memory of the host, kept for the next who asks for as much.

To ask the driver for memory takes longer than most kernels, so blocks come in sizes of four steps an octave, and a block that
nobody refers to any more serves the next request of its size. Blocks of a device belong to a thread, whose work runs in its
own order: the memory is written again after all that read it. What other threads had waits until the device has done all.
"""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import DTypeLike

from .cuda_driver import Lease, array_at, checked, failed, synchronize_context
from .host_pool import rounded

LEAST_BYTES = 512  # of a block of a device
_FLAGS = cu.CU_MEMHOSTALLOC_PORTABLE | cu.CU_MEMHOSTALLOC_DEVICEMAP  # every device sees the memory


class Block:
    """Block of memory, as long as something refers to it; kernels take it as its address.

    Attributes
    ----------
    shared : bool
        Whether work of another thread than the pool's has had it.
    """

    __slots__ = ("_kept", "_pool", "address", "shared")

    def __init__(self, address: int, kept: list[int], pool: Pool) -> None:
        self.address, self._kept, self._pool, self.shared = address, kept, pool, False

    def __index__(self) -> int:
        return self.address

    __int__ = __index__

    def __del__(self, get_ident: Callable[[], int] = threading.get_ident) -> None:  # as the module's names go before the end
        if get_ident() == self._pool.thread and not self.shared:
            self._kept.append(self.address)
        else:  # another thread's work may still read it
            self._pool.dropped.append((self._kept, self.address))


class Pool:
    """Pool of a device's memory for one thread at a time."""

    def __init__(self, runtime: Any) -> None:
        self.thread = 0  # the thread that it serves
        self.dropped: list[tuple[list[int], int]] = []  # blocks that other threads gave back
        self._runtime = runtime
        self._kept: defaultdict[int, list[int]] = defaultdict(list)

    def allocate(self, nbytes: int) -> Block:
        """Block of at least so many bytes.

        Raises
        ------
        DriverError
            OutOfMemory where the memory does not suffice, though all pools have given back what they keep.
        """
        size = rounded(nbytes, LEAST_BYTES)
        kept = self._kept[size]
        if not kept and self.dropped:
            self._take_back()
        try:
            return Block(kept.pop(), kept, self)
        except IndexError:
            pass
        self._runtime.reenter()
        for free in (self.release, self._runtime.release_all):
            code, pointer = cu.cuMemAlloc(size)
            if not code:
                return Block(int(pointer), kept, self)
            if code != cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                raise failed(code, "cuMemAlloc")
            free()
        return Block(int(checked(cu.cuMemAlloc(nbytes))), self._kept[nbytes], self)  # no larger than it has to be

    def release(self) -> None:
        """Give the driver all blocks that nobody uses. It waits for the device, whose context is current."""
        self._take_back()
        for kept in list(self._kept.values()):
            with contextlib.suppress(IndexError):  # the thread may take one meanwhile
                while True:
                    cu.cuMemFree(kept.pop())

    def _take_back(self) -> None:
        """Keep again what other threads gave back, once all work of the device is done."""
        found: list[tuple[list[int], int]] = []  # what comes later may be in use later
        with contextlib.suppress(IndexError):
            while True:
                found.append(self.dropped.pop())
        if not found:
            return
        try:
            self._runtime.reenter()
            synchronize_context()
        except BaseException:
            self.dropped += found
            raise
        for kept, address in found:
            kept.append(address)


class PageLocked:
    """Pool of page-locked memory of the host, which the device reads and writes at the same addresses."""

    def __init__(self) -> None:
        self._kept: defaultdict[int, list[int]] = defaultdict(list)

    def empty(self, n: int, dtype: DTypeLike) -> np.ndarray:
        """Array of n numbers, not initialised. A context is current."""
        dtype = np.dtype(dtype)
        size = rounded(n * dtype.itemsize)
        lease = Lease(self._kept[size], lambda: int(checked(cu.cuMemHostAlloc(size, _FLAGS))))
        return array_at(lease.thing, (n,), dtype, lease)

    def clear(self) -> None:
        """Keep nothing that nobody uses, because the context in which it was made is lost."""
        self._kept.clear()

    def zeros(self, n: int, dtype: DTypeLike) -> np.ndarray:
        array = self.empty(n, dtype)
        array[:] = 0
        return array


page_locked = PageLocked()
