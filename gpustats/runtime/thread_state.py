"""What a thread has of its own on a CUDA device, so that threads never wait for one another."""

from __future__ import annotations

from typing import Any

import pycuda.driver as drv
from pycuda.tools import DeviceMemoryPool

from .base import Result
from .staging import Staging
from .waiting import Calls, on_main, until


class ThreadState(Calls):
    """A thread's stream, its memory pool, its staging memory and its place for results on one device."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self.stream, self.on_main = stream, on_main()
        self.pool = DeviceMemoryPool()
        self.release()
        self.staging = Staging(stream)
        self.done = drv.Event(drv.event_flags.DISABLE_TIMING)
        self.counters: tuple[int, Any] = (0, None)
        self.result: tuple[int, Any] | None = None
        self.results: dict[int, Result] = {}

    def release(self) -> None:
        self.pool.free_held()
        # A pool that holds nothing needs a current context to take memory back, and ends the process without one. An
        # array may be collected in any thread, so the pool always holds something: a size that nothing else asks for.
        self.pool.allocate(1)

    def wait(self) -> None:
        """Wait for the thread's kernels; in the main thread Ctrl-C ends the wait, and not the kernels."""
        self.done.record(self.stream)
        if self.on_main:
            until(self.done.query)
        else:
            with self:
                self.done.synchronize()
