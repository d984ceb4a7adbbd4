"""OpenCL devices, their properties, and whether they work."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pyopencl as cl

from ..errors import NoDeviceError
from . import icd
from .base import Device

# What drivers say of a lost context, and of other things as well. NVIDIA has -9999 for a stray access.
SUSPICIOUS_ERRORS = {
    cl.status_code.DEVICE_NOT_AVAILABLE, cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, cl.status_code.OUT_OF_RESOURCES,
    cl.status_code.OUT_OF_HOST_MEMORY, cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    cl.status_code.INVALID_CONTEXT, cl.status_code.INVALID_COMMAND_QUEUE, -9999,
}  # fmt: skip

_lock = threading.Lock()
_devices: list[cl.Device] | None = None


def cl_devices() -> list[cl.Device]:
    """OpenCL devices, in the order in which the platforms list them: the numbers in the ids."""
    global _devices
    with _lock:
        if _devices is None:
            with icd.visible():
                platforms = cl.get_platforms()
            found = []
            for platform in platforms:
                with contextlib.suppress(cl.Error):  # a platform without a device
                    found += platform.get_devices()
            _devices = found
        return _devices


def devices() -> list[Device]:
    """Descriptions of all OpenCL devices. NoDeviceError says why there is none."""
    try:
        found = cl_devices()
    except cl.Error as error:
        raise NoDeviceError(icd.missing() or f"no driver found ({error})") from None
    if not found and (reason := icd.missing()):
        raise NoDeviceError(reason)
    return [describe(device, f"opencl:{number}") for number, device in enumerate(found)]


def describe(device: cl.Device, id: str) -> Device:
    """Properties of a device."""
    # Oclgrind calls itself all types at once; it runs on the CPU.
    kind = next((k for k in ("cpu", "gpu") if device.type & getattr(cl.device_type, k.upper())), "accelerator")
    return Device(
        id=id,
        backend="opencl",
        type=kind,
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        driver=f"{device.platform.name.strip()} {device.driver_version}",
        memory=device.global_mem_size,
        compute_units=device.max_compute_units,
        warp=_lockstep(device) if kind == "gpu" else 1,
        shared_memory=device.local_mem_size,
        max_threads=device.max_work_group_size,
        double="cl_khr_fp64" in device.extensions.split(),
    )


def _lockstep(device: cl.Device) -> int:
    for name in ("warp_size_nv", "wavefront_width_amd", "preferred_work_group_size_multiple"):
        with contextlib.suppress(cl.Error, AttributeError):  # each exists on some drivers only
            return int(getattr(device, name))
    return 32


def failing(device: cl.Device, context: cl.Context | None = None) -> cl.Error | None:
    """Error of the least work on a device, in a new queue and by default in a new context; None where it works."""
    try:
        context = context or cl.Context([device])
        queue = cl.CommandQueue(context, device)
        cl.enqueue_fill_buffer(queue, cl.Buffer(context, cl.mem_flags.READ_WRITE, 8), np.zeros(1), 0, 8)
        queue.finish()
    except cl.MemoryError:  # so it is where others have all the memory
        return None
    except cl.Error as error:
        return error
    return None
