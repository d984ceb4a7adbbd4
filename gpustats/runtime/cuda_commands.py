"""Calls of CUDA's driver as commands, which compiled code runs without Python."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from struct import Struct, calcsize
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .base import Kernel
from .replay import Command, Given
from .types import Grid
from .waiting import Waiter

if TYPE_CHECKING:
    import pycuda.driver as drv

RELAXED = 2  # memory may be allocated while a stream is captured


#: Memory of the host, and the address on the device from which or to which it is copied.
Copied: TypeAlias = tuple[np.ndarray, int]


@functools.cache
def driver() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


class Refused(Exception):
    """Refusal of the driver to tell what it takes to start a kernel."""


class Recorded(NamedTuple):
    """Kernel that was to be started."""

    function: int  # handle of the kernel
    grid: Grid
    block: tuple[int]
    shared: int  # bytes of dynamic shared memory
    signature: str  # types of its parameters: see `signature.signature_of`
    arguments: Sequence[object]
    of: Kernel


class _KernelNode(ctypes.Structure):
    """Structure CUDA_KERNEL_NODE_PARAMS_v2 of the driver."""

    _fields_ = [
        ("function", ctypes.c_void_p), ("sizes", ctypes.c_uint * 7), ("parameters", ctypes.c_void_p),
        ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p),
    ]  # fmt: skip


class _LaunchConfig(ctypes.Structure):
    """Structure CUlaunchConfig of the driver."""

    _fields_ = [
        ("sizes", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("n", ctypes.c_uint),
    ]  # fmt: skip


def function_of(stream: drv.Stream, launch: Callable[[drv.Stream], None]) -> int:
    """Handle of a kernel in the driver, which PyCUDA does not tell.

    Parameters
    ----------
    stream : pycuda.driver.Stream
        Not the default one; nothing is started on it.
    launch : callable
        Starts the kernel on a stream.

    Raises
    ------
    Refused
    """
    on, graph, node = ctypes.c_void_p(stream.handle), ctypes.c_void_p(), ctypes.c_void_p()
    _check(driver().cuStreamBeginCapture_v2(on, RELAXED))
    try:
        launch(stream)
    finally:
        code = driver().cuStreamEndCapture(on, ctypes.byref(graph))
    _check(code)
    try:
        count, found = ctypes.c_size_t(1), _KernelNode()
        _check(driver().cuGraphGetNodes(graph, ctypes.byref(node), ctypes.byref(count)))
        _check(driver().cuGraphKernelNodeGetParams_v2(node, ctypes.byref(found)))
    finally:
        driver().cuGraphDestroy(graph)
    return int(found.function or found.kernel)


def commands(
    context: drv.Context, stream: drv.Stream, launches: Sequence[Command], alive: list[object]
) -> list[Command]:
    """Calls that start kernels on a stream and wait for them, in whichever thread."""
    popped = ctypes.c_void_p()
    alive += [popped, stream]
    wait, pop = _command("cuStreamSynchronize", stream.handle), _command("cuCtxPopCurrent_v2", ctypes.addressof(popped))
    return [_command("cuCtxPushCurrent_v2", int(context.handle)), *launches, wait, pop]


def launches(
    stream: drv.Stream | None, recorded: Sequence[Recorded], given: np.ndarray, to_device: Copied | None,
    from_device: Copied | None, alive: list[object],
) -> list[Command]:
    """Calls that start kernels where their context is current; objects that must live as long go to `alive`.

    Parameters
    ----------
    recorded : sequence of Recorded
    given : ndarray
        The host's memory of the numbers that are `Given`.
    to_device, from_device : (ndarray, int) or None
        The host's memory that is copied to the device before, to an address, or from one after the kernels.
    """
    on, found = 0 if stream is None else stream.handle, list[Command]()
    if to_device is not None:
        host, address = to_device
        found.append(_command("cuMemcpyHtoDAsync_v2", address, host.ctypes.data, host.nbytes, on))
    for kernel in recorded:
        sizes = (*kernel.grid, 1, *kernel.block, 1, 1, kernel.shared)
        config, places = _LaunchConfig((ctypes.c_uint * 7)(*sizes), on, None, 0), _places_of_arguments(kernel, given, alive)
        alive += [config, places]
        found.append(_command("cuLaunchKernelEx", ctypes.addressof(config), kernel.function, ctypes.addressof(places), 0))
    if from_device is not None:
        host, address = from_device
        found.append(_command("cuMemcpyDtoHAsync_v2", host.ctypes.data, address, host.nbytes, on))
    return found


def starting(state_of: Callable[[], Waiter], recorded: Sequence[Recorded], made: Sequence[Command]) -> Callable[[], bool]:
    """Function that starts kernels again in the thread that recorded them: see `replay.Recording`."""
    calls, noted = [command.call() for command in made], [(kernel.of, kernel.grid) for kernel in recorded]

    def start() -> bool:
        state = state_of()
        for call in calls:
            if call():
                return False
        if state.on_main:
            for kernel, grid in noted:
                state.note(kernel, grid)
        return True

    return start


def _places_of_arguments(kernel: Recorded, given: np.ndarray, alive: list[object]) -> ctypes.Array[ctypes.c_void_p]:
    """Addresses of the arguments of a kernel."""
    values = [0 if isinstance(v, Given) else v for v in kernel.arguments]
    packed = ctypes.create_string_buffer(Struct(kernel.signature).pack(*values))
    alive.append(packed)
    addresses = (ctypes.addressof(packed) + offset for offset in _offsets(kernel.signature))
    places = [
        given.ctypes.data + given.itemsize * v.place if isinstance(v, Given) else address
        for v, address in zip(kernel.arguments, addresses, strict=True)
    ]
    return (ctypes.c_void_p * len(places))(*places)


def _offsets(signature: str) -> Iterator[int]:
    """Offset of each member in a packed structure."""
    for i, kind in enumerate(signature):
        yield calcsize(signature[: i + 1]) - calcsize(kind)


def _command(name: str, *arguments: int) -> Command:
    return Command(ctypes.cast(getattr(driver(), name), ctypes.c_void_p).value or 0, arguments)


def _check(code: int) -> None:
    if code:
        raise Refused(f"error {code}")
