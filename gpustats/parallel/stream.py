"""Stream of rows of which a device holds only some at a time: while a kernel works on some, the next are read and copied."""

from __future__ import annotations

import contextlib
import copy
import math
import threading
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from ..display.bars import bar
from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.choose import stay
from ..runtime.host_memory import HostRows
from ..runtime.types import Array
from .closing import PATIENCE, once_gone
from .pieces import Data, Divisible, Options, Pieces
from .ragged import Ragged
from .rows import Arguments, bounded, chunks, read

BUFFERS = 2  # pieces that pass through the device: one is computed on, the next arrives
#: Pieces that fill the memory; all that do not pass through stay, and are read once.
MOST_PIECES, FEWEST_PIECES = thresholds.PARALLEL_MOST_PIECES.value, thresholds.PARALLEL_FEWEST_PIECES.value
#: Bytes of a piece below which a call may take longer than the copy: then FEWEST_PIECES pieces fill the memory.
SMALLEST_PIECE = thresholds.PARALLEL_SMALLEST_PIECE.value
FREE_MARGIN = 0.3  # of what a device has free: for results, and because pools round sizes up by as much as a quarter
SMALL_DATA = 64 << 20  # bytes of data for which nobody needs to ask how much is free


def fits(data: Data, options: Options, runtime: Runtime) -> bool:
    """True if all rows go to the device at once."""
    nbytes = data.nbytes(0, data.n_rows)
    return options.chunk is None and (
        (options.memory is None and nbytes <= SMALL_DATA) or nbytes <= budget(options, runtime, nbytes)
    )  # fmt: skip


def budget(options: Options, runtime: Runtime, wanted: int) -> int:
    """Bytes of data that may lie on the device, at most, where `wanted` are to lie there."""
    if options.memory is not None:
        return int(options.memory)
    if (room := _room(runtime)) < wanted:
        runtime.release()  # what former data have left in the thread's pool is free
        room = _room(runtime)
    return room


def _room(runtime: Runtime) -> int:
    """Bytes of data that a device can take now."""
    free = runtime.free_memory()
    return int((1 - FREE_MARGIN) * (runtime.device.memory if free is None else free))


