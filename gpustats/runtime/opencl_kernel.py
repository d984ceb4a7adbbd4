"""Kernels of an OpenCL device."""

from __future__ import annotations

import threading
from typing import Any

import pyopencl as cl

from .base import Kernel, Runtime
from .signature import DTYPES, signature_of


class _Clone(threading.local):
    """An OpenCL kernel holds its arguments: each thread needs one of its own."""

    def __init__(self, program: cl.Program, name: str, types: list[Any]) -> None:
        self.launch = cl.Kernel(program, name)
        self.launch.set_scalar_arg_dtypes(types)


class OpenCLKernel(Kernel):
    """A kernel of a program."""

    def __init__(self, runtime: Runtime, program: cl.Program, source: str, name: str, threads: int) -> None:
        super().__init__(source)
        self._runtime, self._block = runtime, (threads, 1)
        self._clone = _Clone(program, name, [DTYPES.get(kind) for kind in signature_of(source, name)])

    def __call__(self, grid: tuple[int, int], *args: Any) -> None:
        thread = self._runtime._local.thread
        try:
            if thread.on_main:  # the end of Python comes from this thread, and waits for others only
                event = self._clone.launch(thread.queue, grid, self._block, *args, g_times_l=True)
                thread.in_flight.last = event
                if self.endless or grid not in self.soon:
                    thread.started_unknown(set() if self.endless else self.soon, grid)
            else:
                with thread:
                    self._clone.launch(thread.queue, grid, self._block, *args, g_times_l=True)
        except cl.Error as error:
            raise self._runtime.lost_by(error) or error from None
        except BaseException:  # a signal's: the kernel may have been started
            if thread.on_main:
                thread.in_flight.last = cl.enqueue_marker(thread.queue)
            raise
