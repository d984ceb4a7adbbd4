"""Copies between CUDA devices: by NVLink or the bus where the driver can, else by way of the host, as the driver decides."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from .base import Runtime
from .cuda_commands import driver
from .types import Array

WITHOUT_TIMING = 2  # a flag of events
NON_BLOCKING = 1  # a flag of streams: one that neither waits for the default stream nor keeps it waiting


def send(runtime: Any, source: Array, to: Any, target: Array) -> Callable[[], None]:
    """Start a copy between two CUDA devices: see `Runtime.send`.

    A stream for each pair of devices makes the copies, beside those of the kernels: events tell it when it may begin, and the
    kernels when it is done.
    """
    ready = [_event(to), _event(runtime)]  # now the context of the source is current
    bus, end, size = _bus(runtime, to), ctypes.c_void_p(), ctypes.c_size_t(source.nbytes)
    for event in ready:
        _call("cuStreamWaitEvent", bus, event, 0)
        _call("cuEventDestroy_v2", event)
    here, there = (ctypes.c_uint64(array.ptr) for array in (source, target))
    if runtime is to:
        _call("cuMemcpyDtoDAsync_v2", there, here, size, bus)
    else:
        _call("cuMemcpyPeerAsync", there, _context(to), here, _context(runtime), size, bus)
    _call("cuEventCreate", ctypes.byref(end), WITHOUT_TIMING)
    _call("cuEventRecord", end, bus)

    def wait() -> None:
        for one in {runtime, to}:
            _call("cuStreamWaitEvent", _stream(one), end, 0)
        _call("cuEventDestroy_v2", end)

    return wait


def _stream(runtime: Any) -> ctypes.c_void_p:
    """Stream of the calling thread on a device, whose context is current then."""
    runtime.reenter()
    stream = runtime.state().stream
    return ctypes.c_void_p(None if stream is None else stream.handle)


def _event(runtime: Any) -> ctypes.c_void_p:
    """Event that happens when the work started so far by the calling thread on a device is done."""
    stream, event = _stream(runtime), ctypes.c_void_p()
    _call("cuEventCreate", ctypes.byref(event), WITHOUT_TIMING)
    _call("cuEventRecord", event, stream)
    return event


def _context(runtime: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(runtime.context.handle)


@functools.cache
def _bus(source: Runtime, to: Runtime) -> ctypes.c_void_p:
    """Stream of all copies from one device to another, made while the context of the first is current."""
    stream, can = ctypes.c_void_p(), ctypes.c_int()
    _call("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
    if source is not to:
        numbers = [int(runtime.device.id.partition(":")[2]) for runtime in (source, to)]
        _call("cuDeviceCanAccessPeer", ctypes.byref(can), *numbers)
        if can.value:  # an error says that it is allowed already, or that the driver has no room for more of them
            driver().cuCtxEnablePeerAccess(_context(to), 0)
    return stream


def _call(name: str, *arguments: object) -> None:
    if code := getattr(driver(), name)(*arguments):
        raise RuntimeError(f"a copy between CUDA devices failed: error {code} of {name}")
