"""Recorded work of OpenCL kernels that see the host's memory, to be done again: see `replay`."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl
from numpy.typing import DTypeLike

from .base import Kernel
from .replay import Command, Recording, Replay, Start
from .types import Grid, Handle


class Recorded(NamedTuple):
    """Kernel that was to be started."""

    kernel: cl.Kernel  # with its arguments, but for those of `given`
    every: tuple[int, int]  # all threads
    block: tuple[int, int]  # those of a block
    given: list[tuple[int, int]]  # the places of arguments, and those of the numbers given that they are
    of: Kernel
    grid: Grid


def replay(runtime: Any, n_given: int, n_found: int, start: Start, dtype: DTypeLike) -> Replay:
    """Replay of recorded kernels: see `Runtime.replay`."""
    found = runtime.host_pool.empty((max(n_found, 1),), np.float64)
    given, recorded, alive = _record(runtime, n_given, start, dtype, runtime.over(found))
    runtime.synchronize()  # for what makes counters 0
    with runtime.watch:
        queue = cl.CommandQueue(runtime.context, runtime.cl_device)
    alive.append(found)
    return Replay(given, found, _commands(queue, recorded, given, alive), alive)


def recording(runtime: Any, n_given: int, n_found: int, start: Start, dtype: DTypeLike) -> Recording:
    """Recording of kernels: see `Runtime.recording`."""
    result = runtime.result(8 * max(n_found, 1))
    given, recorded, alive = _record(runtime, n_given, start, dtype, result.handle)
    return Recording(given, result.view.view(np.float64), _starting(runtime, recorded, given), alive)


def _record(
    runtime: Any, n_given: int, start: Start, dtype: DTypeLike, found: Handle
) -> tuple[np.ndarray, list[Recorded], list[object]]:
    """Memory of the given numbers, the kernels recorded (their results go to the handle `found`), and objects to keep alive."""
    given = runtime.host_pool.empty((max(n_given, 1),), dtype)
    handle, thread = runtime.over(given), runtime.local.thread
    with thread.recording() as alive:
        start(handle, found)
    alive += [given, handle, found]
    return given, thread.recorded, alive


def _commands(queue: cl.CommandQueue, recorded: Sequence[Recorded], given: np.ndarray, alive: list[object]) -> list[Command]:
    """Calls that start kernels and wait for them; objects that must live as long go to `alive`."""
    start, finish = _function("clEnqueueNDRangeKernel"), _function("clFinish")
    alive += [queue, recorded]
    found = []
    for kernel in recorded:
        found += _taking(kernel, given)
        every, block = (np.array(extent, np.uintp) for extent in (kernel.every, kernel.block))
        alive += [every, block]
        sizes = every.ctypes.data, block.ctypes.data
        found.append(Command(start, (queue.int_ptr, kernel.kernel.int_ptr, 2, 0, *sizes, 0, 0, 0)))
    return [*found, Command(finish, (queue.int_ptr,))]


def _starting(runtime: Any, recorded: Sequence[Recorded], given: np.ndarray) -> Callable[[], bool]:
    """Function that starts kernels again in the thread that recorded them: see `replay.Recording`."""
    taking = [command.call() for kernel in recorded for command in _taking(kernel, given)]
    launches = [(r.kernel, r.every, r.block, r.of, r.grid) for r in recorded]

    def start() -> bool:
        thread = runtime.local.thread
        try:
            for take in taking:
                if take():
                    return False
            for kernel, every, block, of, grid in launches:
                if thread.on_main:
                    thread.started(cl.enqueue_nd_range_kernel(thread.queue, kernel, every, block), of, grid)
                else:
                    with thread:
                        cl.enqueue_nd_range_kernel(thread.queue, kernel, every, block)
        except cl.Error as error:
            raise runtime.lost_by(error) or error from None
        except BaseException:
            thread.interrupted()
            raise
        return True

    return start


def _taking(recorded: Recorded, given: np.ndarray) -> list[Command]:
    """Calls that give a kernel the numbers that it takes by value."""
    take, size = _function("clSetKernelArg"), given.itemsize
    return [Command(take, (recorded.kernel.int_ptr, i, size, given.ctypes.data + size * place)) for i, place in recorded.given]


@functools.cache
def _function(name: str) -> int:
    """Address of one of the loader's functions, found through PyOpenCL, wherever the loader lies."""
    return ctypes.cast(getattr(ctypes.CDLL(cl._cl.__file__), name), ctypes.c_void_p).value or 0
