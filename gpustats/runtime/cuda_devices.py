"""CUDA devices and their properties."""

from __future__ import annotations

import functools
from typing import Any

from cuda.bindings import driver as cu

from ..errors import NoDeviceError
from . import cuda_driver, cuda_wheels, nvrtc
from .base import Device
from .cuda_driver import checked

#: The compute capabilities of which tensor cores multiply matrices of float64 faster than other units do.
FAST_PRODUCTS = ((8, 0), (9, 0), (10, 0))
CLUSTER = 8  # blocks, of every device whose compute capability is 9.0 or more


def devices() -> list[Device]:
    """Descriptions of all CUDA devices on which gpustats computes.

    Raises
    ------
    NoDeviceError
        Without a device, and where none will do, with the reason of each.
    """
    number_of = range(cuda_driver.count())
    if not number_of:
        raise NoDeviceError(cuda_wheels.no_device(cuda_driver.start()))
    reasons = [unusable(number) for number in number_of]
    if all(reasons):
        raise NoDeviceError("; ".join(reasons))
    return [describe(number) for number, reason in zip(number_of, reasons, strict=True) if not reason]


@functools.cache
def unusable(number: int) -> str:
    """Reason why gpustats does not compute on a device; "" where it does."""
    least = nvrtc.least_capability()
    return cuda_wheels.too_weak(_name(number), capability(number), least)


def capability(number: int) -> tuple[int, int]:
    """Compute capability of a device, such as (9, 0)."""
    attribute = cu.CUdevice_attribute
    major = attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    return attribute_of(number, major), attribute_of(number, attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)


def attribute_of(number: int, attribute: Any) -> int:
    return int(checked(cu.cuDeviceGetAttribute(attribute, checked(cu.cuDeviceGet(number)))))


def _name(number: int) -> str:
    text: bytes = checked(cu.cuDeviceGetName(128, checked(cu.cuDeviceGet(number))))
    return text.split(b"\0")[0].decode()


@functools.cache
def describe(number: int) -> Device:
    """Properties of the device ``cuda:<number>``."""
    version, attribute = cuda_driver.start(), cu.CUdevice_attribute
    has = capability(number)
    return Device(
        id=f"cuda:{number}",
        backend="cuda",
        type="gpu",
        name=_name(number),
        vendor="NVIDIA",
        driver=f"CUDA {cuda_wheels.text(version)}",
        memory=int(checked(cu.cuDeviceTotalMem(checked(cu.cuDeviceGet(number))))),
        compute_units=attribute_of(number, attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        warp=attribute_of(number, attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        shared_memory=attribute_of(number, attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        max_threads=attribute_of(number, attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        double=True,
        products=has in FAST_PRODUCTS,
        cluster=CLUSTER if has >= (9, 0) else 1,
    )