class StreamedPieces(Pieces):
    """Pieces that pass through a device, but for those that it has room to keep.

    The option ``chunk`` is the number of rows of a piece, ``memory`` the most bytes of data on the device.
    """

    def __init__(self, model: Divisible, data: Data, options: Options, runtime: Runtime):
        # A copy of the model: this is a part of the other one, and a circle would keep the data on the device for a while.
        self._model, self._data, self._runtime = copy.copy(model), data.arrays, runtime
        nbytes = data.nbytes(0, data.n_rows)
        limit = budget(options, runtime, nbytes)
        if options.chunk is not None:
            self.ranges = chunks(data.n_rows, options.chunk)
        else:
            most = max(limit // MOST_PIECES, min(limit // FEWEST_PIECES, SMALLEST_PIECE))
            if isinstance(data.row_bytes, int):
                rows = max(most // data.row_bytes, 1)
                self.ranges = chunks(data.n_rows, math.ceil(data.n_rows / max(math.ceil(data.n_rows / rows), 1)) or 1)
            else:
                assert data.bytes_before is not None
                self.ranges = bounded(data.bytes_before, most)
        largest, rows = max((data.nbytes(first, end), end - first) for first, end in self.ranges)
        kept = len(self.ranges)
        if nbytes > limit:
            kept = limit // largest - BUFFERS
            if kept < 0:
                advice = "choose a smaller chunk" if rows > 1 else "allow more memory"
                taken = f"{BUFFERS} pieces of {rows} rows take {BUFFERS * largest} bytes of the device"
                raise ValueError(f"{taken}, and memory={limit}: {advice}")
        most_rows = max(end - first for first, end in self.ranges)
        self.where = f"{runtime.device.id}, {len(self.ranges)} pieces of {most_rows} rows, {kept} kept"
        # A thread for each piece that passes through, so that the memory in which one has arrived is that of a later one; a
        # single one where nobody knows whether the data can be read by two.
        several = all(isinstance(v, (np.ndarray, HostRows, Ragged)) for v in self._data.values())
        self._readers = [ThreadPoolExecutor(1, "gpustats-reader", stay, (runtime,)) for _ in range(BUFFERS if several else 1)]
        self._passing = threading.Lock()  # the budget is for one call
        self._stopped = threading.Event()
        self._kept = [self._readers[0].submit(self._arrived, i, {}).result() for i in range(kept)]
        once_gone(self, _close, self._readers, self._kept)

    def _arriving(self, i: int, done: dict[int, Divisible]) -> Future[Divisible]:
        """Future of a piece on its way to the device."""
        return self._readers[i % len(self._readers)].submit(self._arrived, i, done)

    def _arrived(self, i: int, done: dict[int, Divisible]) -> Divisible:
        """Piece on the device: made in the memory of a finished piece in its place, or else anew."""
        rows = self.ranges[i]
        data = {n: v.part(*rows) if isinstance(v, HostRows) else read(v, *rows, n) for n, v in self._data.items()}
        piece = done.pop(i % BUFFERS, None)
        if piece is None or not self._refilled(piece, data):
            piece = None  # before the next one takes its memory
            piece = self._model._piece(data, self._runtime)
        self._runtime.synchronize()  # kernels of another thread will read what this one's copies write
        return piece

    def _refilled(self, piece: Divisible, data: Mapping[str, np.ndarray | HostRows]) -> bool:
        """True if a piece has other rows now: its plans for calls stay."""
        places = piece._places()
        if places is None or any(tuple(places[n].shape) != tuple(v.shape) for n, v in data.items()):
            return False
        self._runtime.fill([(places[n], v) for n, v in data.items()])
        return True

    def held(self) -> dict[str, Array]:
        return self._data

    def stop(self) -> None:
        """End a call that another thread is at, before its next piece: there it raises KeyboardInterrupt."""
        self._stopped.set()

    def map(self, method: str, calls: Iterable[Arguments]) -> Generator[Any, None, None]:
        calls = iter(calls)
        if len(self._kept) == len(self.ranges):
            for piece, (args, kwargs) in zip(self._kept, calls, strict=True):
                yield getattr(piece, method)(*args, **kwargs)
            return
        self._runtime.synchronize()  # raises an error in a forked child, which has no thread that reads
        with self._passing, bar(self.ranges[-1][1], what="rows") as advance:
            coming = iter(range(len(self._kept), len(self.ranges)))
            arriving: deque[Future[Divisible]] = deque()
            done: dict[int, Divisible] = {}
            patience = None
            self._stopped.clear()
            try:
                for i, (args, kwargs) in enumerate(calls):
                    if self._stopped.is_set():
                        raise KeyboardInterrupt
                    while len(arriving) < BUFFERS and (following := next(coming, None)) is not None:
                        arriving.append(self._arriving(following, done))
                    piece = self._kept[i] if i < len(self._kept) else arriving.popleft().result()
                    result = getattr(piece, method)(*args, **kwargs)
                    if i >= len(self._kept):
                        done[i % BUFFERS] = piece
                    del piece  # before the next one is let in
                    advance(self.ranges[i][1] - self.ranges[i][0])
                    yield result
            except KeyboardInterrupt:
                patience = PATIENCE
                raise
            finally:
                done.clear()
                # An error ends the call early: what is on its way does not outlive it.
                wait([future for future in arriving if not future.cancel()], patience)


def _close(readers: Sequence[Executor], kept: list[Divisible]) -> None:
    """Free the pieces that were kept in the thread whose pool they came from, then end all threads and their pools."""
    with contextlib.suppress(RuntimeError):  # at the end of the process there are no threads any more
        readers[0].submit(kept.clear)
    for reader in readers:
        reader.shutdown(wait=False)
