"""NumPy arrays whose memory is used again.

The first touch of fresh memory costs as much as writing it: large results for the host take theirs from a pool.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike

from .types import Shape

ALIGNMENT = 4096


class Block(NamedTuple):
    """Memory and its address, which NumPy takes long to tell."""

    memory: np.ndarray
    address: int


class Pool(Protocol):
    def give_back(self, block: Block) -> None: ...


class Lease:
    """Owner of a block as long as an array, or a view of one, refers to it."""

    __slots__ = ("__array_interface__", "_block", "_pool")

    def __init__(self, pool: Pool, block: Block, shape: Shape, dtype: np.dtype) -> None:
        self._pool, self._block = pool, block
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (block.address, False), "version": 3}

    def __del__(self) -> None:
        self._pool.give_back(self._block)


class HostPool:
    """Pool of page-aligned blocks of host memory, which return when the last array on them is gone.

    Parameters
    ----------
    limit : int
        The most bytes kept for later.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.kept = limit, 0
        self._blocks: defaultdict[int, list[Block]] = defaultdict(list)
        self._lock = threading.RLock()  # a garbage collection inside the lock may give a block back

    def empty(self, shape: Shape, dtype: DTypeLike) -> np.ndarray:
        dtype = np.dtype(dtype)
        size = rounded(math.prod(shape) * dtype.itemsize)
        with self._lock:
            blocks = self._blocks[size]
            block = blocks.pop() if blocks else None
            self.kept -= size if block is not None else 0
        return np.asarray(Lease(self, block or aligned(size), shape, dtype))

    def release(self) -> None:
        """Give all unused blocks to the system."""
        with self._lock:
            self._blocks.clear()
            self.kept = 0

    def give_back(self, block: Block) -> None:
        with self._lock:
            if self.kept + block.memory.size <= self.limit:
                self.kept += block.memory.size
                self._blocks[block.memory.size].append(block)


def aligned(size: int) -> Block:
    """New block, which begins with a page."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return Block(raw[start : start + size], raw.ctypes.data + start)


def rounded(nbytes: int, least: int = ALIGNMENT) -> int:
    """Bytes rounded up to the next of four steps an octave, and to `least`, so that similar sizes share blocks."""
    step = max(least, 1 << max(nbytes - 1, 0).bit_length() >> 3)
    return max(-(-nbytes // step) * step, least)
