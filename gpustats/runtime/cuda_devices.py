"""CUDA devices and their properties."""

from __future__ import annotations

import functools

import pycuda.driver as drv

from ..errors import NoDeviceError
from .base import Device

#: The compute capabilities of which tensor cores multiply matrices of float64 faster than other units do.
FAST_PRODUCTS = ((8, 0), (9, 0), (10, 0))
CLUSTER = 8  # blocks, of every device whose compute capability is 9.0 or more


def count() -> int:
    try:
        drv.init()
        found: int = drv.Device.count()
        return found
    except drv.Error as error:
        raise NoDeviceError(f"the NVIDIA driver does not start ({error})") from None


@functools.cache
def only_one() -> bool:
    return count() == 1


def devices() -> list[Device]:
    """Descriptions of all CUDA devices."""
    return [describe(number) for number in range(count())]


def describe(number: int) -> Device:
    """Properties of the device ``cuda:<number>``."""
    device, attribute = drv.Device(number), drv.device_attribute
    version = drv.get_driver_version()
    return Device(
        id=f"cuda:{number}",
        backend="cuda",
        type="gpu",
        name=device.name(),
        vendor="NVIDIA",
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        memory=device.total_memory(),
        compute_units=device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        warp=device.get_attribute(attribute.WARP_SIZE),
        shared_memory=device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        max_threads=device.get_attribute(attribute.MAX_THREADS_PER_BLOCK),
        double=True,
        products=device.compute_capability() in FAST_PRODUCTS,
        cluster=CLUSTER if device.compute_capability() >= (9, 0) else 1,
    )
