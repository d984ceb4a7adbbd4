"""State of a thread on a CUDA device, so that threads never wait for one another."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pycuda.driver as drv
from pycuda.tools import DeviceMemoryPool

from .base import Result
from .cuda_commands import Recorded
from .passing import Passing
from .staging import Copiers, Staging
from .types import Array, Handle
from .waiting import Waiter, keep_for_ever, on_main, until


class ThreadState(Waiter):
    """Stream of a thread, its memory pool, its staging memory and its place for results on one device.

    Parameters
    ----------
    relearn : callable
        Makes all kernels forget how soon they were done.
    """

    def __init__(self, stream: drv.Stream | None, relearn: Callable[[], None], copiers: Copiers) -> None:
        super().__init__()
        self.stream, self._relearn = stream, relearn
        self.pool = DeviceMemoryPool()
        self.release()
        self.staging, self.passing = Staging(stream, copiers), Passing(stream)
        self.done = drv.Event(drv.event_flags.DISABLE_TIMING)
        self.counters: tuple[int, Handle] = (0, None)
        self.result: tuple[int, Array] | None = None
        self.results: dict[int, Result] = {}
        self.alive: list[object] | None = None  # while work is recorded, the memory that it uses
        self.recorded: list[Recorded] = []

    @contextlib.contextmanager
    def recording(self, stream: drv.Stream) -> Iterator[list[object]]:
        """Context in which kernels are noted in the place of being started, for a stream and counters of their own.

        The memory that they use is put in a list.
        """
        own = self.stream, self.counters
        self.stream, self.counters, self.alive, self.recorded = stream, (0, None), [stream], []
        try:
            yield self.alive
            self.alive.append(self.counters[1])
        finally:
            (self.stream, self.counters), self.alive = own, None

    def release(self) -> None:
        self.pool.free_held()
        # A pool that holds nothing needs a current context to take memory back, and ends the process without one. An
        # array may be collected in any thread, so the pool always holds something: a size that nothing else asks for.
        self.pool.allocate(1)

    def wait(self) -> None:
        """Wait for the thread's kernels. Ctrl-C ends the wait, and not the kernels.

        Kernels that were soon done the last time are waited for in the driver, where Ctrl-C has no effect until they are done.
        """
        self.done.record(self.stream)
        if self.unknown:
            if on_main():
                until(self.done.query)
            self.done.synchronize()
            self.learn()
        elif not self.on_main:
            with self:
                self.done.synchronize()
        else:
            try:
                self.done.synchronize()
            except KeyboardInterrupt:
                self._relearn()
                raise


class Stack:
    """Contexts of a thread. PyCUDA aborts the process if a thread ends with a context that is still pushed."""

    def __init__(self) -> None:
        self.active: Any = None
        self.state: ThreadState | None = None  # of the active runtime
        self.states: dict[Any, ThreadState] = {}
        self.pushed = 0  # contexts that we have pushed and not popped
        self.process, self.thread = os.getpid(), threading.get_ident()

    def activate(self, runtime: Any) -> None:
        if self.active is not runtime:
            self.leave()
        if drv.Context.get_current() != runtime.context:  # the user's code may have pushed another since
            runtime.context.push()
            self.pushed += 1
        if runtime not in self.states:
            # The main thread works on the default stream, as PyCUDA's arrays do.
            main = threading.current_thread() is threading.main_thread()
            self.states[runtime] = ThreadState(None if main else drv.Stream(), runtime.relearn, runtime.copiers)
        self.active, self.state = runtime, self.states[runtime]

    def leave(self) -> None:
        if self.pushed and self.active is not None and drv.Context.get_current() == self.active.context:
            drv.Context.pop()
            self.pushed -= 1
        self.active = self.state = None

    def close(self) -> None:
        """Free the thread's state on each device under the device's context, then leave all contexts."""
        for runtime in list(self.states):
            if runtime.lost:  # nothing there can be freed any more
                keep_for_ever(runtime, self.states.pop(runtime))
        with contextlib.suppress(drv.Error):
            for runtime in list(self.states):
                self.activate(runtime)
                self.state = None
                del self.states[runtime]
            while self.pushed:
                drv.Context.pop()
                self.pushed -= 1
        self.active = None

    def __del__(self) -> None:
        # Python has ended, and modules are emptied; a forked child has no contexts.
        if os is None or getattr(drv, "Error", None) is None or os.getpid() != self.process:
            return
        # A thread's own things go in the thread itself; those of a daemon thread at the process's end in the main one.
        if threading.get_ident() != self.thread:
            self.pushed = 0
        self.close()


class Stacks(threading.local):
    """Stack of each thread."""

    def __init__(self) -> None:
        self.stack = Stack()
