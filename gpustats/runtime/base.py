"""Base classes of the backends: a device, kernels compiled for it, memory, and time.

Nothing here knows what the kernels compute. One runtime serves one device for the whole process and all its threads;
each thread has its own queue of work, its own memory pool and its own place for results, so that threads never wait for
one another and memory is only reused in the order in which a thread's work runs.
"""

from __future__ import annotations

import os
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..display.html import Shown
from ..errors import DeviceLostError
from ..language.printer import ENDLESS_MARK
from .cached import cached_property
from .host_memory import Copies, HostRows
from .replay import Enqueued, Recording, Replay, Start
from .types import Array, DType, Grid, Handle, Shape
from .unusable import Unusable, forked_from
from .waiting import keep_for_ever


@dataclass(frozen=True)
class Device(Shown):
    """Device that gpustats can compute on.

    Attributes
    ----------
    id : str
        Name that `gpustats.use` takes: ``"cuda:0"``, ``"opencl:1"``; counted per backend.
    backend, type : str
        ``"cuda"`` or ``"opencl"``; ``"gpu"``, ``"cpu"`` or ``"accelerator"``.
    name, vendor, driver : str
        As the device's driver gives them.
    memory : int
        Bytes of device memory.
    compute_units : int
        Multiprocessors of a GPU, cores of a CPU.
    warp : int
        Threads that run in lockstep; 1 on a CPU.
    shared_memory : int
        The most bytes of shared (local) memory that a block of threads may have.
    max_threads : int
        The most threads in a block.
    double : bool
        Whether the device computes in float64.
    products : bool
        Whether it has units that multiply small matrices of float64 at once, faster than its other units do.
    cluster : int
        The most blocks of threads that can use one another's shared memory.
    """

    id: str
    backend: str
    type: str
    name: str
    vendor: str
    driver: str
    memory: int
    compute_units: int
    warp: int
    shared_memory: int
    max_threads: int
    double: bool
    products: bool = False
    cluster: int = 1

    def __str__(self) -> str:
        return f"{self.id}: {self.name} ({self.type}, {self.driver}, {self.memory / 2**30:.1f} GiB)"


class Result(NamedTuple):
    """Small piece of memory that a kernel writes and the host reads: see `Runtime.result`."""

    handle: Handle
    view: np.ndarray  # uint8; valid once `Runtime.fetch` has returned


class Kernel(ABC):
    """Compiled kernel with a fixed block size.

    ``kernel(grid, *args)`` starts ``grid = (x, y)`` blocks in the calling thread's order and returns at once.
    """

    registers: int | None = None  # a thread's, and its spilled or indexed memory in bytes, where the driver tells
    local: int | None = None

    def __init__(self, source: str) -> None:
        self.soon: set[Grid] = set()  # the grids for which it was soon done when it was last waited for
        # Whether it has a loop without a plain end: its time may depend on a call's numbers, and `soon` says nothing.
        self.endless = ENDLESS_MARK in source

    @abstractmethod
    def __call__(self, grid: Grid, *args: object) -> None: ...


