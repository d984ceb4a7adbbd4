"""Choice of the device to compute on."""

from __future__ import annotations

import contextvars
import functools
import importlib
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, TypeAlias

from ..errors import NoDeviceError
from . import dlpack
from .base import Device, Runtime
from .device_array import DeviceArray

#: What stands for several devices: "all", or the name of each.
Devices: TypeAlias = str | Sequence[str | Device]

BACKENDS = ("cuda", "opencl")
LIBRARIES = {"cuda": "cuda-bindings", "opencl": "PyOpenCL"}
DEVICE_TYPES = ("gpu", "cpu", "accelerator")
FIRST_CPU_RANK = 2  # the first rank of a CPU
INSTALL_ADVICE = (
    "pip install 'gpustats[cpu]' to compute on the CPU, or 'gpustats[cuda12]' or 'gpustats[cuda13]', after the version "
    "of the NVIDIA driver, to compute on a GPU; `gpustats doctor` tells what this machine lacks, and the cure"
)

_lock = threading.Lock()
_default: Runtime | None = None  # by a plain use()
_context: contextvars.ContextVar[Runtime | None] = contextvars.ContextVar("gpustats device", default=None)
_automatic: Runtime | None = None  # the first choice of a process that made none


@functools.cache
def _backend(name: str) -> Any:
    try:
        return importlib.import_module(f".{name}", __package__)
    except ImportError as error:
        raise NoDeviceError(f"{LIBRARIES[name]} does not load ({error})") from error


def look(backends: tuple[str, ...] = BACKENDS) -> tuple[list[Device], list[str]]:
    """Devices of these backends, and for each backend without a device, why."""
    found: list[Device] = []
    reasons = []
    for name in backends:
        try:
            devices = _backend(name).devices()
        except Exception as error:  # whatever a broken driver does, the other backend may work
            reasons.append(f"{name}: {error}")
        else:
            found += devices
            if not devices:
                reasons.append(f"{name}: no device")
    return found, reasons


def devices() -> list[Device]:
    """Devices that gpustats can compute on; CUDA's first."""
    return look()[0]


def _runtime(device: Device) -> Runtime:
    backend, _, number = device.id.partition(":")
    found: Runtime = _backend(backend).runtime(int(number))
    return found


def _names(device: Device) -> str:
    return f"{device.driver} {device.name}".lower()


def simulated(device: Device) -> bool:
    """True if a device is a simulator that checks kernels for mistakes."""
    return "oclgrind" in _names(device)


def _rank(device: Device) -> int:
    """Rank of a device: CUDA before OpenCL's GPUs before its CPUs; a simulator last of all."""
    names = _names(device)
    if simulated(device):
        return FIRST_CPU_RANK + 9
    if device.type != "cpu":
        return 0 if device.backend == "cuda" else 1
    # Measured: Intel's runtime is many times faster than PoCL.
    return FIRST_CPU_RANK + next(
        rank for rank, driver in enumerate(("intel", "portable computing language", "")) if driver in names
    )


def _find(spec: str | None) -> Runtime:
    text = (spec or "").strip().lower()
    # Ask only the backends that can have it: starting a driver takes time.
    named = text.partition(":")[0]
    backends = (named,) if named in BACKENDS else ("opencl",) if text == "cpu" else BACKENDS
    found: list[Device] = []
    reasons: list[str] = []
    for backend in backends:
        more, failures = look((backend,))
        found, reasons = found + more, reasons + failures
        if text in ("", "gpu") and any(_rank(device) < FIRST_CPU_RANK for device in more):
            break  # the next backend has nothing better
    if matching := [device for device in found if _matches(device, text)]:
        return _runtime(min(matching, key=_rank))
    why = "".join(f"\n  {reason}" for reason in reasons)
    if everything := devices():
        advice = f"\n{INSTALL_ADVICE}" if reasons else ""  # a driver is missing
        there_is = "".join(f"\n  {device}" for device in everything)
        raise ValueError(f"no device {spec!r}{why}{advice}\nThere is{there_is}")
    raise NoDeviceError(f"no device to compute on{why}\n{INSTALL_ADVICE}")


def _matches(device: Device, text: str) -> bool:
    if text in DEVICE_TYPES:
        return device.type == text
    return text in ("", device.id, device.backend) or (":" not in text and text in _names(device))


