"""Rows of Zarr arrays: several threads read and decompress chunks at once.

Zarr makes all its reading in the event loop of one thread, which is slower than the bus to a GPU. The threads that copy rows to
a device have loops of their own.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.host_memory import HostRows
from .declared import as_declared

if TYPE_CHECKING:
    import zarr


class ZarrRows(HostRows):
    """Rows of a Zarr array, from `first` to `end`; by default all. Pickled as it is."""

    def __init__(self, name: str, array: zarr.Array[Any], first: int = 0, end: int | None = None):
        self._name, self._array, self._first = name, array, first
        self._end = array.shape[0] if end is None else end
        self.shape, self.dtype = (self._end - first, *array.shape[1:]), array.dtype

    def part(self, first: int, end: int) -> ZarrRows:
        return ZarrRows(self._name, self._array, self._first + first, self._first + end)

    def together(self, rows: int) -> Iterator[tuple[int, int]]:
        chunk: int = (self._array.shards or self._array.chunks)[0]
        step = max(rows // chunk, 1) * chunk
        ends = [*range((self._first // step + 1) * step, self._end, step), self._end]
        for first, end in zip([self._first, *ends[:-1]], ends, strict=True):
            yield first - self._first, end - self._first

    def array(self) -> np.ndarray:
        rows = slice(self._first, self._end)
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # there is none
            found = _loop().run_until_complete(self._array.async_array.getitem(rows))
        else:  # as in a notebook, whose thread cannot have another
            found = self._array[rows]
        return as_declared(found, self.shape, self.dtype, f"{self._name}[{self._first}:{self._end}]")

    def read(self, out: np.ndarray) -> None:
        np.copyto(out, self.array())


def zarr_rows(value: object, name: str) -> ZarrRows | None:
    """Rows of a Zarr array in files of this machine; None for another array, also of another store.

    Stores that speak to servers may be bound to one event loop.
    """
    zarr = sys.modules.get("zarr")  # who has an array has imported it
    if zarr is None or not isinstance(value, zarr.Array) or not hasattr(value, "async_array"):
        return None
    local = zarr.storage.LocalStore, zarr.storage.MemoryStore
    return ZarrRows(name, value) if value.shape and isinstance(value.store, local) else None


class _Loop:
    """Event loop that is closed when its thread ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self.loop.close()


_thread = threading.local()


def _loop() -> asyncio.AbstractEventLoop:
    """Event loop of the calling thread."""
    if not hasattr(_thread, "own"):
        _thread.own = _Loop()
    loop: asyncio.AbstractEventLoop = _thread.own.loop
    return loop
