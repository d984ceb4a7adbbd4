"""Arguments of kernels for CUDA's driver, and its calls as commands, which compiled code runs without Python."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from struct import Struct, calcsize
from typing import Any, NamedTuple

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import DTypeLike

from . import thresholds
from .base import Kernel
from .cuda_driver import Lease, address, address_of, checked, new_stream
from .cuda_memory import page_locked
from .replay import Command, Enqueued, Given, Moved, Recording, Replay, Start
from .types import Grid, Handle
from .waiting import Waiter

MOST_BYTES = 32764  # of a kernel's arguments, from Volta and CUDA 12.1 on
#: Numbers that kernels write to the host's memory; more are copied there.
MOST_MAPPED_NUMBERS = thresholds.RUNTIME_MOST_MAPPED_NUMBERS.value


class Arguments:
    """Memory in which a thread packs the arguments of a kernel, for the driver to read as it starts it."""

    def __init__(self) -> None:
        self.memory, self.nbytes = ctypes.create_string_buffer(MOST_BYTES), ctypes.c_size_t()
        pointer, size, end = 1, 2, 0  # CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
        places = pointer, ctypes.addressof(self.memory), size, ctypes.addressof(self.nbytes), end
        self._extra = (ctypes.c_void_p * len(places))(*places)
        self.extra = ctypes.addressof(self._extra)


class Recorded(NamedTuple):
    """Kernel that was to be started."""

    function: int  # the kernel's handle
    grid: Grid
    threads: int  # of a block
    shared: int  # bytes of dynamic shared memory
    signature: str  # types of its parameters: see `signature.signature_of`
    arguments: Sequence[object]
    of: Kernel


class _LaunchConfig(ctypes.Structure):
    """Structure CUlaunchConfig of the driver."""

    _fields_ = [
        ("sizes", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("n", ctypes.c_uint),
    ]  # fmt: skip


def replay(runtime: Any, n_given: int, n_found: int, start: Start, dtype: DTypeLike) -> Replay:
    """Replay of recorded kernels, whose context is current: see `Runtime.replay`."""
    state, lease = runtime.state(), Lease(runtime.free_streams, new_stream)
    stream = lease.thing
    checked(cu.cuStreamSynchronize(state.stream))  # the memory of the thread's pool may still be in use there
    with state.recording(stream) as alive:
        given, found = page_locked.zeros(max(n_given, 1), dtype), page_locked.zeros(max(n_found, 1), np.float64)
        at, mapped = runtime.scratch(given.nbytes), n_found <= MOST_MAPPED_NUMBERS
        to = address_of(found) if mapped else runtime.scratch(found.nbytes)
        start(at, to)
        checked(cu.cuStreamSynchronize(stream))  # for what makes counters 0
    made = launches(stream, state.recorded, given, at, alive)
    if not mapped:
        made.append(_command("cuMemcpyDtoHAsync", address_of(found), int(to), found.nbytes, int(stream)))
    alive.append(lease)
    calls = [_command("cuCtxSetCurrent", int(runtime.context)), *made, _command("cuStreamSynchronize", int(stream))]
    return Replay(given, found, calls, alive)


def enqueued(runtime: Any, n_given: int, n_found: int, start: Start, dtype: DTypeLike) -> Enqueued | None:
    """Recorded kernels, whose context is current, for any stream: see `Runtime.enqueued`."""
    state, lease = runtime.state(), Lease(runtime.free_streams, new_stream)
    stream, itemsize = lease.thing, np.dtype(dtype).itemsize
    checked(cu.cuStreamSynchronize(state.stream))  # the memory of the thread's pool may still be in use there
    with state.recording(stream) as alive:
        ends = [runtime.scratch(nbytes) for nbytes in (itemsize * max(n_given, 1), 8 * max(n_found, 1))]
        start(*ends)
        checked(cu.cuStreamSynchronize(stream))  # for what makes counters 0
    if any(isinstance(v, Given) for kernel in state.recorded for v in kernel.arguments):
        return None
    launches = [_Launch(kernel, alive) for kernel in state.recorded]
    takes, leaves = (
        [at for made in launches for v, at in zip(made.of.arguments, made.places, strict=True) if v is end] for end in ends
    )
    commands, streams = [made.command for made in launches], [made.stream for made in launches]
    return Enqueued(commands, streams, takes, leaves, int(runtime.context), alive)


def recording(runtime: Any, n_given: int, n_found: int, start: Start, dtype: DTypeLike) -> Recording:
    """Recording of kernels, whose context is current: see `Runtime.recording`."""
    state, result = runtime.state(), runtime.result(8 * max(n_found, 1))
    with state.recording(state.stream) as alive:
        given = page_locked.zeros(max(n_given, 1), dtype)
        at = runtime.scratch(given.nbytes)
        start(at, result.handle)
    moved = defaultdict[int, list[ctypes.c_int64]](list)
    made = launches(state.stream, state.recorded, given, at, alive, moved)
    alive.append(result)
    return Recording(given, result.view.view(np.float64), starting(runtime.state, state.recorded, made), alive, moved)


def launches(
    stream: Any, recorded: Sequence[Recorded], given: np.ndarray, at: Handle, alive: list[object],
    moved: defaultdict[int, list[ctypes.c_int64]] | None = None,
) -> list[Command]:  # fmt: skip
    """Calls that start kernels where their context is current; objects that must live as long go to `alive`.

    Parameters
    ----------
    recorded : sequence of Recorded
    given : ndarray
        The host's memory of the numbers that are `Given`.
    at : Handle
        The device's memory, to which they are copied before where a kernel takes it.
    moved : dict, optional
        Gets the places of the handles that are `Moved`.
    """
    on, found = int(stream), list[Command]()
    if any(a is at for kernel in recorded for a in kernel.arguments):
        found.append(_command("cuMemcpyHtoDAsync", int(at), address_of(given), given.nbytes, on))
    for kernel in recorded:
        launch = _Launch(kernel, alive, on, given)
        found.append(launch.command)
        for value, place in zip(kernel.arguments, launch.places, strict=True):
            if moved is not None and isinstance(value, Moved):
                moved[value.array].append(ctypes.c_int64.from_address(place))
    return found


class _Launch:
    """Start of a kernel: the driver's structures for it, in memory that goes to `alive`.

    Parameters
    ----------
    kernel : Recorded
    alive : list
    stream : int, optional
    given : ndarray, optional
        The host's memory of the numbers that are `Given`.

    Attributes
    ----------
    of : Recorded
    command : Command
    stream : int
        The host's address of the stream.
    places : list of int
        Those of the arguments.
    """

    def __init__(self, kernel: Recorded, alive: list[object], stream: int = 0, given: np.ndarray | None = None):
        self.of = kernel
        packed = ctypes.create_string_buffer(
            Struct(kernel.signature).pack(*[0 if isinstance(v, Given | Moved) else v for v in kernel.arguments])
        )
        self.places = [ctypes.addressof(packed) + offset for offset in _offsets(kernel.signature)]
        if given is not None:
            start, size = address_of(given), given.itemsize
            self.places = [
                start + size * v.place if isinstance(v, Given) else own
                for v, own in zip(kernel.arguments, self.places, strict=True)
            ]
        config = _LaunchConfig((ctypes.c_uint * 7)(*kernel.grid, 1, kernel.threads, 1, 1, kernel.shared), stream, None, 0)
        places = (ctypes.c_void_p * len(self.places))(*self.places)
        alive += [packed, config, places]
        self.stream = ctypes.addressof(config) + _LaunchConfig.stream.offset
        self.command = _command("cuLaunchKernelEx", ctypes.addressof(config), kernel.function, ctypes.addressof(places), 0)


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


def _offsets(signature: str) -> Iterator[int]:
    """Offset of each member in a packed structure."""
    for i, kind in enumerate(signature):
        yield calcsize(signature[: i + 1]) - calcsize(kind)


def _command(name: str, *arguments: int) -> Command:
    return Command(address(name), arguments)
