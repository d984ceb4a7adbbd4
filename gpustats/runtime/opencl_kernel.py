"""Kernels of an OpenCL device."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from .base import Kernel, Runtime
from .replay import Command, Given
from .signature import DTYPES, signature_of


class Recorded(NamedTuple):
    """A kernel that was to be started.

    Attributes
    ----------
    kernel : Kernel
        With its arguments, but for those of `given`: the places of arguments, and those of the numbers given that they are.
    every, block : tuple of int
        All threads, and those of a block.
    """

    kernel: cl.Kernel
    every: tuple[int, int]
    block: tuple[int, int]
    given: list[tuple[int, int]]


class _Clone(threading.local):
    """An OpenCL kernel holds its arguments: each thread needs one of its own."""

    def __init__(self, program: cl.Program, name: str, types: list[Any]) -> None:
        self._made_of = program, name, types
        self.launch = self.new()

    def new(self) -> cl.Kernel:
        program, name, types = self._made_of
        kernel = cl.Kernel(program, name)
        kernel.set_scalar_arg_dtypes(types)
        return kernel


class OpenCLKernel(Kernel):
    """A kernel of a program."""

    def __init__(self, runtime: Runtime, program: cl.Program, source: str, name: str, threads: int) -> None:
        super().__init__(source)
        self._runtime, self._block = runtime, (threads, 1)
        self._clone = _Clone(program, name, [DTYPES.get(kind) for kind in signature_of(source, name)])

    def __call__(self, grid: tuple[int, int], *args: Any) -> None:
        thread = self._runtime._local.thread
        try:
            if thread.alive is not None:
                kernel = self._clone.new()
                kernel.set_args(*(0 if isinstance(a, Given) else a for a in args))
                thread.alive.append(args)
                given = [(i, a.place) for i, a in enumerate(args) if isinstance(a, Given)]
                thread.recorded.append(Recorded(kernel, (grid[0] * self._block[0], grid[1]), self._block, given))
            elif thread.on_main:  # the end of Python comes from this thread, and waits for others only
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


def commands(queue: cl.CommandQueue, recorded: Sequence[Recorded], given: np.ndarray, alive: list[Any]) -> list[Command]:
    """The calls that start kernels and wait for them; what these need to live goes to `alive`."""
    library = ctypes.CDLL(cl._cl.__file__)  # through which the loader's functions are found, wherever it lies
    take, start, finish = (
        ctypes.cast(f, ctypes.c_void_p).value or 0
        for f in (library.clSetKernelArg, library.clEnqueueNDRangeKernel, library.clFinish)
    )
    alive += [queue, recorded]
    found = []
    for kernel, *extents, numbers in recorded:
        for i, place in numbers:
            address = given.ctypes.data + given.itemsize * place
            found.append(Command(take, (kernel.int_ptr, i, given.itemsize, address)))
        every, block = (np.array(extent, np.uintp) for extent in extents)
        alive += [every, block]
        found.append(Command(start, (queue.int_ptr, kernel.int_ptr, 2, 0, every.ctypes.data, block.ctypes.data, 0, 0, 0)))
    return [*found, Command(finish, (queue.int_ptr,))]
