"""Copies between CUDA devices: by NVLink or the bus where the driver can, else by way of the host, which is its business."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .cuda_commands import driver

if TYPE_CHECKING:
    from .cuda import CUDARuntime

WITHOUT_TIMING = 2  # a flag of events
NON_BLOCKING = 1  # a flag of streams: one that neither waits for the default stream nor keeps it waiting


def send(source: CUDARuntime, start: int, nbytes: int, to: CUDARuntime, target: int) -> Callable[[], None]:
    """See `Runtime.send`; `start` and `target` are addresses on the devices.

    A stream for each pair of devices makes the copies, beside those of the kernels: events tell it when it may begin, and the
    kernels when it is done.
    """
    ready = [_event(to), _event(source)]  # now the source's context is current
    bus, end = _bus(source, to), ctypes.c_void_p()
    for event in ready:
        _call("cuStreamWaitEvent", bus, event, 0)
        _call("cuEventDestroy_v2", event)
    if source is to:
        _call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(target), ctypes.c_uint64(start), ctypes.c_size_t(nbytes), bus)
    else:
        there, here = ctypes.c_void_p(to.context.handle), ctypes.c_void_p(source.context.handle)
        size = ctypes.c_size_t(nbytes)
        _call("cuMemcpyPeerAsync", ctypes.c_uint64(target), there, ctypes.c_uint64(start), here, size, bus)
    _call("cuEventCreate", ctypes.byref(end), WITHOUT_TIMING)
    _call("cuEventRecord", end, bus)

    def wait() -> None:
        for runtime in {source, to}:
            _call("cuStreamWaitEvent", _stream(runtime), end, 0)
        _call("cuEventDestroy_v2", end)

    return wait


def _stream(runtime: CUDARuntime) -> ctypes.c_void_p:
    """The calling thread's own on a device, whose context is current then."""
    runtime._reenter()
    stream = runtime._state().stream
    return ctypes.c_void_p(None if stream is None else stream.handle)


def _event(runtime: CUDARuntime) -> ctypes.c_void_p:
    """What happens when the calling thread's work on a device is done, as far as it is started."""
    stream, event = _stream(runtime), ctypes.c_void_p()
    _call("cuEventCreate", ctypes.byref(event), WITHOUT_TIMING)
    _call("cuEventRecord", event, stream)
    return event


@functools.cache
def _bus(source: CUDARuntime, to: CUDARuntime) -> ctypes.c_void_p:
    """The stream of all copies from one device to another, made while the context of the first is current."""
    stream, can = ctypes.c_void_p(), ctypes.c_int()
    _call("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
    if source is not to:
        numbers = [int(runtime.device.id.partition(":")[2]) for runtime in (source, to)]
        _call("cuDeviceCanAccessPeer", ctypes.byref(can), *numbers)
        if can.value:  # an error says that it is allowed already, or that the driver has no room for more of them
            driver().cuCtxEnablePeerAccess(ctypes.c_void_p(to.context.handle), 0)
    return stream


def _call(name: str, *arguments: Any) -> None:
    if code := getattr(driver(), name)(*arguments):
        raise RuntimeError(f"a copy between CUDA devices failed: error {code} of {name}")
