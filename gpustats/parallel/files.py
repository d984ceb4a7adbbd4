"""Arrays in files: read from the file itself, and refused once it has changed.

Where a program reads mapped memory that its file does not have any more, the system ends it. So the rows of a memory-mapped
array are read by the functions that read files, and after each reading it is asked whether the file is still as it was.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime import thresholds
from ..runtime.host_memory import HostRows
from ..runtime.types import DType, Shape

if TYPE_CHECKING:
    import h5py

#: Bytes that are read at a time where numbers do not lie one after another.
READ_BLOCK = thresholds.PARALLEL_READ_BLOCK.value
CLOCK_TICK = 10_000_000  # nanoseconds between which some systems cannot tell the times of two changes


class Stamp(NamedTuple):
    """Stamp of a file, by which a change is noticed: its size in bytes, and the time of its last change, in nanoseconds."""

    size: int
    written: int

    def __str__(self) -> str:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.written // 10**9))
        return f"{self.size} bytes, written {when}.{self.written % 10**9:09}"


class File:
    """File that must stay as it is. Pickled by its path, under which the same file must lie elsewhere.

    `name` is that of the array in the file, for errors, and `stamp` the one that the file must have, by default the present
    one. RuntimeError, also from later checks, where the file has changed, or another one has its path.
    """

    def __init__(self, name: str, path: str, stamp: Stamp | None = None):
        self.name, self.path = name, path
        self._descriptor = os.open(path, os.O_RDONLY)  # of its own: the path may lead elsewhere tomorrow
        weakref.finalize(self, os.close, self._descriptor).atexit = False
        now = os.fstat(self._descriptor)
        if stamp is None and 0 <= (age := time.time_ns() - now.st_mtime_ns) < CLOCK_TICK:
            time.sleep((CLOCK_TICK - age) / 1e9)  # so that the next change has another time
            now = os.fstat(self._descriptor)
        self._identity = now.st_dev, now.st_ino
        self._stamp = stamp or Stamp(now.st_size, now.st_mtime_ns)
        self.check()

    def __reduce__(self) -> tuple[object, ...]:
        self.check()
        return File, (self.name, self.path, self._stamp)

    def check(self) -> None:
        """Check of the file: RuntimeError where it has changed."""
        now = os.fstat(self._descriptor)
        if (now.st_size, now.st_mtime_ns) != self._stamp:
            found = Stamp(now.st_size, now.st_mtime_ns)
            raise RuntimeError(
                f"{self.name}: the file {self.path} has changed since the model was made ({self._stamp}; now {found}): "
                "make a new model of it"
            )
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return  # it has no name any more, but lives on for those who have it open
        if (there.st_dev, there.st_ino) != self._identity:
            raise RuntimeError(f"{self.name}: the file {self.path} was replaced by another one: make a new model of it")

    def read(self, block: memoryview, start: int) -> None:
        """Fill a block with the bytes from `start` on."""
        done = 0
        while done < len(block):
            n = os.preadv(self._descriptor, [block[done:]], start + done)
            if not n:
                self.check()
                raise RuntimeError(f"{self.name}: the file {self.path} ends {len(block) - done} bytes too early")
            done += n


class FileRows(HostRows):
    """Rows of an array whose numbers lie in a file, the first of them at the byte `start`. Pickled without them."""

    def __init__(self, file: File, dtype: DType, shape: Shape, strides: Shape, start: int):
        self._file, self._start = file, start
        self.dtype, self.shape, self.strides = dtype, shape, strides

    def part(self, first: int, end: int) -> FileRows:
        shape, start = (end - first, *self.shape[1:]), self._start + first * self.strides[0]
        return FileRows(self._file, self.dtype, shape, self.strides, start)

    def read(self, out: np.ndarray) -> None:
        self._fill(out, self._start, self.strides)
        self._file.check()

    def _fill(self, out: np.ndarray, start: int, strides: Shape) -> None:
        """Fill an array whose first number lies at `start` of the file."""
        if out.flags.c_contiguous and strides == out.strides:
            self._file.read(out.reshape(-1).view(np.uint8).data, start)
            return
        extents = [(n - 1) * s for n, s in zip(out.shape, strides, strict=True)]
        if (span := sum(map(abs, extents)) + out.itemsize) <= READ_BLOCK:
            first = sum(min(extent, 0) for extent in extents)
            block = bytearray(span)
            self._file.read(memoryview(block), start + first)
            out[...] = np.ndarray(out.shape, out.dtype, block, -first, strides)
            return
        axis = max(range(out.ndim), key=lambda i: abs(extents[i]))
        half = out.shape[axis] // 2
        before = (slice(None),) * axis
        self._fill(out[*before, :half], start, strides)
        self._fill(out[*before, half:], start + half * strides[axis], strides)


class HDF5Rows:
    """Rows of an HDF5 data set in a file that is open for reading only. Pickled without them."""

    def __init__(self, file: File, dataset: h5py.Dataset):
        self._file, self._dataset = file, dataset
        self.dtype, self.shape = dataset.dtype, dataset.shape

    def __reduce__(self) -> tuple[object, ...]:
        return _opened, (self._file, self._dataset.name)

    def __getitem__(self, rows: slice) -> np.ndarray:
        found: np.ndarray = self._dataset[rows]
        self._file.check()
        return found


def _opened(file: File, dataset: str) -> HDF5Rows:
    """Data set of a name, in a file that is opened anew."""
    import h5py

    return HDF5Rows(file, h5py.File(file.path, "r")[dataset])


def hdf5_rows(value: object, name: str) -> HDF5Rows | None:
    """Rows of an HDF5 data set whose file nobody is meant to change; None for another array."""
    h5py = sys.modules.get("h5py")  # who has a data set has imported it
    if h5py is None or not isinstance(value, h5py.Dataset):
        return None
    file = value.file
    if file.mode != "r" or file.swmr_mode or file.driver == "core":
        return None
    try:
        return HDF5Rows(File(name, os.path.abspath(file.filename)), value)
    except OSError:  # it lies in no file, or in several
        return None


class MappedRows(HostRows):
    """Rows of a memory-mapped array, read from memory because the file is unknown or differs from the array.

    It is a part of the memory `mapped`, whose file must have `size` bytes; by default those that it has now.
    """

    def __init__(self, name: str, array: np.ndarray, mapped: mmap.mmap, size: int | None = None):
        self._name, self._array, self._mapped = name, array, mapped
        self._size = mapped.size() if size is None else size
        self.dtype, self.shape = array.dtype, array.shape

    def __reduce__(self) -> tuple[object, ...]:
        return np.asarray, (self[:],)

    def part(self, first: int, end: int) -> MappedRows:
        return MappedRows(self._name, self._array[first:end], self._mapped, self._size)

    def read(self, out: np.ndarray) -> None:
        self.check()
        np.copyto(out, self._array)
        self.check()

    def check(self) -> None:
        """Check of the file's size: RuntimeError where it has changed."""
        if (size := self._mapped.size()) != self._size:
            raise RuntimeError(
                f"{self._name}: the file behind this memory-mapped array had {self._size} bytes when the model was made, and "
                f"has {size} now: make a new model of it"
            )


