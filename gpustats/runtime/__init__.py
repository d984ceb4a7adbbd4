"""Devices and their runtimes: compile, launch, allocate, copy, time. Importing this touches no device."""

from .base import Device, Kernel, Result, Runtime
from .choose import devices, for_array, get, use

__all__ = ["Device", "Kernel", "Result", "Runtime", "devices", "for_array", "get", "use"]
