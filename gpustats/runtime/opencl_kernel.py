"""Kernels of an OpenCL device."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyopencl as cl

from .base import Kernel, Runtime
from .opencl_commands import Recorded
from .replay import Given
from .signature import DTYPES, signature_of
from .types import Grid


class _Clone(threading.local):
    """Clone of an OpenCL kernel for each thread, because a kernel holds its arguments."""

    def __init__(self, program: cl.Program, name: str, types: list[type[np.generic] | None]) -> None:
        self._made_of = program, name, types
        self.launch = self.new()

    def new(self) -> cl.Kernel:
        program, name, types = self._made_of
        kernel = cl.Kernel(program, name)
        kernel.set_scalar_arg_dtypes(types)
        return kernel


class OpenCLKernel(Kernel):
    """Kernel of a program."""

    def __init__(self, runtime: Runtime, program: cl.Program, source: str, name: str, threads: int) -> None:
        super().__init__(source)
        self._runtime, self._block = runtime, (threads, 1)
        self._clone = _Clone(program, name, [DTYPES.get(kind) for kind in signature_of(source, name)])

    def __call__(self, grid: Grid, *args: Any) -> None:
        thread = self._runtime.local.thread
        try:
            if thread.alive is not None:
                kernel = self._clone.new()
                kernel.set_args(*(0 if isinstance(a, Given) else a for a in args))
                thread.alive.append(args)
                given = [(i, a.place) for i, a in enumerate(args) if isinstance(a, Given)]
                every = grid[0] * self._block[0], grid[1]
                thread.recorded.append(Recorded(kernel, every, self._block, given, self, grid))
            elif thread.on_main:  # the end of Python comes from this thread, and waits for others only
                event = self._clone.launch(thread.queue, grid, self._block, *args, g_times_l=True)
                thread.started(event, self, grid)
            else:
                with thread:
                    self._clone.launch(thread.queue, grid, self._block, *args, g_times_l=True)
        except cl.Error as error:
            raise self._runtime.lost_by(error) or error from None
        except BaseException:
            thread.interrupted()
            raise
