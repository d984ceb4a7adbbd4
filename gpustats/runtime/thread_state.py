"""State of a thread on a CUDA device, so that threads never wait for one another."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from .base import Result
from .cuda_commands import Arguments, Recorded
from .cuda_driver import Lease, checked, failed, new_stream
from .cuda_memory import Pool
from .passing import Passing
from .staging import Staging
from .types import Handle
from .waiting import Waiter, on_main, until


class ThreadState(Waiter):
    """Stream of a thread, its memory pool, its staging memory and its place for results on one device.

    When the thread has ended, the state serves another one, with all memory that it has.
    """

    def __init__(self, runtime: Any) -> None:
        super().__init__()
        self._relearn = runtime.relearn
        self.stream = new_stream()
        self.number = int(self.stream)  # its handle, also while another stream takes its place
        self.pool = Pool(runtime)
        self.staging, self.passing = Staging(self.stream, runtime.copiers), Passing(self.stream)
        self.arguments = Arguments()
        self.counters: tuple[int, Handle] = (0, None)
        self.result: np.ndarray | None = None
        self.results: dict[int, Result] = {}
        self.libraries: dict[object, Any] = {}  # what libraries have for this thread and its stream
        self.alive: list[object] | None = None  # while work is recorded, the memory that it uses
        self.recorded: list[Recorded] = []

    def serve(self) -> None:
        """Begin to serve the calling thread."""
        self.thread, self.on_main, self.pool.thread = threading.current_thread(), on_main(), threading.get_ident()

    def leave(self) -> None:
        """Serve nobody any more."""
        self.pool.thread = 0

    @contextlib.contextmanager
    def recording(self, stream: Any) -> Iterator[list[object]]:
        """Context in which kernels are noted in the place of being started, for a stream and counters of their own.

        The memory that they use is put in a list.
        """
        own = self.stream, self.counters
        self.stream, self.counters, self.alive, self.recorded = stream, (0, None), [], []
        try:
            yield self.alive
            self.alive.append(self.counters[1])
        finally:
            (self.stream, self.counters), self.alive = own, None

    def done(self) -> bool:
        """Whether the thread's kernels are done."""
        code = cu.cuStreamQuery(self.stream)[0]
        if code and code != cu.CUresult.CUDA_ERROR_NOT_READY:
            raise failed(code)
        return not code

    def wait(self) -> None:
        """Wait for the thread's kernels. Ctrl-C ends the wait, and not the kernels.

        Kernels that were soon done the last time are waited for in the driver, where Ctrl-C has no effect until they are done.
        """
        if self.unknown:
            if on_main():
                until(self.done)
            checked(cu.cuStreamSynchronize(self.stream))
            self.learn()
        else:
            try:
                checked(cu.cuStreamSynchronize(self.stream))
            except KeyboardInterrupt:
                self._relearn()
                raise


class _Lease(Lease):
    """Lease of a state by a thread."""

    __slots__ = ()

    def __init__(self, runtime: Any) -> None:
        def make() -> ThreadState:
            made = ThreadState(runtime)
            runtime.states.append(made)
            return made

        super().__init__(runtime.free_states, make)
        self.thing.serve()

    def __del__(self) -> None:
        if hasattr(self, "thing"):
            self.thing.leave()
        super().__del__()


class ThreadStates(threading.local):
    """States of each thread on the devices that it uses, and the device whose context is current."""

    def __init__(self) -> None:
        self.active: Any = None
        self.state: ThreadState | None = None  # on the active device
        self._leases: dict[Any, _Lease] = {}

    def activate(self, runtime: Any) -> None:
        """Make the context of a device the calling thread's."""
        checked(cu.cuCtxSetCurrent(runtime.context))
        if (lease := self._leases.get(runtime)) is None:
            lease = self._leases[runtime] = _Lease(runtime)
        self.active, self.state = runtime, lease.thing
