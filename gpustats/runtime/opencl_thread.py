"""State of a thread on an OpenCL device: its queue of work, its memory, and how it waits for both."""

from __future__ import annotations

import _thread
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.tools import ImmediateAllocator, MemoryPool

from .base import Kernel, Result
from .opencl_commands import Recorded
from .types import Grid, Handle
from .waiting import Aside, Waiter, on_main


class InFlight:
    """Kernels that the main thread has started and not waited for: Ctrl-C calls the thread away, and ends no kernel."""

    __slots__ = ("kept", "last", "left")

    def __init__(self) -> None:
        self.last: cl.Event | None = None  # of the last kernel
        self.left = False  # whether the thread was called away from waiting for them
        self.kept: list[object] = []  # memory of the host that only they use any more

    def keep(self, memory: object) -> None:
        """Hold memory that the calling thread drops for as long as the kernels may use it."""
        last = self.last  # which the main thread may take away meanwhile
        if last is not None and (self.left or _thread.get_ident() == threading.main_thread().ident):
            if last.command_execution_status > cl.command_execution_status.COMPLETE:  # below: it failed
                self.kept.append(memory)


def host_buffers(in_flight: InFlight) -> type[cl.Buffer]:
    """Class of a runtime's buffers over the memory of NumPy arrays, which outlives the kernels that use it.

    The memory outlives them also where Ctrl-C, or any other exception, has ended the wait for them.
    """

    class HostBuffer(cl.Buffer):
        __slots__ = ()

        def __del__(self) -> None:
            if in_flight.last is not None:
                in_flight.keep(self.hostbuf)

    return HostBuffer


class OpenCLThread(Waiter):
    """State of a thread on one device.
    """

    def __init__(self, runtime: Any) -> None:
        super().__init__()
        self.work_on(cl.CommandQueue(runtime.context, runtime.cl_device))
        self.counters: tuple[int, Handle] = (0, None)
        self.result: tuple[int, Handle, np.ndarray] | None = None
        self.results: dict[int, Result] = {}
        self.alive: list[object] | None = None  # while work is recorded, the memory that it uses
        self.recorded: list[Recorded] = []
        self._runtime, self.in_flight, self._aside = runtime, runtime.in_flight, Aside()

    def work_on(self, queue: cl.CommandQueue) -> None:
        self.queue = queue
        self.pool = MemoryPool(ImmediateAllocator(queue))

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[object]]:
        """Context in which kernels go to a list in the place of being started, and the memory that they use to another."""
        own, self.counters = self.counters, (0, None)
        self.alive, self.recorded = [], []
        try:
            yield self.alive
            self.alive.append(self.counters[1])
        finally:
            self.counters, self.alive = own, None

    def started(self, event: cl.Event, kernel: Kernel, grid: Grid) -> None:
        """Note a kernel that the main thread has started."""
        self.in_flight.last = event
        self.note(kernel, grid)

    def interrupted(self) -> None:
        """Note that a signal, in the main thread, has ended a call that may have started a kernel."""
        if self.on_main:
            self.in_flight.last = cl.enqueue_marker(self.queue)

    def wait(self, how: Callable[[], object] | None = None) -> None:
        """Wait for the thread's kernels, by a call that does. Ctrl-C ends the wait, and not the kernels.

        The thread that waits for Intel's runtime computes meanwhile. So kernels that were soon done the last time are waited
        for in the main thread itself, where Ctrl-C has no effect until they are done; all others are waited for aside.
        """
        try:
            if self.unknown:
                self._wait_aside()
            if not self.on_main:
                with self:
                    (how or self.queue.finish)()
                return
            (how or self.queue.finish)()
        except KeyboardInterrupt:
            self._runtime.relearn()
            raise
        except cl.Error as error:
            raise self._runtime.lost_by(error) or error from None
        in_flight = self.in_flight
        in_flight.last = None
        if in_flight.left or in_flight.kept:
            in_flight.left, in_flight.kept = False, []

    def _wait_aside(self) -> None:
        if on_main():
            try:
                self._aside.wait(self.queue.finish)
            except BaseException:
                self.in_flight.left = True
                raise
        self.learn()


class OpenCLThreads(threading.local):
    """States of all threads, each made when its thread first asks for it."""

    def __init__(self, runtime: Any) -> None:
        with runtime.watch:
            self.thread = OpenCLThread(runtime)