class Runtime(ABC):
    """Device and everything that is needed to compute on it. Safe to use from several threads."""

    device: Device
    dialect: str  # the language of `kernel`'s sources: "cuda" or "opencl"
    host_visible: bool  # whether kernels read and write the host's own memory, so that NumPy arrays need no copy
    moves: bool = False  # whether what is recorded may take arrays that lie elsewhere in each call, as `Moved`
    arrays: str = ""  # the kind of the device arrays that it gives, where there are several: see `give`
    lost: str = ""  # message once the device is lost: every call raises DeviceLostError then; empty until then
    _error: type[BaseException]  # the driver's
    local: Any  # what each thread has of its own
    _kernels: Mapping[Any, Kernel]  # those that are compiled

    def __init__(self) -> None:
        _alive.add(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.device}>"

    @abstractmethod
    def kernel(self, source: str, name: str, threads: int, shared: int = 0) -> Kernel:
        """Entry `name` of `source`, compiled at most once per source.

        Parameters
        ----------
        source : str
            In the runtime's dialect. CUDA entries are ``extern "C"``. The types of the arguments are read from it: see
            `signature.signature_of`.
        threads : int
            In a block.
        shared : int
            Bytes of dynamic shared memory (``extern __shared__``); OpenCL sources declare theirs statically.

        Raises
        ------
        gpustats.errors.CompileError
        """

    @abstractmethod
    def empty(self, shape: int | Shape, dtype: DTypeLike) -> Array:
        """New device array, C-contiguous, not initialised. MemoryError if it does not fit."""

    def give(self, arrays: str) -> None:
        """Give device arrays of a kind from now on. ValueError for a kind that the device does not have."""
        raise ValueError(f"arrays = {arrays!r}: {self.device.id} gives arrays of PyOpenCL; arrays are chosen for CUDA devices")

    @abstractmethod
    def to_device(self, array: np.ndarray | HostRows, dtype: DType | None = None) -> Array:
        """Device array with a copy of `array`, in another type where one is given."""

    @abstractmethod
    def fill(self, copies: Copies) -> None:
        """Copy arrays into contiguous device arrays of the same shapes, converted to the types of these."""

    @abstractmethod
    def to_host(self, native: Array) -> np.ndarray:
        """NumPy array with a copy of a device array."""

    def to_hosts(self, natives: Sequence[Array]) -> list[np.ndarray]:
        """Copies of several device arrays, waited for once where they are small."""
        return [self.to_host(native) for native in natives]

    def results_to_device(self, found: Sequence[np.ndarray]) -> list[Array]:
        """Device arrays with copies of results, which may arrive as late as what the calling thread has started."""
        return [self.to_device(array) for array in found]

    @abstractmethod
    def is_native(self, obj: object) -> bool:
        """True if `obj` is a device array of this runtime's library."""

    @abstractmethod
    def memory(self, array: Array) -> tuple[Handle, int]:
        """Handle of `array` for kernels, and the array's offset behind it in numbers of its type.

        A device array is used as it lies. A NumPy array too where the memory is `host_visible`; elsewhere it is
        copied to the device. The caller holds `array` and the handle until the kernels are done with them.
        """

    @abstractmethod
    def passed(self, array: np.ndarray) -> Handle:
        """Handle of a NumPy array for the kernels that the calling thread starts next, and no others.

        The array need not live as long as these, except for kernels that are recorded. A copy, where that takes one, does not
        wait for kernels that were started before.
        """

    @abstractmethod
    def scratch(self, nbytes: int) -> Handle:
        """Handle to device memory for the calling thread's next kernels, reused once the handle is dropped."""

    @abstractmethod
    def zeroed_counters(self, n: int) -> Handle:
        """Handle to n int32 that are 0. They are the thread's own, and kernels have to leave them at 0."""

    @abstractmethod
    def result(self, nbytes: int) -> Result:
        """Memory of the calling thread for small results. The thread's next call returns the same memory."""

    @abstractmethod
    def fetch(self, result: Result) -> np.ndarray:
        """Wait for the calling thread's kernels and return the result's bytes: a view, to be read at once."""

    def host_result(self, shape: int | Shape, dtype: DTypeLike) -> tuple[np.ndarray, Handle]:
        """New NumPy array that kernels can write, and its handle; only where the memory is `host_visible`."""
        raise NotImplementedError(f"{self.device.id} does not compute in the host's memory")

    def replay(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Replay | None:
        """Work that `start` has the device do, to be done again by compiled code; None where that cannot be.

        Parameters
        ----------
        n_given, n_found : int
            Numbers that the work takes, and numbers that it leaves.
        start : callable
            Is called with the handles of these numbers, and starts kernels, which may also take numbers by value as `Given`.
            What they use otherwise stays theirs.
        dtype : dtype
            Type of the numbers that the work takes; it leaves float64.
        """
        return None

    def enqueued(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Enqueued | None:
        """Work that `start` has the device do, for a stream of somebody else's, who has its numbers on the device.

        The parameters are those of `replay`. None where that cannot be, also where kernels take numbers by value.
        """
        return None

    def recording(self, n_given: int, n_found: int, start: Start, dtype: DTypeLike = np.float64) -> Recording | None:
        """Work that `start` has the device do, to be started again by the calling thread; None where that cannot be.

        Parameters
        ----------
        n_given, n_found, start, dtype
            As for `replay`. What kernels leave is in the memory of `result`.
        """
        return None

    @abstractmethod
    def download(self, native_or_handle: Array | Handle, out: np.ndarray) -> None:
        """Copy device memory into `out`, after the calling thread's kernels, and wait for it."""

    def downloaded(self, native_or_handle: Array | Handle, shape: Shape, dtype: DTypeLike) -> np.ndarray:
        """New array with what `download` copies."""
        out = np.empty(shape, dtype)
        self.download(native_or_handle, out)
        return out

    def send(self, source: Array, to: Runtime, target: Array) -> Callable[[], None]:
        """Start to copy an array to an array of another device, after all work that the calling thread has started on both.

        Parameters
        ----------
        source, target : array
            Contiguous, as many numbers of one type: device arrays, or NumPy arrays where the memory is `host_visible`.
        to : Runtime
            Runtime of the target, which may be this one.

        Returns
        -------
        callable
            Has what the thread starts after its call, on both devices, wait for the copy. It must be called, and before that
            nothing may read the target or write to either array.
        """
        self.synchronize()
        host = source if isinstance(source, np.ndarray) else self.to_host(source)
        if isinstance(target, np.ndarray):
            to.synchronize()
            np.copyto(target, host)
        else:
            to.fill([(target, host)])
        return _nothing

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for the calling thread's kernels."""

    def relearn(self) -> None:
        """Forget which kernels were soon done, because a kernel was not."""
        for kernel in list(self._kernels.values()):
            kernel.soon.clear()

    def leave_thread(self) -> None:
        """Let the calling thread end without notice, as a thread may that Python has not started.

        The thread's state on the device stays until the process ends: a forked child clears the states of all other
        threads, and must not free it.
        """
        own = self.local.__dict__
        if all(own is not kept for kept in _kept):
            _kept.append(own)

    def elapsed(self, function: Callable[[], object], repeat: int = 10) -> list[float]:
        """Seconds for which each of `repeat` calls of `function` keeps the device busy."""
        seconds = []
        for _ in range(repeat):
            self.synchronize()
            start = time.perf_counter()
            function()
            self.synchronize()
            seconds.append(time.perf_counter() - start)
        return seconds

    @abstractmethod
    def bandwidth(self) -> float:
        """Bytes a second of a large copy within the device's memory, read and written bytes counted."""

    @abstractmethod
    def free_memory(self) -> int | None:
        """Bytes of unused device memory, None where the driver does not tell."""

    @abstractmethod
    def release(self) -> None:
        """Give the device the memory that the calling thread's pool keeps for later."""

    @abstractmethod
    def _is_lost(self, error: BaseException) -> bool:
        """True if an error is one of the driver's, and the device no longer works."""

    @abstractmethod
    def _forget(self) -> None:
        """Withdraw this runtime: the next request for the device gets a new one."""

    def lost_by(self, error: BaseException) -> DeviceLostError | None:
        """Error to raise in the place of a driver's error by which the device is lost, else None.

        The first to find it lost gives it up: whoever still uses this runtime learns so, and others get a new one.
        """
        if not self.lost and self._is_lost(error):
            message = (
                f"{self.device} is lost ({error}), and with it what lay there: device arrays, and the data of objects such as "
                "Likelihood. The likely cause is a kernel that read or wrote beside its memory, or a reset of the driver. "
                "The next call with data of the host works in a new context, or says that it takes a new process; make arrays "
                "and objects anew."
            )
            self._forget()  # first: who sees that it is lost asks for a new one
            self.lost = message
            self.local = Unusable(DeviceLostError, message)
        return DeviceLostError(self.lost) if self.lost else None

    @cached_property
    def watch(self) -> _Watch:
        """Context for calls of the driver: within it, an error by which the device is lost becomes DeviceLostError."""
        return _Watch(self)

    def _too_large(self, nbytes: int) -> MemoryError:
        free, total = self.free_memory(), self.device.memory
        has = f"{total / 2**30:.2f} GiB" if free is None else f"{free / 2**30:.2f} GiB of {total / 2**30:.2f} GiB"
        return MemoryError(f"asked {nbytes / 2**30:.2f} GiB, free {has} on {self.device.name} ({self.device.id})")


class _Watch:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, self._runtime._error) and (lost := self._runtime.lost_by(error)):
            raise lost from None


def _nothing() -> None:
    """Empty wait for a copy that has ended."""


def nbytes_of(shape: int | Shape, dtype: DTypeLike) -> int:
    """Bytes of an array, without NumPy's overflow at 2**63."""
    size: int = np.dtype(dtype).itemsize
    for extent in shape if isinstance(shape, tuple) else (shape,):
        size *= int(extent)
    return size


_alive: weakref.WeakSet[Runtime] = weakref.WeakSet()
_kept: list[dict[str, object]] = []  # what threads have of their own that Python has not started


def in_use() -> list[Runtime]:
    """Runtimes that this process, or a process that it was forked from, has made."""
    return list(_alive)


def _disable_in_child() -> None:
    for runtime in in_use():
        keep_for_ever(runtime, runtime.local)
        runtime.local = Unusable(RuntimeError, forked_from(runtime.device.id))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disable_in_child)