def mapped_rows(array: np.ndarray, name: str) -> FileRows | MappedRows | None:
    """Rows of an array that lies in a memory-mapped file; None for another array.

    The rows are read from the memory where the file has no path, where changes of the memory do not get to the file (mode
    ``c``), and on Windows, which does not let a file that is mapped become shorter.

    ValueError where the file has become too short, RuntimeError where another file has the path by now.
    """
    base: Any = array
    owner: np.memmap | None = None
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            owner = base  # the last one is that which mapped the file: its views do not know where they start
        base = base.base
    mapped = base.obj if isinstance(base, memoryview) else base
    if not isinstance(mapped, mmap.mmap):
        return None
    try:
        size = mapped.size()
    except (OSError, ValueError):  # no file is behind it
        return None
    memory = np.frombuffer(mapped, np.uint8)
    start = array.ctypes.data - memory.ctypes.data
    offset = owner.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY if owner is not None else 0
    if (missing := offset + len(memory) - size) > 0:
        raise ValueError(
            f"{name}: the file behind this memory-mapped array ends {missing} bytes before what was mapped of it"
        )
    if owner is None or owner.filename is None or owner.mode == "c" or not hasattr(os, "preadv"):
        return MappedRows(name, array, mapped)
    if owner.mode != "r":
        owner.flush()  # what its owner has written until now is no later change of the file
    path = os.path.abspath(owner.filename)
    try:
        rows = FileRows(File(name, path), array.dtype, array.shape, array.strides, offset + start)
    except OSError:  # nothing has its path any more
        return MappedRows(name, array, mapped)
    n = array.shape[0]
    for first in (0, n - 1)[: min(n, 2)]:
        if rows[first : first + 1].tobytes() != array[first : first + 1].tobytes():
            raise RuntimeError(f"{name}: {path} is not the file any more that was mapped to memory: map it anew")
    return rows