def get(spec: str | Device | Runtime | None = None) -> Runtime:
    """Runtime of a device.

    Parameters
    ----------
    spec : str, Device or None
        An id (``"cuda:0"``), ``"gpu"``, ``"cpu"``, or part of the name of a device or its driver. None: the choice of
        `use`, else of the environment's ``GPUSTATS_DEVICE`` (looked at once), else CUDA, an OpenCL GPU, an OpenCL CPU.

    Raises
    ------
    ValueError
        No such device.
    NoDeviceError
        No device at all; it tells what to install.
    """
    if spec is None:
        found = chosen()
        return found if not found.lost else _anew(found)
    if isinstance(spec, Runtime):
        return spec
    return _runtime(spec) if isinstance(spec, Device) else _find(spec)


def chosen() -> Runtime:
    """Runtime of the choice that holds, also where its device is lost."""
    global _automatic
    found = _context.get() or _default or _automatic
    if found is None:
        with _lock:
            found = _automatic = _automatic or _find(os.environ.get("GPUSTATS_DEVICE"))
    return found


def _anew(lost: Runtime) -> Runtime:
    """New runtime for a device that is lost, in its place wherever it was chosen."""
    global _default, _automatic
    made = _runtime(lost.device)
    made.arrays = lost.arrays
    if _context.get() is lost:
        _context.set(made)
    with _lock:
        _default = made if _default is lost else _default
        _automatic = made if _automatic is lost else _automatic
    return made


class use:
    """Choose the device to compute on.

    ``use(spec)`` holds for the whole process from then on. ``with use(spec): ...`` holds inside the block, for the
    thread (or asynchronous task) that runs it.

    Parameters
    ----------
    spec : str or Device
        As for `get`.
    arrays : {"gpustats", "pycuda"}, optional
        Kind of the device arrays that results on a CUDA device are: `DeviceArray`, or PyCUDA's ``GPUArray``. It holds for
        all threads. By default it stays as it is: at first "pycuda" if PyCUDA had a context when the device was first asked
        for, or if the environment's ``GPUSTATS_ARRAYS`` says so.
    """

    def __init__(self, spec: str | Device, *, arrays: str | None = None) -> None:
        global _default
        self.runtime = get(spec)
        self.device = self.runtime.device
        self._arrays = self.runtime.arrays if arrays is not None else None
        if arrays is not None:
            self.runtime.give(arrays)
        self._previous, _default = _default, self.runtime

    def __enter__(self) -> Device:
        global _default
        _default = self._previous
        self._token = _context.set(self.runtime)
        return self.device

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _context.reset(self._token)
        if self._arrays is not None:
            self.runtime.arrays = self._arrays

    def __repr__(self) -> str:
        return f"<using {self.device}>"


def several(spec: Devices) -> list[Runtime]:
    """Runtimes of several devices.

    Parameters
    ----------
    spec : "all" or sequence of str or Device
        ``"all"``: every GPU of CUDA, else of OpenCL, else the CPU. Otherwise each as for `get`; one may be named twice.
    """
    if isinstance(spec, (str, Device)) and spec != "all":
        spec = [spec]
    if not isinstance(spec, str):
        given = list(spec) if isinstance(spec, Iterable) else [spec]
        if wrong := [one for one in given if not isinstance(one, (str, Device, Runtime)) or one == ""]:
            raise ValueError(f"devices = {spec!r}: {wrong[0]!r} is no device, such as 'cuda:0'; gs.devices() lists them")
        if found := [get(one) for one in given]:
            return found
        raise ValueError("devices is empty: name one, or say devices='all'")
    everything = devices()
    for rank in range(FIRST_CPU_RANK):
        if matching := [_runtime(device) for device in everything if _rank(device) == rank]:
            return matching
    return [_find("cpu")] if everything else [_find(None)]


def stay(runtime: Runtime) -> None:
    """Make a device the calling thread's choice, for as long as the thread runs."""
    _context.set(runtime)


def _holding(name: str) -> Any:
    """Backend on whose device an array lies; another library may have made the array."""
    try:
        return _backend(name)
    except NoDeviceError as error:
        raise NoDeviceError(f"an array lies on a device of {name}, and {error}\n{INSTALL_ADVICE}") from error


def for_array(obj: object) -> Runtime | None:
    """Runtime of the device on which an array lies; None for an object that is no device array."""
    found: Runtime
    if isinstance(obj, DeviceArray):
        found = obj.runtime
        return found
    # A user who has an array of a library has imported the library.
    opencl_arrays = sys.modules.get("pyopencl.array")
    if opencl_arrays is not None and isinstance(obj, opencl_arrays.Array):
        found = _holding("opencl").from_array(obj)
        return found
    if isinstance(getattr(obj, "__cuda_array_interface__", None), dict):
        found = _holding("cuda").from_array(obj)
        return found
    kind, number = dlpack.device_of(obj) or (None, 0)
    if kind == dlpack.CUDA:
        found = _holding("cuda").runtime(number)
        return found
    return None
