"""Copies between CUDA devices: by NVLink or the bus where the driver can, else by way of the host, as the driver decides."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cu

from .cuda_driver import NON_BLOCKING, checked, new_event, new_stream
from .types import Array


def send(runtime: Any, source: Array, to: Any, target: Array) -> Callable[[], None]:
    """Start a copy between two CUDA devices: see `Runtime.send`.

    A stream for each pair of devices makes the copies, beside those of the kernels: events tell it when it may begin, and the
    kernels when it is done.
    """
    ready = [_event(to), _event(runtime)]  # now the context of the source is current
    bus, size = _bus(runtime, to), source.nbytes
    for event in ready:
        checked(cu.cuStreamWaitEvent(bus, event, 0))
        checked(cu.cuEventDestroy(event))
    if runtime is to:
        checked(cu.cuMemcpyDtoDAsync(target.ptr, source.ptr, size, bus))
    else:
        checked(cu.cuMemcpyPeerAsync(target.ptr, to.context, source.ptr, runtime.context, size, bus))
    end = new_event()
    checked(cu.cuEventRecord(end, bus))

    def wait() -> None:
        for one in {runtime, to}:
            checked(cu.cuStreamWaitEvent(_stream(one), end, 0))
        checked(cu.cuEventDestroy(end))

    return wait


def _stream(runtime: Any) -> Any:
    """Stream of the calling thread on a device, whose context is current then."""
    runtime.reenter()
    return runtime.state().stream


def _event(runtime: Any) -> Any:
    """Event that happens when the work started so far by the calling thread on a device is done."""
    stream, event = _stream(runtime), new_event()
    checked(cu.cuEventRecord(event, stream))
    return event


@functools.cache
def _bus(source: Any, to: Any) -> Any:
    """Stream of all copies from one device to another, made while the context of the first is current."""
    if source is not to and checked(cu.cuDeviceCanAccessPeer(*(checked(cu.cuDeviceGet(r.number)) for r in (source, to)))):
        cu.cuCtxEnablePeerAccess(to.context, 0)  # an error: it is allowed already, or the driver has no room for more
    return new_stream(NON_BLOCKING)
